internal import Digests
internal import ManifestVerifier
internal import TUFMetadata

/// Targets, bins, snapshot and timestamp that belong together, signed and not yet visible.
struct PublishedSet: Sendable {
  typealias File = (role: MetadataRole, version: Version, bytes: [UInt8])

  /// What nobody sees before the timestamp names it, each file after those that it names itself.
  var unseen: [File] {
    var files = bins
    if let targets { files.append((.targets, targets.version, targets.bytes)) }
    return files + [(.snapshot, snapshot.version, snapshot.bytes)]
  }
  /// What makes all of it visible.
  var timestampFile: File { (.timestamp, timestamp.version, timestamp.bytes) }

  /// The bins that differ from what is published.
  let bins: [File]
  /// Nil where what is published stays.
  private let targets: (version: Version, bytes: [UInt8])?
  private let snapshot: (version: Version, bytes: [UInt8])
  private let timestamp: (version: Version, bytes: [UInt8])

  /// Signs the bins that differ, targets, then the snapshot that names them, then the timestamp that names the snapshot.
  init(
    _ content: Manifest, _ spread: SpreadManifest?, after state: PublishedState, policy: Policy, now: UTCTime,
    signers: (TopLevelRole) throws(SigningError) -> [any Signer]
  ) throws(SigningError) {
    // All are there, and all take what they will get, before one signs: a signature by a token or a service leaves its trace there.
    let available: [TopLevelRole: [any Signer]] = [
      .targets: try signers(.targets), .snapshot: try signers(.snapshot), .timestamp: try signers(.timestamp),
    ]
    if available.values.joined().contains(where: { $0 is ExternalSigner }) {
      _ = try Self(content, spread, state, policy, now, available.mapValues { $0.map(SignerRehearsal.init) })
    }
    try self.init(content, spread, state, policy, now, available)
  }

  /// What a device will make of it, which verifies all of it from the first root.
  func verified(after state: PublishedState) throws(SigningError) -> TrustedManifest {
    let stored = StoredMetadata(
      roots: Array(state.roots.dropFirst()), timestamp: timestamp.bytes, snapshot: snapshot.bytes,
      targets: targets?.bytes ?? state.manifest?.targets.bytes)
    do {
      let manifest = try TrustedManifest(anchor: state.roots.first ?? [], stored: stored)
      var binBytes: [ByteString: [UInt8]] = [:]
      for bin in bins { binBytes[bin.role.name] = bin.bytes }
      for role in manifest.targets.payload.delegations?.roles ?? [] {
        if let bytes = binBytes[role.name] { _ = try manifest.verify(role, bytes) }
      }
      return manifest
    } catch { throw .published(error) }
  }

  private init(
    _ content: Manifest, _ spread: SpreadManifest?, _ state: PublishedState, _ policy: Policy, _ now: UTCTime,
    _ signers: [TopLevelRole: [any Signer]]
  ) throws(SigningError) {
    // What a snapshot has listed once it goes on listing (TUF 1.0.34 §5.5.5).
    var described = state.manifest?.snapshot.payload.files ?? [:]
    var bins: [File] = []
    let keys = state.root.payload[.targets]

    if let spread {
      let published = state.published(spread, policy, at: now)
      for (number, part) in spread.parts.enumerated() {
        let role = MetadataRole.delegated(spread.bins.name(number))
        let version: Version
        let bytes: [UInt8]
        if let old = published[number] {
          (version, bytes) = (old.payload.version, old.bytes)
        } else {
          version = try state.nextVersion(of: role)
          bytes = try SignedMetadata(
            part.payload(RoleHeader(version: version, expires: now.adding(days: policy.lifetime(of: .targets))), delegations: nil),
            by: signers[.targets] ?? []
          ).bytes
          bins.append((role, version, bytes))
        }
        described[role.snapshotName] = spread.bins.description(version, bytes)
      }
    }

    var targets: (version: Version, bytes: [UInt8])?
    if let spread, let old = state.manifest?.targets, state.bins?.bins == spread.bins, state.bins?.metadata.first?.keys == keys,
      !policy.isDue(.targets, expires: old.payload.expires, at: now), spread.top.equals(old.payload)
    {
      // The list of models and the bins' keys stand as they stood: nothing to sign.
    } else {
      let version = try state.nextVersion(of: .targets)
      let header = RoleHeader(version: version, expires: now.adding(days: policy.lifetime(of: .targets)))
      let delegations = HashBins.delegations(to: policy.bins, keys, state.root.payload.keys, keeping: state.delegations)
      let file = try SignedMetadata((spread?.top ?? content).payload(header, delegations: delegations), by: signers[.targets] ?? [])
      targets = (version, file.bytes)
      described[.targetsFile] = file.description(version)
    }

    func sign(_ role: TopLevelRole, _ value: JSONTree) throws(SigningError) -> (version: Version, file: SignedMetadata) {
      let version = try state.nextVersion(of: .topLevel(role))
      var members = RoleHeader(version: version, expires: now.adding(days: policy.lifetime(of: role))).members(of: role)
      members[.meta] = value
      return (version, try SignedMetadata(JSONTree.object(members).canonicalBytes, by: signers[role] ?? []))
    }
    let snapshot = try sign(.snapshot, .object(described.mapValues(\.tree)))
    let timestamp = try sign(.timestamp, .object([.snapshotFile: snapshot.file.description(snapshot.version).tree]))
    (self.bins, self.targets) = (bins, targets)
    self.snapshot = (snapshot.version, snapshot.file.bytes)
    self.timestamp = (timestamp.version, timestamp.file.bytes)
  }
}

extension SignedMetadata {
  /// What a snapshot or timestamp says of the file.
  func description(_ version: Version) -> MetadataFile {
    MetadataFile(version: version, byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)))
  }
}

extension Manifest {
  /// The canonical form of the `signed` part of targets metadata that lists these files.
  func payload(_ header: RoleHeader, delegations: JSONTree?) throws(SigningError) -> [UInt8] {
    let parts = Cores.map(Cores.ranges(of: files.count), fewest: 1) { part in
      Result { () throws(MetadataError) in
        // A path, two digests and what stands around them.
        try CanonicalWriter.Members(reservingCapacity: 320 * part.count) { writer throws(MetadataError) in
          for file in files[part] { try writer.target(file.path, file.target) }
        }
      }
    }
    do throws(MetadataError) {
      return try CanonicalWriter.object(reservingCapacity: 512 + 320 * files.count) { writer throws(MetadataError) in
        try writer.string(.type, TopLevelRole.targets.name)
        if let delegations { try writer.value(.delegations, delegations) }
        try writer.string(.expires, ByteString(header.expires.description))
        try writer.string(.specVersion, RoleHeader.specVersion)
        try writer.object(.targets) { writer throws(MetadataError) in
          for part in parts { try writer.members(try part.get()) }
        }
        try writer.integer(.version, header.version.number)
      }
    } catch { throw .metadata(path: TopLevelRole.targets.fileName, error) }
  }
}
