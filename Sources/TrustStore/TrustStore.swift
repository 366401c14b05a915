internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// The device's trusted metadata on disk: the exact bytes that were verified. This value is the one that may change it; `TrustReader` reads it.
///
/// ```
/// root.json timestamp.json snapshot.json targets.json   what is trusted now
/// <sha256 of the name>.json                             the same of a delegated role
/// roots/1.json roots/2.json …                           the chain of roots
/// trust                                                 where trust begins, the root that the cache was verified under, the newest refresh
/// refusals                                              why the newest refresh could not trust delegated roles, where it could not
/// lock                                                  held while the state is read, or one change of it written
/// refresh-lock                                          held as long as one process may change the state
/// ```
/// Every file is replaced whole and durably, in an order in which a crash at any point leaves a state that the next refresh
/// accepts and that permits no rollback. Nothing here is believed without being verified again.
///
/// Only one process at a time refreshes, so that each refresh is held against what the one before it has kept. Readers are kept out no longer
/// than one change takes to be written, and see the state before or after it, as after a crash: a slow mirror hinders no check.
public struct TrustStore: ~Copyable {
  /// The folder.
  public let path: String
  private var files: TrustFiles
  private let turn: FileLock

  /// Opens the state of a folder, and keeps other processes from changing it as long as the value lives.
  /// - Throws: `notInitialised`, `locked`, `newerFormat`, `damaged` or `file`.
  public init(_ path: String, limits: VerificationLimits = .init()) throws(TrustStoreError) {
    let layout = TrustLayout(path)
    try TrustFiles.requireRecord(layout)
    let turn = try Self.lock(layout.turn)
    // Nobody else writes now: what is read stays so without the other lock.
    for folder in [layout.path, layout.roots] {
      do { try TemporaryFile.removeLeftovers(inDirectory: folder) } catch {
        // What is no folder is told when it is read.
        guard error.errno == .notFound || error.errno == .notDirectory else { throw .file(error) }
      }
    }
    files = try TrustFiles(layout, limits)
    self.turn = turn
    self.path = path
  }

  var layout: TrustLayout { files.layout }

  /// How long a process waits for another that holds the lock, in milliseconds.
  private static let patience: UInt32 = 10_000

  static func lock(_ path: String, isShared: Bool = false) throws(TrustStoreError) -> FileLock {
    do { return try FileLock(path, permissions: 0o644, isShared: isShared, patience: patience) } catch {
      switch error {
      case .held(let path, let process): throw .locked(path: path, process: process)
      case .file(let error): throw TrustFiles.error(error, path)
      }
    }
  }

  // MARK: Reading

  /// The root at which trust begins.
  /// - Throws: `damaged` where that does not verify, or `file`.
  public func anchor() throws(TrustStoreError) -> [UInt8] { try files.anchor() }

  /// Everything that earlier refreshes have kept. Targets that are damaged are not refused: the refresh fetches them anew.
  /// - Throws: `damaged` where another file is missing or is none, or `file`.
  public func metadata() throws(TrustStoreError) -> StoredMetadata { try files.metadata(heals: true) }

  /// What was kept of a delegated role; nil where nothing was.
  public func delegatedMetadata(_ name: ByteString) throws(TrustStoreError) -> [UInt8]? { try files.delegatedMetadata(name) }

  /// What was kept of a delegated role, as `KeptManifest` reads it: a file that can't be read is a fault of that role alone.
  public func kept(_ role: ByteString) throws(VerificationError) -> [UInt8]? { try files.kept(role) }

  // MARK: Writing

  /// Keeps one change of a refresh, durably. Readers are kept out meanwhile, and no longer.
  ///
  /// The record of the root that the cache was verified under is written before the file that it speaks of: a crash in between
  /// leaves the older file, from which no key was taken away since, or it would have been discarded first. That a file is there, and has to be
  /// found again, is recorded after it was written.
  /// - Throws: `locked` or `file`.
  public mutating func keep(_ change: TrustChange) throws(TrustStoreError) {
    let lock = try Self.lock(layout.lock)
    try write(change)
    _ = consume lock  // Held until here.
  }

  private mutating func write(_ change: TrustChange) throws(TrustStoreError) {
    switch change {
    case .root(let version, let bytes):
      // The chain is what counts: a crash in between leaves the root to be walked again, and `root.json` written again with it.
      try replace(layout.metadata(.root), bytes)
      try replace(layout.root(version), bytes)
    case .supersedeTimestampAndSnapshot(let root):
      // The files stay, for who checks what is installed; the record names their bytes, so that whatever comes in their place counts at
      // once. One write does it, and no crash can come in between. The newest refresh stays known: a clock that is set back must not profit
      // from a rotation.
      let (timestamp, snapshot) = (try files.digestIfPresent(.timestamp), try files.digestIfPresent(.snapshot))
      try writeRecord { $0.supersede(timestamp, snapshot, root) }
    case .refreshed(let time):
      // All of it was verified just now, what an older format did not note included.
      try writeRecord { $0.finishRefresh(at: time) }
    case .metadata(let role, let bytes, let root):
      try writeRecord { $0.verifiedUnderRoot = root }
      try replace(layout.metadata(role), bytes)
      switch role {
      case .topLevel(.timestamp): try writeRecord { ($0.keptTimestamp, $0.supersededTimestamp) = (true, nil) }
      case .topLevel(.snapshot): try writeRecord { ($0.keptSnapshot, $0.supersededSnapshot) = (true, nil) }
      default: break
      }
    }
  }

  /// Notes why delegated roles could not be trusted at this refresh, in place of what was noted at an earlier one: of a role of which
  /// nothing is kept it is told later, where no mirror is asked.
  public mutating func note(_ refusals: [DelegationWalk.Refusal]) throws(TrustStoreError) {
    let list = RefusalList(refusals)
    guard !list.isEmpty || exists(layout.refusals) else { return }
    let lock = try Self.lock(layout.lock)
    try replace(layout.refusals, list.bytes)
    _ = consume lock  // Held until here.
  }

  private func exists(_ path: String) -> Bool { (try? FileSystem.status(of: path, followingLinks: false)) != nil }

  /// Writes `root.json` again, which repeats the newest root for whoever reads the folder, where it is damaged. Nothing is lost by that: the
  /// roots themselves lie in `roots`.
  /// - Returns: whether it was damaged.
  public mutating func restoreCopyOfRoot() throws(TrustStoreError) -> Bool {
    guard let newest = try files.rootIfCopyIsDamaged() else { return false }
    let lock = try Self.lock(layout.lock)
    try replace(layout.metadata(.root), newest)
    _ = consume lock  // Held until here.
    return true
  }

  private mutating func writeRecord(_ change: (inout TrustRecord) -> Void) throws(TrustStoreError) {
    var new = files.record
    change(&new)
    guard new != files.record else { return }
    try replace(layout.record, new.bytes)
    files.record = new
  }

  private func replace(_ path: String, _ bytes: [UInt8]) throws(TrustStoreError) {
    do { try replaceFile(at: path, with: bytes) } catch {
      guard error.errno == .isDirectory else { throw .file(error) }
      try setAside(path)
      try onDisk { () throws(FileError) in try replaceFile(at: path, with: bytes) }
    }
  }

  /// Takes a folder away that is in the place of a file of ours; what lies in it may be somebody's.
  private func setAside(_ folder: String) throws(TrustStoreError) {
    do throws(Errno) { return try FileSystem.removeDirectory(folder) } catch {}
    do throws(Errno) { try FileSystem.renameExclusively(folder, to: folder + ".set-aside") } catch {
      throw .file(.system(.rename, path: folder, error))
    }
  }
}

/// Runs file calls, whose errors become this module's.
func onDisk<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(TrustStoreError) -> Result {
  do { return try body() } catch { throw .file(error) }
}
