internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// The bins of what is published, each verified as a device would when it looks a file up.
struct PublishedBins: Sendable {
  let bins: HashBins
  /// By the bins' numbers. What has expired is read all the same: it is what has to be signed again.
  let metadata: [Trusted<Targets>]

  /// - Returns: nil where what is published is not spread over bins.
  /// - Throws: `published` or `file`.
  init?(_ manifest: TrustedManifest, _ layout: RepositoryLayout) throws(SigningError) {
    guard let delegations = manifest.targets.payload.delegations, let bins = HashBins(delegations) else { return nil }
    let roles = delegations.roles.filter { HashBins.isBin($0.name) }
    let read = Cores.map(roles, fewest: 1) { role in
      Result { () throws(SigningError) in try Self.read(role, manifest, layout) }
    }
    var metadata: [Trusted<Targets>] = []
    metadata.reserveCapacity(bins.count)
    for bin in read { metadata.append(try bin.get()) }
    self.bins = bins
    self.metadata = metadata
  }

  private static func read(
    _ role: DelegatedRole, _ manifest: TrustedManifest, _ layout: RepositoryLayout
  ) throws(SigningError) -> Trusted<Targets> {
    guard let version = manifest.snapshot.payload.files[MetadataRole.delegated(role.name).snapshotName]?.version else {
      throw .published(.notInSnapshot(role: role.name))
    }
    let bytes = try onDisk { () throws(FileError) in
      try readFile(layout.file(of: .delegated(role.name), version), limit: VerificationLimits().metadataByteCount)
    }
    do { return try manifest.verify(role, bytes) } catch { throw .published(error) }
  }

  /// The metadata of a bin; nil where there is none of this number.
  func metadata(_ number: Int) -> Trusted<Targets>? { metadata.indices.contains(number) ? metadata[number] : nil }

  func file(_ path: TargetPath) -> TargetFile? { metadata[bins.number(of: path)].payload[path] }
}
