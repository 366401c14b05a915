internal import Digests
package import TUFMetadata

/// A role that a fixture's targets, or another such role, delegates to.
package struct FixtureDelegation: Sendable {
  package var name: ByteString
  package var keys: [FixtureKey]
  package var threshold: Int64 = 1
  package var paths: [String] = ["*"]
  package var isTerminating = false
  package var version: Int64 = 1
  package var expires = "2031-01-01T00:00:00Z"
  /// Who signs, where that is not `keys`.
  package var signers: [FixtureKey]?
  package var entries: [ByteString: JSONTree] = [:]
  package var delegations: [FixtureDelegation] = []
  /// Whether the role's file is published from this value; false for a second delegation of one role.
  package var isPublished = true

  /// - Parameter files: the paths that it lists, the content of each being the path.
  package init(_ name: ByteString, key: UInt8, paths: [String] = ["*"], files: [String] = [], _ change: (inout Self) -> Void = { _ in }) {
    self.name = name
    keys = [FixtureKey(key)]
    self.paths = paths
    for file in files { entries[ByteString(file)] = FixtureRepository.entry(of: Array(file.utf8)) }
    change(&self)
  }

  /// The role's metadata file.
  package var file: [UInt8] {
    var signed: JSONTree = .object([
      "_type": .text("targets"), "spec_version": .text("1.0.34"), "version": .integer(version), "expires": .text(expires),
      "targets": .object(entries),
    ])
    if !delegations.isEmpty { signed["delegations"] = Self.tree(of: delegations) }
    return FixtureRepository.file(signed, by: signers ?? keys)
  }

  /// The `delegations` object of a delegator.
  package static func tree(of delegations: [FixtureDelegation]) -> JSONTree {
    var keys: JSONTree = .object([:])
    for key in delegations.flatMap(\.keys) { keys[ByteString(key.id.description)] = key.tree }
    let roles = delegations.map { role -> JSONTree in
      .object([
        "name": .string(role.name), "keyids": .array(role.keys.map { .text($0.id.description) }), "threshold": .integer(role.threshold),
        "terminating": .boolean(role.isTerminating), "paths": .array(role.paths.map { .text($0) }),
      ])
    }
    return .object(["keys": keys, "roles": .array(roles)])
  }

  fileprivate var all: [FixtureDelegation] { [self] + delegations.flatMap(\.all) }
}

extension FixtureRepository {
  /// Publishes delegated roles and, over them, targets, snapshot and timestamp.
  /// - Parameter omitted: roles that the snapshot does not list.
  package mutating func delegate(to delegations: [FixtureDelegation], omittingFromSnapshot omitted: Set<ByteString> = []) {
    let tree = FixtureDelegation.tree(of: delegations)
    targets.editSigned = { $0["delegations"] = tree }
    var described: [ByteString: JSONTree] = [:]
    for role in delegations.flatMap(\.all) where role.isPublished {
      let bytes = role.file
      let name = MetadataRole.delegated(role.name).fileName
      self[consistentSnapshot ? "\(role.version).\(name)" : name] = bytes
      guard !omitted.contains(role.name) else { continue }
      described[ByteString(role.name.bytes + Array(".json".utf8))] = .object([
        "version": .integer(role.version), "length": .integer(Int64(bytes.count)),
        "hashes": .object(["sha256": .text(SHA256.hash(of: bytes).description)]),
      ])
    }
    snapshot.editSigned = { [described] in for (name, file) in described { $0["meta", name] = file } }
    publish()
  }
}
