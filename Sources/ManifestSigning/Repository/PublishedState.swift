internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// What a repository has published, verified from its first root as a device would. What has expired is read all the same: it
/// is what has to be signed again.
public struct PublishedState: Sendable {
  /// The root files, the first version first.
  public let roots: [[UInt8]]
  /// The newest root.
  public let root: Trusted<Root>
  /// What a device would trust; nil where nothing was published yet.
  public let manifest: TrustedManifest?

  /// Reads the published tree.
  /// - Throws: `noRepository`, `published` or `file`.
  public init(_ layout: RepositoryLayout) throws(SigningError) {
    let limits = VerificationLimits()
    roots = try Self.readRoots(layout, limits)
    guard let first = roots.first else { throw .noRepository(path: layout.folder) }
    var stored = StoredMetadata(roots: Array(roots.dropFirst()))
    stored.timestamp = try Self.readIfPresent(layout.metadata + "/" + TopLevelRole.timestamp.fileName, limits.timestampByteCount)
    if let bytes = stored.timestamp {
      let timestamp: Timestamp = try Self.parse(bytes)
      let snapshotBytes = try Self.read(layout.metadata(.snapshot, timestamp.snapshot.version), limits.metadataByteCount)
      let snapshot: Snapshot = try Self.parse(snapshotBytes)
      stored.snapshot = snapshotBytes
      stored.targets = try Self.read(layout.metadata(.targets, snapshot.targets.version), limits.metadataByteCount)
    }
    do {
      root = try TrustedManifest.newestRoot(anchor: first, stored: stored)
      manifest = stored.timestamp == nil ? nil : try TrustedManifest(anchor: first, stored: stored)
    } catch {
      if case .damagedState(_, let cause) = error { throw .published(cause) }
      throw .published(error)
    }
  }

  private static func readRoots(_ layout: RepositoryLayout, _ limits: VerificationLimits) throws(SigningError) -> [[UInt8]] {
    var roots: [[UInt8]] = []
    var version: Version? = .first
    while let current = version, let bytes = try readIfPresent(layout.metadata(.root, current), limits.rootByteCount) {
      roots.append(bytes)
      version = current.next
    }
    return roots
  }

  private static func parse<Payload: ReadableRolePayload>(_ bytes: [UInt8]) throws(SigningError) -> Payload {
    do { return try UnverifiedMetadata<Payload>(parsing: bytes).payload } catch {
      throw .published(.malformed(role: Payload.role.name, error))
    }
  }

  private static func read(_ path: String, _ limit: Int) throws(SigningError) -> [UInt8] {
    try onDisk { () throws(FileError) in try readFile(path, limit: limit) }
  }

  private static func readIfPresent(_ path: String, _ limit: Int) throws(SigningError) -> [UInt8]? {
    do { return try readFile(path, limit: limit) } catch {
      guard error.errno == .notFound || error.errno == .notDirectory else { throw .file(error) }
      return nil
    }
  }
}

/// Runs file calls, whose errors become this module's.
func onDisk<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(SigningError) -> Result {
  do { return try body() } catch { throw .file(error) }
}
