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
    let limits = VerificationLimits()
    var metadata: [Trusted<Targets>] = []
    metadata.reserveCapacity(bins.count)
    for role in delegations.roles where HashBins.isBin(role.name) {
      guard let version = manifest.snapshot.payload.files[MetadataRole.delegated(role.name).snapshotName]?.version else {
        throw .published(.notInSnapshot(role: role.name))
      }
      let bytes = try onDisk { () throws(FileError) in
        try readFile(layout.file(of: .delegated(role.name), version), limit: limits.metadataByteCount)
      }
      do { metadata.append(try manifest.verify(role, bytes)) } catch { throw .published(error) }
    }
    self.bins = bins
    self.metadata = metadata
  }

  func file(_ path: TargetPath) -> TargetFile? { metadata[bins.number(of: path)].payload[path] }
}
