internal import Digests
package import TUFMetadata

/// A publisher in memory, with real keys that derive from a seed: any structure of roles, delegations and rotations.
///
/// Change what the next files are to say, publish, and give `files` to a mirror.
package struct SimulatedPublisher: Sendable {
  package let seed: UInt64
  package var root: SimulatedRole
  package var timestamp: SimulatedRole
  package var snapshot: SimulatedRole
  package var targets: SimulatedRole
  /// The delegated roles, by name; their keys are those that sign, the delegators say which are trusted.
  package var delegated: [ByteString: SimulatedRole] = [:]
  package var consistentSnapshot = true
  /// Whether timestamp and snapshot state lengths and hashes, and not versions alone.
  package var statesLengthsAndHashes = true
  /// All that was ever published, by URL path.
  package private(set) var files: [String: [UInt8]] = [:]

  /// A publisher who has published each role's first version.
  /// - Parameter change: of what the first versions say.
  package init(seed: UInt64, expires: UTCTime, _ change: (inout Self) throws(SimulationError) -> Void = { _ in }) throws(SimulationError) {
    func role(_ name: String) throws(SimulationError) -> SimulatedRole {
      SimulatedRole(keys: [try SimulatedKey(name, seed: seed)], expires: expires)
    }
    self.seed = seed
    root = try role("root")
    timestamp = try role("timestamp")
    snapshot = try role("snapshot")
    targets = try role("targets")
    try change(&self)
    try publishRoot()
    try publish()
  }

  /// The first root, as an app ships it.
  package var anchor: [UInt8] { root(.first) }

  /// A root file.
  package func root(_ version: Version) -> [UInt8] { files["\(version).root.json"] ?? [] }

  /// A key of this publisher.
  package func key(_ name: String) throws(SimulationError) -> SimulatedKey { try SimulatedKey(name, seed: seed) }

  /// A target of this publisher's, which stands for the bytes of a text.
  package mutating func list(_ path: String, _ content: String) throws(MetadataError) {
    targets.targets[try TargetPath(path)] = SimulatedPublisher.file(content)
  }

  /// The entry of a target that stands for the bytes of a text.
  package static func file(_ content: String) -> TargetFile {
    let bytes = Array(content.utf8)
    return TargetFile(byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)), fsverity: nil)
  }

  /// Goes on from files that other code has published in this one's place. The keys, and what is listed, are for the caller to follow.
  package mutating func adopt(_ published: [String: [UInt8]]) throws(MetadataError) {
    files = published
    func read<Payload: ReadableRolePayload>(_: Payload.Type, _ path: String) throws(MetadataError) -> Payload? {
      guard let bytes = published[path] else { return nil }
      return try UnverifiedMetadata<Payload>(parsing: bytes).payload
    }
    while let next = root.version.next, let newer = try read(Root.self, "\(next).root.json") {
      (root.version, root.expires) = (newer.version, newer.expires)
    }
    guard let newest = try read(Timestamp.self, "timestamp.json") else { return }
    (timestamp.version, timestamp.expires) = (newest.version, newest.expires)
    guard let listing = try read(Snapshot.self, "\(newest.snapshot.version).snapshot.json") else { return }
    (snapshot.version, snapshot.expires) = (listing.version, listing.expires)
    if let listed = try read(Targets.self, "\(listing.targets.version).targets.json") {
      (targets.version, targets.expires) = (listed.version, listed.expires)
    }
    for name in delegated.keys {
      let role = MetadataRole.delegated(name)
      guard let file = listing.files[role.snapshotName], let listed = try read(Targets.self, "\(file.version).\(role.fileName)") else {
        continue
      }
      delegated[name]?.version = listed.version
      delegated[name]?.expires = listed.expires
    }
  }

  // MARK: Publishing

  /// Publishes the next root, signed by the keys of the last one and its own, after a change of keys and thresholds.
  package mutating func rotate(_ change: (inout Self) throws(SimulationError) -> Void) throws(SimulationError) {
    let oldKeys = root.keys
    try change(&self)
    root.advance()
    root.signers = oldKeys + root.keys.filter { new in !oldKeys.contains { $0.key.id == new.key.id } }
    try publishRoot()
    root.signers = nil
  }

  package mutating func publishRoot() throws(SimulationError) { files["\(root.version).root.json"] = try root.sign(rootTree) }

  /// Publishes the next version of every role but root.
  package mutating func publishNext() throws(SimulationError) {
    targets.advance()
    snapshot.advance()
    timestamp.advance()
    for name in delegated.keys { delegated[name]?.advance() }
    try publish()
  }

  /// Publishes every role but root in the version that it has.
  package mutating func publish() throws(SimulationError) {
    var meta: [ByteString: JSONTree] = [:]
    for (name, role) in delegated.sorted(by: { $0.key < $1.key }) {
      let metadataRole = MetadataRole.delegated(name)
      meta[metadataRole.snapshotName] = try publish(metadataRole, role, role.targetsTree)
    }
    meta[.targetsFile] = try publish(.targets, targets, targets.targetsTree)
    let description = try publish(.snapshot, snapshot, snapshot.tree(.snapshot, [.meta: .object(meta)]))
    _ = try publish(.timestamp, timestamp, timestamp.tree(.timestamp, [.meta: .object([.snapshotFile: description])]))
  }

  /// - Returns: what the role above says of the file.
  private mutating func publish(_ role: MetadataRole, _ state: SimulatedRole, _ tree: JSONTree) throws(SimulationError) -> JSONTree {
    let bytes = try state.sign(tree)
    let isVersioned = consistentSnapshot && role != .timestamp
    files[isVersioned ? "\(state.version).\(role.fileName)" : role.fileName] = bytes
    return MetadataFile(
      version: state.version, byteCount: statesLengthsAndHashes ? Int64(bytes.count) : nil,
      hashes: statesLengthsAndHashes ? FileHashes(sha256: SHA256.hash(of: bytes)) : nil
    ).tree
  }

  private var rootTree: JSONTree {
    let roles: [(TopLevelRole, SimulatedRole)] = [(.root, root), (.timestamp, timestamp), (.snapshot, snapshot), (.targets, targets)]
    return root.tree(
      .root,
      [
        .consistentSnapshot: .boolean(consistentSnapshot), .keys: roles.flatMap(\.1.keys).list,
        .roles: .object(Dictionary(uniqueKeysWithValues: roles.map { ($0.0.name, $0.1.rule) })),
      ])
  }
}
