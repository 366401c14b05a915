internal import FileIO
internal import Synchronization

/// Where versions are put together and files are fetched, in the store or elsewhere.
extension ModelStore {
  /// Opens a folder below the staging folder, made where it is missing.
  func makeStaging(_ segments: [[UInt8]]) throws(InstallationError) -> FileDescriptor {
    let staging = try makeFolder([StoreName.staging], permissions: 0o700)
    return try at(.create, shown([StoreName.staging] + segments)) { () throws(Errno) in
      // Made by somebody else, or with other permissions, it would not be ours alone.
      try staging.setPermissions(0o700)
      return try staging.openFolder(creating: segments, permissions: 0o700)
    }
  }

  /// The folder in which files are fetched.
  func makeParts() throws(InstallationError) -> FileDescriptor {
    guard let stagingPath else { return try makeStaging([StoreName.parts]) }
    try onDisk { () throws(FileError) in try FileSystem.createDirectories(stagingPath, permissions: 0o700) }
    try holdStaging()
    return try at(.create, stagingPath) { () throws(Errno) in
      let staging = try FileDescriptor(opening: stagingPath, .directory)
      return try staging.openFolder(creating: [StoreName.parts], permissions: 0o700)
    }
  }

  /// Keeps other stores from the staging folder that is not the store's own, where there is one, until this value ends.
  /// - Throws: `stagingInUse`.
  func holdStaging() throws(InstallationError) {
    guard let stagingPath else { return }
    try stagingLock.withLock { (held) throws(InstallationError) in
      guard held == nil else { return }
      held = try Self.lock(Self.stagingLockPath(stagingPath), patience: 2000) { .stagingInUse(path: stagingPath, process: $1) }
    }
  }

  private static func stagingLockPath(_ staging: String) -> String { "\(staging)/lock" }

  /// Whether a folder is one that files were fetched into, by this store or another: only then is something in it ours.
  static func isStaging(_ path: String) -> Bool {
    func kind(_ path: String) -> FileKind? { try? FileSystem.status(of: path, followingLinks: false).kind }
    return kind(stagingLockPath(path)) == .regular && kind("\(path)/parts") == .directory
  }

  /// Whether another process is fetching files into such a folder: they will be gone from there when it has them.
  static func isFetching(into staging: String) -> Bool {
    guard isStaging(staging) else { return false }
    do {
      _ = try FileLock(stagingLockPath(staging), isShared: true)
      return false
    } catch { if case .held = error { return true } else { return false } }
  }

  /// Removes the folders of staging as far as nothing is left in them.
  func removeEmptyStaging() {
    if let staging = try? openFolder([StoreName.staging]) {
      for name in [StoreName.versions, StoreName.parts] { try? staging.removeFolder(name) }
      try? folder.removeFolder(StoreName.staging)
    }
    // The lock stays, or two processes might lock two files of one name.
    if stagingLock.withLock({ $0 != nil }) { try? FileSystem.removeDirectory(partsPath) }
  }

  var partsPath: String { stagingPath.map { "\($0)/parts" } ?? "\(path)/staging/parts" }
}
