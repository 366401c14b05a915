internal import Digests
package import TUFMetadata

/// A repository in memory, whose publisher signs whatever a test wants to have signed.
///
/// Change what the next files are to say, publish, and look at `files`: what a mirror then serves, by path.
package struct FixtureRepository: Sendable {
  package typealias Edit = @Sendable (inout JSONTree) -> Void

  /// What a role's next file says, and who signs it.
  package struct RoleState: Sendable {
    package var keys: [FixtureKey]
    package var threshold: Int64 = 1
    package var version: Int64 = 1
    package var expires = "2031-01-01T00:00:00Z"
    /// Who signs, where that is not `keys`.
    package var signers: [FixtureKey]?
    /// Changes what is signed, right before it is.
    package var editSigned: Edit?
    /// Changes the whole file, after it was signed.
    package var editFile: Edit?
  }

  /// A time at which nothing has expired.
  package static let now = UTCTime(known: "2030-01-01T00:00:00Z")

  package var root = RoleState(keys: [FixtureKey(1)])
  package var timestamp = RoleState(keys: [FixtureKey(2)])
  package var snapshot = RoleState(keys: [FixtureKey(3)])
  package var targets = RoleState(keys: [FixtureKey(4)])
  package var consistentSnapshot = true
  /// Whether timestamp and snapshot state lengths and hashes, and not versions alone.
  package var statesLengthsAndHashes = true
  /// What the manifest lists.
  package var entries: [ByteString: JSONTree] = ["org/model/weights.gguf": FixtureRepository.entry(of: Array("weights".utf8))]
  /// Other files that the snapshot lists, such as those of delegated roles.
  package var delegated: [ByteString: Int64] = [:]
  /// What a mirror serves, by path.
  package private(set) var files: [String: [UInt8]] = [:]

  private var snapshotFile: JSONTree = .object(["version": .integer(1)])
  private var targetsFile: JSONTree = .object(["version": .integer(1)])

  /// A repository whose four roles are published in their first versions.
  package init() { publishAll() }

  /// Changes the state and publishes all four roles in their first versions.
  package init(_ change: (inout Self) -> Void) {
    change(&self)
    publishAll()
  }

  private mutating func publishAll() {
    publishRoot()
    publish()
  }

  /// The first root, as an app ships it.
  package var anchor: [UInt8] { files["1.root.json"] ?? [] }

  package subscript(_ path: String) -> [UInt8] {
    get { files[path] ?? [] }
    set { files[path] = newValue }
  }

  package mutating func remove(_ path: String) { files[path] = nil }

  // MARK: Publishing

  /// Publishes a root with the keys and thresholds that the roles have now.
  package mutating func publishRoot() { files["\(root.version).root.json"] = file(root, signed: rootTree) }

  /// Publishes the next root, signed by the keys of the last one and its own, after a change of the keys.
  package mutating func rotate(_ change: (inout Self) -> Void) {
    let oldKeys = root.keys
    change(&self)
    root.version += 1
    root.signers = oldKeys + root.keys.filter { !oldKeys.contains($0) }
    publishRoot()
    root.signers = nil
  }

  /// Publishes targets, snapshot and timestamp, in that order.
  package mutating func publish() {
    publishTargets()
    publishSnapshot()
    publishTimestamp()
  }

  /// Publishes the next versions of targets, snapshot and timestamp.
  package mutating func publishNext() {
    targets.version += 1
    snapshot.version += 1
    timestamp.version += 1
    publish()
  }

  package mutating func publishTargets() {
    let bytes = file(targets, signed: targetsTree)
    files[path(targets, "targets.json")] = bytes
    targetsFile = description(targets.version, bytes)
  }

  package mutating func publishSnapshot() {
    let bytes = file(snapshot, signed: snapshotTree)
    files[path(snapshot, "snapshot.json")] = bytes
    snapshotFile = description(snapshot.version, bytes)
  }

  package mutating func publishTimestamp() { files["timestamp.json"] = file(timestamp, signed: timestampTree) }

  // MARK: Content

  /// An entry of the manifest for some bytes.
  package static func entry(of content: [UInt8]) -> JSONTree {
    .object([
      "length": .integer(Int64(content.count)),
      "hashes": .object(["sha256": .text(SHA256.hash(of: content).description)]),
    ])
  }

  package static func tree(of state: RoleState) -> JSONTree {
    .object(["keyids": .array(state.keys.map { .text($0.id.description) }), "threshold": .integer(state.threshold)])
  }

  private var rootTree: JSONTree {
    var keys: JSONTree = .object([:])
    for key in [root, timestamp, snapshot, targets].flatMap(\.keys) { keys[ByteString(key.id.description)] = key.tree }
    return tree(
      "root", root,
      [
        "consistent_snapshot": .boolean(consistentSnapshot), "keys": keys,
        "roles": .object([
          "root": Self.tree(of: root), "timestamp": Self.tree(of: timestamp), "snapshot": Self.tree(of: snapshot),
          "targets": Self.tree(of: targets),
        ]),
      ])
  }

  private var targetsTree: JSONTree { tree("targets", targets, ["targets": .object(entries)]) }

  private var snapshotTree: JSONTree {
    var meta: JSONTree = .object(["targets.json": targetsFile])
    for (name, version) in delegated { meta[name] = .object(["version": .integer(version)]) }
    return tree("snapshot", snapshot, ["meta": meta])
  }

  private var timestampTree: JSONTree { tree("timestamp", timestamp, ["meta": .object(["snapshot.json": snapshotFile])]) }

  private func tree(_ type: String, _ state: RoleState, _ members: [ByteString: JSONTree]) -> JSONTree {
    let common: [ByteString: JSONTree] = [
      "_type": .text(type), "spec_version": .text("1.0.34"), "version": .integer(state.version), "expires": .text(state.expires),
    ]
    return .object(common.merging(members) { _, own in own })
  }

  private func file(_ state: RoleState, signed: JSONTree) -> [UInt8] {
    var signed = signed
    state.editSigned?(&signed)
    return Self.file(signed, by: state.signers ?? state.keys, edit: state.editFile)
  }

  /// A metadata file over what is signed.
  package static func file(_ signed: JSONTree, by signers: [FixtureKey], edit: Edit? = nil) -> [UInt8] {
    let message = signed.canonicalBytes
    var file: JSONTree = .object(["signatures": .array(signers.map { $0.entry(over: message) }), "signed": signed])
    edit?(&file)
    return file.canonicalBytes
  }

  private func path(_ state: RoleState, _ name: String) -> String { consistentSnapshot ? "\(state.version).\(name)" : name }

  private func description(_ version: Int64, _ bytes: [UInt8]) -> JSONTree {
    var description: JSONTree = .object(["version": .integer(version)])
    guard statesLengthsAndHashes else { return description }
    description["length"] = .integer(Int64(bytes.count))
    description["hashes"] = .object(["sha256": .text(SHA256.hash(of: bytes).description)])
    return description
  }
}
