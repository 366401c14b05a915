internal import ManifestVerifier
public import TUFMetadata

/// What is published, and what waits for signatures to follow it: a value without input, output or clock. The steps of a ceremony:
///
/// 1. `propose` makes the next root, and the next metadata of whatever has to be signed again because its keys or delegations changed.
/// 2. `sign` adds the signatures of the keys at hand, `add` those that come as files from other machines, in any order.
/// 3. `publication` says whether all thresholds are met, for a root the old one's and its own, and signs snapshot and timestamp then. What it
///    returns has been verified as devices will.
///
/// `Repository` runs these steps on a folder.
public struct Ceremony: Sendable {
  public let state: PublishedState
  public let delegated: PublishedDelegations
  /// What holds now.
  public let policy: Policy
  /// What will hold once the proposal is published; nil where that changes nothing.
  public internal(set) var proposedPolicy: Policy?
  /// The published files of the top-level roles, each read once: a large catalog's targets take their time.
  private let current: [MetadataRole: MetadataEnvelope]
  /// The files that wait for signatures.
  public internal(set) var pending: [MetadataRole: MetadataEnvelope]
  /// What waited and is published already, since the command that published it broke off before it could say so.
  public internal(set) var finished: [(role: MetadataRole, version: Version)] = []

  public init(
    state: PublishedState, delegated: PublishedDelegations, policy: Policy, proposedPolicy: Policy? = nil,
    pending: [MetadataRole: MetadataEnvelope] = [:]
  ) {
    self.state = state
    self.delegated = delegated
    self.policy = policy
    self.proposedPolicy = proposedPolicy
    self.pending = pending
    let files: [MetadataRole: [UInt8]?] = [
      .root: state.root.bytes, .targets: state.manifest?.targets.bytes, .snapshot: state.manifest?.snapshot.bytes,
      .timestamp: state.manifest?.timestamp.bytes,
    ]
    // They were verified, so they can be read.
    current = files.compactMapValues { bytes in bytes.flatMap { try? MetadataEnvelope(parsing: $0) } }
  }

  /// What counts for metadata that is signed now.
  var nextPolicy: Policy { proposedPolicy ?? policy }

  // MARK: What is published

  var root: Root { state.root.payload }

  func published(_ role: MetadataRole) -> MetadataEnvelope? {
    if case .delegated(let name) = role { delegated.files[name] } else { current[role] }
  }

  /// A team's metadata lives as long as that of targets.
  func lifetime(of role: MetadataRole) -> Int {
    if case .topLevel(let role) = role { nextPolicy.lifetime(of: role) } else { nextPolicy.lifetime(of: .targets) }
  }

  func isDue(_ role: MetadataRole, expires: UTCTime, at now: UTCTime) -> Bool {
    if case .topLevel(let role) = role { return nextPolicy.isDue(role, expires: expires, at: now) }
    return nextPolicy.isDue(.targets, expires: expires, at: now)
  }

  /// Every delegated role that can be reached, each once, as its first delegator lists it.
  var publishedDelegations: [DelegatedRole] {
    var roles: [DelegatedRole] = []
    var waiting = [published(.targets)]
    var seen: Set<ByteString> = []
    while !waiting.isEmpty {
      for role in waiting.removeFirst()?.targets?.delegations?.roles ?? [] where seen.insert(role.name).inserted {
        roles.append(role)
        if let file = delegated.files[role.name], file.targets?.delegations != nil { waiting.append(file) }
      }
    }
    return roles
  }

  // MARK: Who has to sign

  /// The delegations that hold once what is pending is published.
  var nextDelegations: Delegations? { (pending[.targets] ?? published(.targets))?.targets?.delegations }

  /// Who has to sign a role's next file, once what is pending is published; nothing where nobody delegates to the role.
  public func requirements(for role: MetadataRole) -> [SigningRequirement] {
    let root = pending[.root]?.root ?? self.root
    switch role {
    case .topLevel(.root): return rootRequirements
    case .topLevel(let role): return [SigningRequirement(role, of: root)]
    case .delegated(let name):
      let waiting: (MetadataRole) -> MetadataEnvelope? = { self.pending[$0] ?? self.published($0) }
      return requirement(for: name, file: waiting).map { [$0] } ?? []
    }
  }

  /// Of the root before it, and of itself (TUF 1.0.34 §5.3.4).
  var rootRequirements: [SigningRequirement] {
    var requirements = [SigningRequirement(.root, of: root)]
    if let next = pending[.root]?.root { requirements.append(SigningRequirement(.root, of: next, named: "the new root")) }
    return requirements
  }

  /// The first delegator of a role, among the top-level targets and the roles that can be reached from there.
  func requirement(for name: ByteString, file: (MetadataRole) -> MetadataEnvelope?) -> SigningRequirement? {
    var waiting: [MetadataRole] = [.targets]
    var seen: Set<MetadataRole> = [.targets]
    while !waiting.isEmpty {
      let delegator = waiting.removeFirst()
      guard let delegations = file(delegator)?.targets?.delegations else { continue }
      for role in delegations.roles {
        if role.name == name { return SigningRequirement(role, of: delegations, by: delegator.name) }
        if seen.insert(.delegated(role.name)).inserted { waiting.append(.delegated(role.name)) }
      }
    }
    return nil
  }

  /// What waits for signatures, root first, then targets and the teams.
  public var waiting: [WaitingFile] {
    pending.sorted { Self.order($0.key) < Self.order($1.key) }.map { role, file in
      WaitingFile(role, file, requirements(for: role))
    }
  }

  /// Root first, then in the order in which devices ask for them; teams by name.
  static func order(_ role: MetadataRole) -> (Int, ByteString) {
    switch role {
    case .topLevel(.root): (0, "")
    case .topLevel(.targets): (1, "")
    case .delegated(let name): (2, name)
    case .topLevel(.snapshot): (3, "")
    case .topLevel(.timestamp): (4, "")
    }
  }
}
