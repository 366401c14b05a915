internal import TUFMetadata

/// Holds keys and thresholds against what would strand devices, and against what is fragile. The same for whoever proposes and whoever signs.
struct StructureCheck {
  let root: Root
  let delegations: Delegations?
  let oldRoot: Root
  let oldDelegations: Delegations?
  /// What people call a key.
  let name: (KeyID) -> String

  private struct Role {
    let name: String
    let keys: RoleKeys
    let known: [KeyID: Key]

    /// Keys of other kinds, and one key under two ids, can't meet a threshold.
    var publicKeys: Set<Ed25519PublicKey> { Set(keys.keyIDs.compactMap { known[$0]?.ed25519 }) }
  }

  private static func roles(_ root: Root, _ delegations: Delegations?, withBins: Bool) -> [Role] {
    TopLevelRole.allCases.map { Role(name: $0.rawValue, keys: root[$0], known: root.keys) }
      + (delegations?.roles ?? []).filter { role in
        if case .paths = role.scope { true } else { withBins }
      }.map { Role(name: "\($0.name)", keys: $0.keys, known: delegations?.keys ?? [:]) }
  }

  func problems(allowsShared: Bool) -> [StructureProblem] {
    var problems: [StructureProblem] = []
    for role in Self.roles(root, delegations, withBins: true) {
      let count = role.publicKeys.count
      if count == 0 {
        problems.append(.noKeys(role: role.name))
      } else if role.keys.threshold > count {
        problems.append(.threshold(role: role.name, role.keys.threshold, keyCount: count))
      }
    }
    for role in delegations?.roles ?? [] {
      if case .paths(let paths) = role.scope, paths.isEmpty { problems.append(.noPaths(team: "\(role.name)")) }
    }
    if !allowsShared { problems += newlyShared.map { .sharedKey(key: $0.key, roles: $0.roles) } }
    return problems
  }

  var warnings: [StructureWarning] {
    let old = Dictionary(
      Self.roles(oldRoot, oldDelegations, withBins: false).map { ($0.name, $0.keys) }, uniquingKeysWith: { first, _ in first })
    var warnings: [StructureWarning] = []
    for role in Self.roles(root, delegations, withBins: false) where role.name == "root" || old[role.name] != role.keys {
      let count = role.publicKeys.count
      if role.keys.threshold == count { warnings.append(.thresholdIsKeyCount(role: role.name, keyCount: count)) }
      if role.keys.threshold == 1 { warnings.append(.oneKeySigns(role: role.name)) }
    }
    return warnings + newlyShared.map { .sharedKey(key: $0.key, roles: $0.roles) }
  }

  /// The keys that would stand in more roles than they do.
  private var newlyShared: [(key: String, roles: [String])] {
    let old = Self.holdings(oldRoot, oldDelegations)
    return Self.holdings(root, delegations).filter { key, holding in
      holding.roles.count > 1 && !Set(holding.roles).isSubset(of: old[key]?.roles ?? [])
    }.map { (name($0.value.id), $0.value.roles) }.sorted { $0.0 < $1.0 }
  }

  private static func holdings(_ root: Root, _ delegations: Delegations?) -> [Ed25519PublicKey: (id: KeyID, roles: [String])] {
    var holdings: [Ed25519PublicKey: (id: KeyID, roles: [String])] = [:]
    for role in roles(root, delegations, withBins: false) {
      for id in role.keys.keyIDs {
        guard let key = role.known[id]?.ed25519, holdings[key]?.roles.last != role.name else { continue }
        holdings[key] = (id, (holdings[key]?.roles ?? []) + [role.name])
      }
    }
    return holdings
  }
}
