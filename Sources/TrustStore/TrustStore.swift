internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// The device's trusted metadata on disk: the exact bytes that were verified.
///
/// ```
/// root.json timestamp.json snapshot.json targets.json   what is trusted now
/// <sha256 of the name>.json                             the same of a delegated role
/// roots/1.json roots/2.json …                           the chain of roots
/// trust                                                 where trust begins, and the root that the cache was verified under
/// lock                                                  held while the state is read or changed
/// ```
/// Every file is replaced whole and durably, in an order in which a crash at any point leaves a state that the next refresh
/// accepts and that permits no rollback. Nothing here is believed without being verified again.
public struct TrustStore: ~Copyable {
  /// The folder.
  public let path: String
  let limits: VerificationLimits
  var record: TrustRecord
  private let lock: FileLock?

  /// Opens the state of a folder and keeps other processes from changing it as long as the value lives.
  /// - Throws: `notInitialised`, `locked`, `newerFormat`, `damaged` or `file`.
  public init(_ path: String, limits: VerificationLimits = .init()) throws(TrustStoreError) {
    let layout = TrustLayout(path)
    // Asked before the lock file is made, so that a folder of somebody else's stays as it is.
    do throws(Errno) { _ = try FileSystem.status(of: layout.record, followingLinks: false) } catch {
      guard error == .notFound || error == .notDirectory else { throw .file(.system(.read, path: layout.record, error)) }
      throw .notInitialised(path: path)
    }
    let lock = try Self.lockToRead(layout)
    let bytes = try onDisk { () throws(FileError) in
      try readFile(layout.record, limit: TrustRecord.byteLimit, followingLinks: false)
    }
    record = try TrustRecord(bytes, path: layout.record)
    self.path = path
    self.limits = limits
    self.lock = lock
  }

  var layout: TrustLayout { TrustLayout(path) }

  /// How long a process waits for another that holds the lock, in milliseconds.
  private static let patience: UInt32 = 10_000

  static func lock(_ layout: TrustLayout) throws(TrustStoreError) -> FileLock {
    do { return try FileLock(layout.lock, permissions: 0o644, patience: patience) } catch {
      switch error {
      case .held(let path, let process): throw .locked(path: path, process: process)
      case .file(let error): throw .file(error)
      }
    }
  }

  /// A state that this process can't write, in a read-only image say, needs no lock to be read.
  private static func lockToRead(_ layout: TrustLayout) throws(TrustStoreError) -> FileLock? {
    do {
      let lock = try lock(layout)
      try removeLeftovers(layout)
      return lock
    } catch {
      if case .file(let file) = error, file.errno == .readOnlyFileSystem || file.errno == .accessDenied { return nil }
      throw error
    }
  }

  /// What a killed process was still writing.
  private static func removeLeftovers(_ layout: TrustLayout) throws(TrustStoreError) {
    try onDisk { () throws(FileError) in
      try TemporaryFile.removeLeftovers(inDirectory: layout.path)
      try TemporaryFile.removeLeftovers(inDirectory: layout.roots)
    }
  }

  // MARK: Reading

  /// The root at which trust begins.
  public func anchor() throws(TrustStoreError) -> [UInt8] { try read(layout.root(record.anchor), limits.rootByteCount) }

  /// Everything that earlier refreshes have kept.
  public func metadata() throws(TrustStoreError) -> StoredMetadata {
    StoredMetadata(
      roots: try roots(),
      verifiedUnderRoot: record.verifiedUnderRoot,
      timestamp: try readIfPresent(.timestamp, limits.timestampByteCount),
      snapshot: try readIfPresent(.snapshot, limits.metadataByteCount),
      targets: try readIfPresent(.targets, limits.metadataByteCount))
  }

  /// What was kept of a delegated role; nil where nothing was.
  public func delegatedMetadata(_ name: ByteString) throws(TrustStoreError) -> [UInt8]? {
    try readIfPresent(.delegated(name), limits.metadataByteCount)
  }

  private func roots() throws(TrustStoreError) -> [[UInt8]] {
    let names = try onDisk { () throws(FileError) in
      try FileError.describing(.list, layout.roots) { () throws(Errno) in try FileSystem.names(inDirectory: layout.roots) }
    }
    var roots: [[UInt8]] = []
    for version in names.compactMap(TrustLayout.rootVersion).sorted() { roots.append(try read(layout.root(version), limits.rootByteCount)) }
    return roots
  }

  private func read(_ path: String, _ limit: Int) throws(TrustStoreError) -> [UInt8] {
    try onDisk { () throws(FileError) in try readFile(path, limit: limit, followingLinks: false) }
  }

  private func readIfPresent(_ role: MetadataRole, _ limit: Int) throws(TrustStoreError) -> [UInt8]? {
    do { return try read(layout.metadata(role), limit) } catch {
      if case .file(let file) = error, file.errno == .notFound { return nil }
      throw error
    }
  }

  // MARK: Writing

  /// Keeps one change of a refresh, durably.
  ///
  /// The record of the root that the cache was verified under is written before the file that it speaks of: a crash in between
  /// leaves the older file, from which no key was taken away since, or it would have been discarded first.
  /// - Throws: `file`.
  public mutating func keep(_ change: TrustChange) throws(TrustStoreError) {
    switch change {
    case .root(let version, let bytes):
      // The chain is what counts: a crash in between leaves the root to be walked again, and `root.json` written again with it.
      try replace(layout.metadata(.root), bytes)
      try replace(layout.root(version), bytes)
    case .discardTimestampAndSnapshot:
      try remove(layout.metadata(.timestamp))
      try remove(layout.metadata(.snapshot))
      try write(TrustRecord(anchor: record.anchor))
    case .metadata(let role, let bytes, let root):
      if record.verifiedUnderRoot != root { try write(TrustRecord(anchor: record.anchor, verifiedUnderRoot: root)) }
      try replace(layout.metadata(role), bytes)
    }
  }

  private mutating func write(_ new: TrustRecord) throws(TrustStoreError) {
    try replace(layout.record, new.bytes)
    record = new
  }

  private func replace(_ path: String, _ bytes: [UInt8]) throws(TrustStoreError) {
    try onDisk { () throws(FileError) in try replaceFile(at: path, with: bytes) }
  }

  private func remove(_ file: String) throws(TrustStoreError) {
    do throws(Errno) {
      try FileSystem.remove(file)
      try FileSystem.synchronizeDirectory(path)
    } catch {
      guard error == .notFound else { throw .file(.system(.remove, path: file, error)) }
    }
  }
}

/// Runs file calls, whose errors become this module's.
func onDisk<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(TrustStoreError) -> Result {
  do { return try body() } catch { throw .file(error) }
}
