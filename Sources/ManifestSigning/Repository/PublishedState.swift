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
  /// Where the files are spread over bins, those.
  let bins: PublishedBins?
  /// The versions of each metadata file that lie here, by the file's name without it; a publication's too that ended before its timestamp was in
  /// place.
  private let versions: [String: [Version]]

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
    bins = try manifest.flatMap { (manifest) throws(SigningError) in try PublishedBins(manifest, layout) }
    versions = try onDisk { () throws(FileError) in try Self.versions(in: layout.metadata) }
    try requireNothingNewer()
  }

  /// The folder holds no newer metadata than what was found to be published.
  ///
  /// A root behind a gap in the chain is one that devices never reach: what it withdrew would count again. And a timestamp that is lost, or was
  /// put back from an old backup, would let version numbers be given a second time, which devices take for an attack. One version more is what
  /// a publication leaves that ended before its timestamp was in place; the next one removes it first, so that there are never two of them.
  private func requireNothingNewer() throws(SigningError) {
    if let last = versions[TopLevelRole.root.fileName]?.max(), last > root.payload.version, let missing = root.payload.version.next {
      throw .published(.unavailable(role: TopLevelRole.root.name, urlPath: "\(missing).\(TopLevelRole.root.fileName)"))
    }
    for role in [TopLevelRole.snapshot, .targets] {
      let newer = newerVersions(of: role)
      guard newer.count > 1, let last = newer.max() else { continue }
      guard let version = publishedVersion(of: role) else {
        throw .published(.unavailable(role: TopLevelRole.timestamp.name, urlPath: TopLevelRole.timestamp.fileName))
      }
      throw .published(.rolledBack(role: role.name, trusted: last, offered: version))
    }
  }

  private func publishedVersion(of role: TopLevelRole) -> Version? {
    role == .snapshot ? manifest?.snapshot.payload.version : manifest?.targets.payload.version
  }

  private func newerVersions(of role: TopLevelRole) -> [Version] {
    let published = publishedVersion(of: role)
    return (versions[role.fileName] ?? []).filter { version in published.map { version > $0 } ?? true }
  }

  /// What a publication left that ended before its timestamp was in place. Nothing refers to it.
  var leftovers: [(role: TopLevelRole, version: Version)] {
    [TopLevelRole.snapshot, .targets].flatMap { role in newerVersions(of: role).map { (role, $0) } }
  }

  private static func versions(in folder: String) throws(FileError) -> [String: [Version]] {
    let names = try FileError.describing(.list, folder) { () throws(Errno) in try FileSystem.names(inDirectory: folder) }
    var versions: [String: [Version]] = [:]
    for name in names {
      let text = String(decoding: name, as: UTF8.self)
      guard let dot = text.firstIndex(of: "."), let version = Int64(text[..<dot]).flatMap(Version.init) else { continue }
      versions[String(text[text.index(after: dot)...]), default: []].append(version)
    }
    return versions
  }

  /// The version that a role's next metadata gets: none is given twice, nor one below what a snapshot has listed.
  /// - Throws: `noVersionLeft`.
  func nextVersion(of role: MetadataRole) throws(SigningError) -> Version {
    var known = [versions[role.fileName]?.max()]
    switch role {
    // It has no file for each version: one that was put back from a backup would let its number be given again. There are never fewer
    // timestamps than snapshots.
    case .topLevel(.timestamp): known += [manifest?.timestamp.payload.version, versions[TopLevelRole.snapshot.fileName]?.max()]
    case .topLevel: break
    case .delegated: known.append(manifest?.snapshot.payload.files[role.snapshotName]?.version)
    }
    guard let next = known.compactMap(\.self).max().map(\.next) ?? .first else {
      if case .topLevel(let role) = role { throw .noVersionLeft(role: role) }
      throw .noVersionLeft(role: .targets)
    }
    return next
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

  /// All that is published, whichever role lists it; nil where nothing is.
  var files: Manifest? {
    manifest.map { Manifest([$0.targets.payload] + (bins?.metadata ?? []).map(\.payload)) }
  }

  /// What makes a manifest another than the published one.
  /// - Parameter spread: the same files over the bins to come; nil for none.
  func changes(to files: Manifest, _ spread: SpreadManifest?) -> ManifestChanges {
    guard let targets = manifest?.targets.payload else { return files.changes(since: Manifest()) }
    guard let bins else { return files.changes(since: targets) }
    let likewise = if let spread, spread.bins == bins.bins { spread } else { SpreadManifest(files, over: bins.bins, since: bins) }
    var changes = likewise.top.changes(since: targets)
    for case let other? in likewise.changes { changes.append(other) }
    return changes
  }

  /// Whether the last third of a lifetime has begun, of a role other than root.
  func isDue(_ policy: Policy, at now: UTCTime) -> Bool {
    guard let manifest else { return false }
    return manifest.roles.contains { $0.role != .root && policy.isDue($0.role, expires: $0.expires, at: now) }
      || (bins?.metadata ?? []).contains { policy.isDue(.targets, expires: $0.payload.expires, at: now) }
  }

  /// Whether the files are spread over the bins that a policy tells, under the keys that the root lists now.
  func isSpread(as policy: Policy) -> Bool {
    bins?.bins == policy.bins && (bins?.metadata ?? []).allSatisfy { $0.keys == root.payload[.targets] }
  }

  /// The number of files in all of it.
  var targetCount: Int? {
    manifest.map { manifest in (bins?.metadata ?? []).reduce(manifest.targets.payload.count) { $0 + $1.payload.count } }
  }

  /// For each bin to come, what is published where that lists exactly these files, signed by the keys that sign targets now, and is not due.
  func published(_ spread: SpreadManifest, _ policy: Policy, at now: UTCTime) -> [Trusted<Targets>?] {
    let keys = root.payload[.targets]
    return spread.changes.enumerated().map { number, changes in
      guard let changes, changes.isEmpty, let old = bins?.metadata(number) else { return nil }
      return old.keys == keys && !policy.isDue(.targets, expires: old.payload.expires, at: now) ? old : nil
    }
  }

  /// What is published under a path.
  func file(_ path: TargetPath) -> TargetFile? { manifest?.targets.payload[path] ?? bins?.file(path) }

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

/// Whether anything has a name, a symbolic link that leads nowhere too.
func isPresent(_ path: String) throws(SigningError) -> Bool {
  try onDisk { () throws(FileError) in try FileSystem.statusIfPresent(of: path) } != nil
}
