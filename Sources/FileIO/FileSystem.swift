/// Plain calls on paths; each follows symbolic links in all but the last component.
package enum FileSystem {
  private static var here: CInt { SystemCalls.currentFolder }

  package static func status(of path: String, followingLinks: Bool) throws(Errno) -> FileStatus {
    try SystemCalls.fileStatus(CPath(path), below: here, followingLinks: followingLinks)
  }

  /// Nil where nothing has the name.
  package static func statusIfPresent(of path: String, followingLinks: Bool = false) throws(FileError) -> FileStatus? {
    do throws(Errno) { return try status(of: path, followingLinks: followingLinks) } catch {
      guard error == .notFound || error == .notDirectory else { throw .system(.inspect, path: path, error) }
      return nil
    }
  }

  /// The names in a directory, sorted by their bytes, which need not be UTF-8.
  package static func names(inDirectory path: String) throws(Errno) -> [[UInt8]] {
    try FileDescriptor(opening: path, .directory).names()
  }

  /// Makes one directory; the process's umask applies.
  package static func createDirectory(_ path: String, permissions: UInt16 = 0o777) throws(Errno) {
    try SystemCalls.createDirectory(CPath(path), below: here, permissions: permissions)
  }

  /// Replaces what has the new name, at once.
  package static func rename(_ old: String, to new: String) throws(Errno) {
    try SystemCalls.rename(CPath(old), below: here, to: CPath(new), below: here)
  }

  /// Swaps what two names stand for, at once: at every moment both stand for something.
  /// - Throws: `invalidArgument` or `crossesFileSystems` where the file system can't.
  package static func exchange(_ one: String, _ other: String) throws(Errno) {
    try SystemCalls.rename(CPath(one), below: here, to: CPath(other), below: here, .exchange)
  }

  /// Never replaces anything: throws `exists` instead.
  package static func renameExclusively(_ old: String, to new: String) throws(Errno) {
    try renameExclusively(CPath(old), below: here, to: CPath(new), below: here)
  }

  static func renameExclusively(_ old: CPath, below oldFolder: CInt, to new: CPath, below newFolder: CInt) throws(Errno) {
    do {
      try SystemCalls.rename(old, below: oldFolder, to: new, below: newFolder, .exclusive)
    } catch .invalidArgument {
      // This file system can't. A directory moves onto nothing but an empty one, so a check before is nearly as good.
      if try SystemCalls.fileStatus(old, below: oldFolder, followingLinks: false).kind == .directory {
        do throws(Errno) {
          _ = try SystemCalls.fileStatus(new, below: newFolder, followingLinks: false)
          throw Errno.exists
        } catch .notFound {
          return try SystemCalls.rename(old, below: oldFolder, to: new, below: newFolder)
        }
      }
      // A link is as exclusive; a crash in between leaves the file under both names.
      try SystemCalls.hardLink(old, below: oldFolder, to: new, below: newFolder)
      try SystemCalls.remove(old, below: oldFolder, directory: false)
    }
  }

  /// Removes a file, or a symbolic link itself.
  package static func remove(_ path: String) throws(Errno) {
    try SystemCalls.remove(CPath(path), below: here, directory: false)
  }

  package static func removeDirectory(_ path: String) throws(Errno) {
    try SystemCalls.remove(CPath(path), below: here, directory: true)
  }

  /// A second name for one file; a symbolic link is linked itself, not followed.
  package static func hardLink(_ old: String, to new: String) throws(Errno) {
    try SystemCalls.hardLink(CPath(old), below: here, to: CPath(new), below: here)
  }

  /// Returns once the names in a directory are on the disk itself.
  package static func synchronizeDirectory(_ path: String) throws(Errno) {
    try synchronize(directory: FileDescriptor(opening: path, .directory))
  }

  static func synchronize(directory: borrowing FileDescriptor) throws(Errno) {
    do {
      try directory.synchronize()
    } catch .invalidArgument {
      // Some network file systems know no such call for directories: there is nothing more to do there.
    }
  }
}
