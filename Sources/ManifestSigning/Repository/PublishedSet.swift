internal import Digests
internal import ManifestVerifier
internal import TUFMetadata

/// Targets, snapshot and timestamp that belong together, signed and verified and not yet visible.
struct PublishedSet {
  let targets: SignedMetadata
  let snapshot: SignedMetadata
  let timestamp: SignedMetadata
  /// What a device will make of them.
  let manifest: TrustedManifest

  /// Signs targets, then the snapshot that names them, then the timestamp that names the snapshot, each with lengths and hashes.
  /// Before anything is visible, all of it is verified from the first root as a device would.
  init(
    _ content: Manifest, after state: PublishedState, policy: Policy, now: UTCTime,
    signers: (TopLevelRole) throws(SigningError) -> [any Signer]
  ) throws(SigningError) {
    // All are there, and all take what they will get, before one signs: a signature by a token or a service leaves its trace there.
    let available: [TopLevelRole: [any Signer]] = [
      .targets: try signers(.targets), .snapshot: try signers(.snapshot), .timestamp: try signers(.timestamp),
    ]
    if available.values.joined().contains(where: { $0 is ExternalSigner }) {
      _ = try Self.files(content, state, policy, now, available.mapValues { $0.map(SignerRehearsal.init) })
    }
    let (targets, snapshot, timestamp) = try Self.files(content, state, policy, now, available)
    let stored = StoredMetadata(
      roots: Array(state.roots.dropFirst()), timestamp: timestamp.bytes, snapshot: snapshot.bytes, targets: targets.bytes)
    do { manifest = try TrustedManifest(anchor: state.roots.first ?? [], stored: stored) } catch { throw .published(error) }
    self.targets = targets
    self.snapshot = snapshot
    self.timestamp = timestamp
  }

  private static func files(
    _ content: Manifest, _ state: PublishedState, _ policy: Policy, _ now: UTCTime, _ signers: [TopLevelRole: [any Signer]]
  ) throws(SigningError) -> (targets: SignedMetadata, snapshot: SignedMetadata, timestamp: SignedMetadata) {
    func sign(
      _ role: TopLevelRole, _ current: Version?, _ name: ByteString, _ value: JSONTree, delegations: JSONTree? = nil
    ) throws(SigningError) -> (SignedMetadata, MetadataFile) {
      guard let version = current.map(\.next) ?? .first else { throw .noVersionLeft(role: role) }
      var members = RoleHeader(version: version, expires: now.adding(days: policy.lifetime(of: role))).members(of: role)
      members[name] = value
      members[.delegations] = delegations
      let file = try SignedMetadata(.object(members), by: signers[role] ?? [])
      return (file, file.description(version))
    }
    let last = state.lastVersions
    let (targets, targetsFile) = try sign(.targets, last[.targets], .targets, content.tree, delegations: state.delegations)
    // What a snapshot has listed once it goes on listing (TUF 1.0.34 §5.5.5).
    var listed = state.manifest?.snapshot.payload.files.mapValues(\.tree) ?? [:]
    listed[.targetsFile] = targetsFile.tree
    let (snapshot, snapshotFile) = try sign(.snapshot, last[.snapshot], .meta, .object(listed))
    // A timestamp has no file for each version: one that was put back from a backup would let its number be given again. There are
    // never fewer timestamps than snapshots.
    let lastTimestamp = [last[.timestamp], last[.snapshot]].compactMap(\.self).max()
    let (timestamp, _) = try sign(.timestamp, lastTimestamp, .meta, .object([.snapshotFile: snapshotFile.tree]))
    return (targets, snapshot, timestamp)
  }
}

extension SignedMetadata {
  /// What a snapshot or timestamp says of the file.
  func description(_ version: Version) -> MetadataFile {
    MetadataFile(version: version, byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)))
  }
}
