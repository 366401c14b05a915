internal import FileIO

/// Keeps all but one process, and all but one part of it, from changing a store, for as long as the value lives.
///
/// The system's own lock on the file `lock` where the file system has such: it goes with its holder, however that dies. Where it has none, the
/// file `lock.holder` stands in for it, which names the process; the file of a process that is gone is taken away by the next one.
final class StoreLock: Sendable {
  private let system: FileLock?
  private let holder: HolderFile?

  /// - Parameter patience: milliseconds to go on trying for.
  init(_ store: String, patience: UInt32) throws(InstallationError) {
    let path = "\(store)/lock"
    let lock = try Self.takeSystemLock(path, patience: patience)
    let isThere = lock != nil
    system = lock
    holder = isThere ? nil : try HolderFile("\(path).holder", patience: patience)
  }

  /// - Returns: nil where the file system has no locks.
  private static func takeSystemLock(_ path: String, patience: UInt32) throws(InstallationError) -> FileLock? {
    do { return try FileLock(path, permissions: 0o644, patience: patience) } catch {
      switch error {
      case .held(let path, let process): throw .model(.locked(path: path, process: process))
      case .file(.system(_, _, let errno)) where errno == .notSupported || errno == .noLocks || errno == .invalidArgument: return nil
      case .file(let error): throw .file(error)
      }
    }
  }
}

/// A file that is there while its process holds a lock.
private final class HolderFile: Sendable {
  private let path: String

  init(_ path: String, patience: UInt32) throws(InstallationError) {
    var waited: UInt32 = 0
    while true {
      do {
        try createFile(at: path, with: Self.text(.current))
        self.path = path
        return
      } catch {
        guard error.errno == .exists else { throw .file(error) }
      }
      let found = Self.read(path)
      if let found, !found.isRunning {
        try Self.takeAway(path, of: found)
      } else if waited >= patience {
        throw .model(.locked(path: path, process: found?.number))
      }
      Pause.milliseconds(20)
      waited += 20
    }
  }

  deinit { try? FileSystem.remove(path) }

  /// Removes the file of a process that is gone. Two processes that found it would else remove each other's: only who can make the folder
  /// beside it does, after having looked again.
  private static func takeAway(_ path: String, of holder: ProcessIdentity) throws(InstallationError) {
    let guardPath = "\(path).taking"
    do { try FileSystem.createDirectory(guardPath, permissions: 0o700) } catch {
      guard error == .exists else { throw .file(.system(.lock, path: guardPath, error)) }
      // Left by a process that was killed in this very place, it would bar the way for ever; a living one needs it for an instant.
      Pause.milliseconds(2000)
      if let found = read(path), found == holder { try? FileSystem.removeDirectory(guardPath) }
      return
    }
    if read(path) == holder { try? FileSystem.remove(path) }
    try? FileSystem.removeDirectory(guardPath)
  }

  private static func text(_ process: ProcessIdentity) -> [UInt8] { Array("\(process.number) \(process.start)\n".utf8) }

  /// - Returns: nil where there is no such file any more, or none that this software wrote.
  private static func read(_ path: String) -> ProcessIdentity? {
    guard let bytes = try? readFile(path, limit: 256, followingLinks: false) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard let number = words.first.flatMap({ Int32($0) }) else { return nil }
    return ProcessIdentity(number: number, start: words.count > 1 ? String(words[1]) : "")
  }
}
