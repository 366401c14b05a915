internal import FileIO
internal import TUFMetadata

/// A repository that is open for change: no other process changes it as long as the value lives.
public struct Repository: ~Copyable {
  public let layout: RepositoryLayout
  let lock: FileLock

  /// Opens a repository that was created before.
  /// - Throws: `noRepository`, `locked`, `file`, or `publishedSecrets` where a secret key lies where others look.
  public init(_ layout: RepositoryLayout) throws(SigningError) {
    do throws(Errno) { _ = try FileSystem.status(of: layout.metadata(.root, .first), followingLinks: true) } catch {
      guard error == .notFound || error == .notDirectory else {
        throw .file(.system(.read, path: layout.metadata(.root, .first), error))
      }
      throw .noRepository(path: layout.folder)
    }
    let held = try Self.lock(layout)
    try PublishedSecrets.refuse(in: layout)
    lock = held
    self.layout = layout
  }

  /// Removes what a publication left that ended before its timestamp was in place: it would be served with the rest.
  func removeLeftovers(of state: PublishedState) throws(SigningError) {
    try onDisk { () throws(FileError) in
      _ = try TemporaryFile.removeLeftovers(inDirectory: layout.metadata)
      for (role, version) in state.leftovers {
        let path = layout.metadata(role, version)
        try FileError.describing(.remove, path) { () throws(Errno) in try FileSystem.remove(path) }
      }
    }
  }

  /// Takes the lock of a folder that may not be a repository yet.
  static func lock(_ layout: RepositoryLayout) throws(SigningError) -> FileLock {
    do { return try FileLock(layout.lock, permissions: 0o644) } catch {
      switch error {
      case .held(let path, let process): throw .locked(path: path, process: process)
      case .file(let error): throw .file(error)
      }
    }
  }
}
