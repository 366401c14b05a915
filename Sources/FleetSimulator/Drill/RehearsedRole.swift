internal import TUFMetadata

/// A role of a rehearsal, or several that have the same keys: the bins of a team, say.
struct RehearsedRole: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case topLevel(TopLevelRole)
    case delegated([ByteString])
  }

  let kind: Kind

  static let root = RehearsedRole(.root)
  static let timestamp = RehearsedRole(.timestamp)
  static let snapshot = RehearsedRole(.snapshot)
  static let targets = RehearsedRole(.targets)

  init(_ role: TopLevelRole) { kind = .topLevel(role) }

  init(delegated names: [ByteString]) { kind = .delegated(names) }

  var isRoot: Bool { kind == .topLevel(.root) }

  /// What it is called in a report.
  var words: String {
    switch kind {
    case .topLevel(let role): role.rawValue
    case .delegated(let names):
      (names.first?.description ?? "") + (names.count > 1 ? " and \(names.count - 1) with the same keys" : "")
    }
  }

  /// The role whose name errors bear.
  var name: ByteString {
    switch kind {
    case .topLevel(let role): role.name
    case .delegated(let names): names.first ?? ""
    }
  }
}

extension SimulatedPublisher {
  /// What a top-level role is to say next.
  subscript(role: TopLevelRole) -> SimulatedRole {
    get {
      switch role {
      case .root: root
      case .timestamp: timestamp
      case .snapshot: snapshot
      case .targets: targets
      }
    }
    set {
      switch role {
      case .root: root = newValue
      case .timestamp: timestamp = newValue
      case .snapshot: snapshot = newValue
      case .targets: targets = newValue
      }
    }
  }

  /// All delegations to a role, whoever makes them.
  func delegations(to name: ByteString) -> [SimulatedDelegation] {
    (targets.delegations + delegated.sorted { $0.key < $1.key }.flatMap(\.value.delegations)).filter { $0.name == name }
  }

  func keys(of role: RehearsedRole) -> [SimulatedKey] {
    switch role.kind {
    case .topLevel(let role): self[role].keys
    case .delegated(let names): names.first.flatMap { delegations(to: $0).first?.keys } ?? []
    }
  }

  func threshold(of role: RehearsedRole) -> Int {
    switch role.kind {
    case .topLevel(let role): self[role].threshold
    case .delegated(let names): names.first.flatMap { delegations(to: $0).first?.threshold } ?? 1
    }
  }

  /// The bins of the top-level targets: they have its keys, and get its new ones.
  private var bins: Set<ByteString> {
    Set(targets.delegations.filter { $0.scope.sharesOutByHashes && $0.keys.hasSameIDs(as: targets.keys) }.map(\.name))
  }

  /// Lists other keys for a role, which then sign for it.
  mutating func setKeys(of role: RehearsedRole, _ keys: [SimulatedKey]) {
    switch role.kind {
    case .topLevel(let role):
      let bins = role == .targets ? bins : []
      self[role].keys = keys
      for index in targets.delegations.indices where bins.contains(targets.delegations[index].name) {
        targets.delegations[index].keys = keys
        delegated[targets.delegations[index].name]?.keys = keys
      }
    case .delegated(let names):
      let old = self.keys(of: role)
      func change(_ delegations: inout [SimulatedDelegation]) {
        for index in delegations.indices where names.contains(delegations[index].name) && delegations[index].keys.hasSameIDs(as: old) {
          delegations[index].keys = keys
        }
      }
      change(&targets.delegations)
      for name in delegated.keys { change(&delegated[name, default: targets].delegations) }
      // Whoever else lists the role with other keys goes on doing so.
      for name in names {
        var signers: [SimulatedKey] = []
        for delegation in delegations(to: name) {
          signers += delegation.keys.filter { key in !signers.contains { $0.key.id == key.key.id } }
        }
        delegated[name]?.keys = signers
      }
    }
  }

  /// Has a role signed by these keys instead of all of its own; nil for its own.
  mutating func setSigners(of role: RehearsedRole, _ keys: [SimulatedKey]?) {
    switch role.kind {
    case .topLevel(let role):
      for name in role == .targets ? bins : [] { delegated[name]?.signers = keys }
      self[role].signers = keys
    case .delegated(let names): for name in names { delegated[name]?.signers = keys }
    }
  }

  mutating func setExpiry(of role: RehearsedRole, _ time: UTCTime) {
    switch role.kind {
    case .topLevel(let role): self[role].expires = time
    case .delegated(let names): for name in names { delegated[name]?.expires = time }
    }
  }

  func expiry(of role: RehearsedRole) -> UTCTime {
    switch role.kind {
    case .topLevel(let role): self[role].expires
    case .delegated(let names): names.first.flatMap { delegated[$0]?.expires } ?? targets.expires
    }
  }
}

extension DelegatedRole.Scope {
  /// Whether the role is a bin.
  var sharesOutByHashes: Bool { if case .pathHashPrefixes = self { true } else { false } }
}

extension [SimulatedKey] {
  func hasSameIDs(as other: [SimulatedKey]) -> Bool { Set(map(\.key.id)) == Set(other.map(\.key.id)) }
}
