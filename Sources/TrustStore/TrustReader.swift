internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// The device's trusted metadata, to be read and not changed.
///
/// As long as the value lives no change is written, so that what is read belongs together; several may read at once. A refresh that waits for a
/// mirror hinders nobody: it keeps the state locked only while it writes.
public struct TrustReader: ~Copyable {
  private let files: TrustFiles
  private let lock: FileLock?

  /// Opens the state of a folder.
  /// - Throws: `notInitialised`, `locked`, `newerFormat`, `damaged` or `file`.
  public init(_ path: String, limits: VerificationLimits = .init()) throws(TrustStoreError) {
    let layout = TrustLayout(path)
    try TrustFiles.requireRecord(layout)
    let lock = try Self.lock(layout)
    files = try TrustFiles(layout, limits)
    self.lock = lock
  }

  /// A state that this process can't write, in a read-only image say, needs no lock to be read.
  private static func lock(_ layout: TrustLayout) throws(TrustStoreError) -> FileLock? {
    do { return try TrustStore.lock(layout.lock, isShared: true) } catch {
      if case .file(let file) = error, file.errno == .readOnlyFileSystem || file.errno == .accessDenied { return nil }
      throw error
    }
  }

  /// The root at which trust begins.
  /// - Throws: `damaged` where that does not verify, or `file`.
  public func anchor() throws(TrustStoreError) -> [UInt8] { try files.anchor() }

  /// Everything that earlier refreshes have kept.
  /// - Throws: `damaged` where a file is missing or is none, or `file`.
  public func metadata() throws(TrustStoreError) -> StoredMetadata { try files.metadata() }

  /// What can be read, and what is wrong with the rest.
  public func inspect() -> (anchor: [UInt8]?, stored: StoredMetadata, faults: [TopLevelRole: VerificationError]) {
    let (anchor, stored, faults) = files.inspect()
    return (
      anchor, stored,
      faults.reduce(into: [:]) { faults, fault in
        if case .file(let error) = fault.value {
          faults[fault.key] = .file(error)
        } else {
          let error = VerificationError.unusableState(reason: fault.value.description)
          // The targets alone are fetched anew.
          faults[fault.key] = fault.key == .targets ? .damagedState(role: fault.key.name, error) : error
        }
      }
    )
  }

  /// What was kept of a delegated role, as `KeptManifest` reads it: a file that can't be read is a fault of that role alone.
  public func kept(_ role: ByteString) throws(VerificationError) -> [UInt8]? { try files.kept(role) }
}
