internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

extension TrustStore {
  /// Begins trust: keeps the root that the app was shipped with.
  /// - Parameters:
  ///   - path: a folder that is missing or empty, or one that already begins at this very root, which is then left as it is.
  ///   - root: the exact bytes of the root file.
  /// - Returns: whether anything was written.
  /// - Throws: `unusableRoot`, `alreadyInitialised`, `foreignContent`, `locked`, `newerFormat`, `damaged` or `file`.
  @discardableResult
  public static func initialise(_ path: String, root: [UInt8]) throws(TrustStoreError) -> Bool {
    let version: Version
    do { version = try Trusted<Root>(selfSigned: root).payload.version } catch { throw .unusableRoot(error) }
    let layout = TrustLayout(path)
    try onDisk { () throws(FileError) in try FileSystem.createDirectories(path, permissions: 0o755) }
    try requireOnlyOwnNames(layout)
    let lock = try lock(layout.lock)
    let isNew = try writeFirstRoot(layout, root, version)
    _ = consume lock  // Held until here.
    return isNew
  }

  private static func writeFirstRoot(_ layout: TrustLayout, _ root: [UInt8], _ version: Version) throws(TrustStoreError) -> Bool {
    if let record = try existingRecord(layout) {
      let path = layout.root(record.anchor)
      let kept: [UInt8]
      do { kept = try readFile(path, limit: VerificationLimits().rootByteCount, followingLinks: false) } catch {
        throw TrustFiles.error(error, path)
      }
      guard kept == root else { throw .alreadyInitialised(path: layout.path) }
      return false
    }
    try onDisk { () throws(FileError) in
      try FileSystem.createDirectories(layout.roots, permissions: 0o755)
      try removeRoots(layout)
      try replaceFile(at: layout.root(version), with: root)
      try replaceFile(at: layout.metadata(.root), with: root)
      // The record comes last: until it is there nothing is trusted, and the same command can be given again.
      try replaceFile(at: layout.record, with: TrustRecord(anchor: version).bytes)
    }
    return true
  }

  /// An interrupted initialisation with another root may have left that one, which would not follow this one.
  private static func removeRoots(_ layout: TrustLayout) throws(FileError) {
    try FileError.describing(.remove, layout.roots) { () throws(Errno) in
      for name in try FileSystem.names(inDirectory: layout.roots) where TrustLayout.rootVersion(name) != nil {
        try FileSystem.remove(layout.roots + "/" + String(decoding: name, as: UTF8.self))
      }
    }
  }

  private static func existingRecord(_ layout: TrustLayout) throws(TrustStoreError) -> TrustRecord? {
    let bytes: [UInt8]
    do { bytes = try readFile(layout.record, limit: TrustRecord.byteLimit, followingLinks: false) } catch {
      guard error.errno == .notFound else { throw TrustFiles.error(error, layout.record) }
      return nil
    }
    return try TrustRecord(bytes, path: layout.record)
  }

  /// What an interrupted initialisation leaves is ours; anything else in a folder without a record is somebody's.
  private static func requireOnlyOwnNames(_ layout: TrustLayout) throws(TrustStoreError) {
    let names = try onDisk { () throws(FileError) in
      try FileError.describing(.list, layout.path) { () throws(Errno) in try FileSystem.names(inDirectory: layout.path) }
    }
    guard !names.contains(where: { $0.elementsEqual(TrustLayout.recordName.utf8) }) else { return }
    let own = [TrustLayout.rootsName, TopLevelRole.root.fileName]
    for name in names where !TemporaryFile.isTemporary(name) && !own.contains(where: { name.elementsEqual($0.utf8) }) {
      if FileLock.isOwn(name, lock: TrustLayout.lockName) { continue }
      throw .foreignContent(path: layout.path, name: String(decoding: name, as: UTF8.self))
    }
  }
}
