internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// What a state folder holds, read file by file, for whoever has locked it.
struct TrustFiles {
  let layout: TrustLayout
  let limits: VerificationLimits
  var record: TrustRecord

  /// Reads the record. The state is locked by the caller.
  /// - Throws: `newerFormat`, `damaged` or `file`.
  init(_ layout: TrustLayout, _ limits: VerificationLimits) throws(TrustStoreError) {
    self.layout = layout
    self.limits = limits
    record = try TrustRecord(Self.read(layout.record, TrustRecord.byteLimit), path: layout.record)
  }

  /// Asked before a lock file is made, so that a folder of somebody else's stays as it is.
  static func requireRecord(_ layout: TrustLayout) throws(TrustStoreError) {
    guard !exists(layout.record) else { return }
    // What is left of a state is not the same as none: beginning anew there would forget what was trusted.
    for role in [TopLevelRole.timestamp, .snapshot, .targets] where exists(layout.metadata(.topLevel(role))) {
      throw .damaged(path: layout.record, expected: "the record of what was trusted, which lies beside \(role.fileName)")
    }
    throw .notInitialised(path: layout.path)
  }

  private static func exists(_ path: String) -> Bool {
    do throws(Errno) {
      _ = try FileSystem.status(of: path, followingLinks: false)
      return true
    } catch { return error != .notFound && error != .notDirectory }
  }

  // MARK: Everything at once

  /// The root at which trust begins, which was verified when it was kept, and is verified again: a fault of it is one of this folder, and
  /// never one of what a mirror serves.
  func anchor() throws(TrustStoreError) -> [UInt8] {
    let path = layout.root(record.anchor)
    let bytes = try read(path, limits.rootByteCount)
    let version: Version
    do { version = try Trusted<Root>(selfSigned: bytes).payload.version } catch {
      throw .damaged(path: path, expected: "the root that trust began with (\(error))")
    }
    guard version == record.anchor else {
      throw .damaged(path: path, expected: "the root that trust began with, version \(record.anchor), found version \(version)")
    }
    return bytes
  }

  /// - Parameter heals: whether what has to be fetched anew may be damaged: it is then handed on as bytes that nothing trusts.
  func metadata(heals: Bool = false) throws(TrustStoreError) -> StoredMetadata {
    var stored = begin()
    for version in try rootVersions() { stored.roots.append(try read(layout.root(version), limits.rootByteCount)) }
    stored.timestamp = try timestamp()
    stored.snapshot = try snapshot()
    do { stored.targets = try readIfPresent(.targets, limits.metadataByteCount) } catch {
      guard heals, case .damaged = error else { throw error }
      stored.targets = []
    }
    markSuperseded(&stored)
    return stored
  }

  /// The same, whatever is wrong with some of it: each fault stands under the role whose file has it.
  func inspect() -> (anchor: [UInt8]?, stored: StoredMetadata, faults: [TopLevelRole: TrustStoreError]) {
    var faults: [TopLevelRole: TrustStoreError] = [:]
    func attempt<Result>(_ role: TopLevelRole, _ body: () throws(TrustStoreError) -> Result?) -> Result? {
      do { return try body() } catch {
        faults[role] = faults[role] ?? error
        return nil
      }
    }
    var stored = begin()
    let anchor = attempt(.root) { () throws(TrustStoreError) in try self.anchor() }
    for version in attempt(.root, { () throws(TrustStoreError) in try rootVersions() }) ?? [] {
      let root = attempt(.root) { () throws(TrustStoreError) in try read(layout.root(version), limits.rootByteCount) }
      if let root { stored.roots.append(root) }
    }
    stored.timestamp = attempt(.timestamp) { () throws(TrustStoreError) in try timestamp() }
    stored.snapshot = attempt(.snapshot) { () throws(TrustStoreError) in try snapshot() }
    stored.targets = attempt(.targets) { () throws(TrustStoreError) in try readIfPresent(.targets, limits.metadataByteCount) }
    markSuperseded(&stored)
    return (anchor, stored, faults)
  }

  private func begin() -> StoredMetadata {
    var stored = StoredMetadata(verifiedUnderRoot: record.verifiedUnderRoot, newestRefresh: record.newestRefresh)
    stored.rotatingSinceRoot = record.rotatingSinceRoot
    return stored
  }

  private func markSuperseded(_ stored: inout StoredMetadata) {
    func isNamed(_ digest: SHA256Digest?, _ bytes: [UInt8]?) -> Bool { digest != nil && bytes.map { SHA256.hash(of: $0) } == digest }
    if isNamed(record.supersededTimestamp, stored.timestamp) { stored.superseded.insert(.timestamp) }
    if isNamed(record.supersededSnapshot, stored.snapshot) { stored.superseded.insert(.snapshot) }
  }

  /// What identifies a role's kept file; nil where there is none.
  func digestIfPresent(_ role: MetadataRole) throws(TrustStoreError) -> SHA256Digest? {
    try readIfPresent(role, limits.metadataByteCount).map { SHA256.hash(of: $0) }
  }

  private func rootVersions() throws(TrustStoreError) -> [Version] {
    let names: [[UInt8]]
    do throws(Errno) { names = try FileSystem.names(inDirectory: layout.roots) } catch {
      guard error != .notFound, error != .notDirectory else {
        throw .damaged(path: layout.roots, expected: "the folder of the roots that were trusted")
      }
      throw .file(.system(.list, path: layout.roots, error))
    }
    return names.compactMap(TrustLayout.rootVersion).sorted()
  }

  // Without them nothing would tell an older one from a newer: that they were there is known.

  private func timestamp() throws(TrustStoreError) -> [UInt8]? {
    try require(.timestamp, readIfPresent(.timestamp, limits.timestampByteCount), record.keptTimestamp)
  }

  private func snapshot() throws(TrustStoreError) -> [UInt8]? {
    try require(.snapshot, readIfPresent(.snapshot, limits.metadataByteCount), record.keptSnapshot)
  }

  private func require(_ role: MetadataRole, _ bytes: [UInt8]?, _ wasKept: Bool) throws(TrustStoreError) -> [UInt8]? {
    guard bytes != nil || !wasKept else {
      throw .damaged(
        path: layout.metadata(role), expected: "the \(role.name) that was trusted, against which newer ones are held, found none")
    }
    return bytes
  }

  // MARK: One file

  func delegatedMetadata(_ name: ByteString) throws(TrustStoreError) -> [UInt8]? {
    try readIfPresent(.delegated(name), limits.metadataByteCount)
  }

  /// A file that can't be read, or was refused before it was kept, is a fault of that role alone.
  func kept(_ role: ByteString) throws(VerificationError) -> [UInt8]? {
    do throws(TrustStoreError) {
      if let bytes = try delegatedMetadata(role) { return bytes }
    } catch {
      if case .file(let error) = error { throw .file(error) }
      throw .damagedState(role: role, .unusableState(reason: error.description))
    }
    if let refusal = refusals.error(of: role) { throw refusal }
    return nil
  }

  private var refusals: RefusalList {
    let bytes = try? readFile(layout.refusals, limit: RefusalList.byteLimit, followingLinks: false)
    return bytes.map(RefusalList.init(reading:)) ?? RefusalList()
  }

  /// The newest root, where `root.json` is not what it has to be. A crash may have left the next root there, which is walked to again.
  func rootIfCopyIsDamaged() throws(TrustStoreError) -> [UInt8]? {
    guard let newest = try rootVersions().last else { return nil }
    let kept = try read(layout.root(newest), limits.rootByteCount)
    let copy = try? readFile(layout.metadata(.root), limit: limits.rootByteCount, followingLinks: false)
    guard let copy else { return kept }
    let isWhole = copy == kept || (try? UnverifiedMetadata<Root>(parsing: copy).payload.version) == newest.next
    return isWhole ? nil : kept
  }

  private func readIfPresent(_ role: MetadataRole, _ limit: Int) throws(TrustStoreError) -> [UInt8]? {
    let path = layout.metadata(role)
    do { return try readFile(path, limit: limit, followingLinks: false) } catch {
      guard error.errno == .notFound else { throw Self.error(error, path) }
      return nil
    }
  }

  private func read(_ path: String, _ limit: Int) throws(TrustStoreError) -> [UInt8] { try Self.read(path, limit) }

  private static func read(_ path: String, _ limit: Int) throws(TrustStoreError) -> [UInt8] {
    do { return try readFile(path, limit: limit, followingLinks: false) } catch { throw Self.error(error, path) }
  }

  /// What stands in a file's place is damage; only what the disk or its permissions say is theirs.
  static func error(_ error: FileError, _ path: String) -> TrustStoreError {
    switch error {
    case .notRegular(_, let kind): .damaged(path: path, expected: "a file that was kept, found a \(kind.rawValue)")
    case .tooLarge(_, let limit): .damaged(path: path, expected: "at most \(limit) bytes, found more")
    case .system(_, _, .notFound): .damaged(path: path, expected: "a file that was kept, found none")
    case .system(_, _, .isDirectory): .damaged(path: path, expected: "a file that was kept, found a directory")
    case .system: .file(error)
    }
  }
}
