package import TUFMetadata

/// What the next metadata file of a role says, and who signs it.
package struct SimulatedRole: Sendable {
  package var keys: [SimulatedKey]
  package var threshold = 1
  package var version = Version.first
  package var expires: UTCTime
  /// Who signs, where that is not `keys`.
  package var signers: [SimulatedKey]?
  /// What a targets role lists.
  package var targets: [TargetPath: TargetFile] = [:]
  /// Whom a targets role delegates to.
  package var delegations: [SimulatedDelegation] = []

  package init(keys: [SimulatedKey], expires: UTCTime) {
    self.keys = keys
    self.expires = expires
  }

  /// The next version; the last one that there is stays.
  package mutating func advance() { version = version.next ?? version }

  func sign(_ tree: JSONTree) throws(SimulationError) -> [UInt8] { try (signers ?? keys).file(over: tree.canonicalBytes) }

  /// Keys and threshold, as root writes them.
  var rule: JSONTree {
    .object([
      .keyids: .array(keys.map(\.idText)), .threshold: .integer(Int64(threshold)),
    ])
  }

  func tree(_ type: TopLevelRole, _ members: [ByteString: JSONTree]) -> JSONTree {
    .object(RoleHeader(version: version, expires: expires).members(of: type).merging(members) { _, own in own })
  }

  var targetsTree: JSONTree {
    var members: [ByteString: JSONTree] = [:]
    members[.targets] = .object(Dictionary(uniqueKeysWithValues: targets.map { ($0.key.name, $0.value.tree) }))
    if !delegations.isEmpty {
      members[.delegations] = .object([
        .keys: delegations.flatMap(\.keys).list, .roles: .array(delegations.map(\.tree)),
      ])
    }
    return tree(.targets, members)
  }
}
