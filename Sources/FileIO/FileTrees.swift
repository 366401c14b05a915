extension FileSystem {
  /// Makes a directory and those above it that are missing, each on the disk itself before this returns.
  package static func createDirectories(_ path: String, permissions: UInt16 = 0o777) throws(FileError) {
    do {
      try createDirectory(path, permissions: permissions)
    } catch .notFound {
      let (folder, name) = PathParts.split(path)
      guard !name.isEmpty, folder != path else { throw .system(.create, path: path, .notFound) }
      try createDirectories(folder, permissions: permissions)
      do { try createDirectory(path, permissions: permissions) } catch .exists {
      } catch { throw .system(.create, path: path, error) }
    } catch {
      // Whatever the error, a directory that stands there is what was wanted: some systems say EROFS or EISDIR for one.
      guard let status = try? status(of: path, followingLinks: true) else { throw .system(.create, path: path, error) }
      guard status.kind == .directory else { throw .system(.create, path: path, .notDirectory) }
      return
    }
    let folder = PathParts.split(path).folder
    try FileError.describing(.synchronize, folder) { () throws(Errno) in try synchronizeDirectory(folder) }
  }

  /// Removes a file, or a directory with all that is in it. Symbolic links are removed, never followed, and no other file system that is mounted
  /// inside is entered.
  package static func removeTree(_ path: String) throws(FileError) {
    let (folder, name) = PathParts.split(path)
    do throws(Errno) {
      let parent = try FileDescriptor(opening: folder, .directory)
      guard !PathParts.isSpecial(name) else { throw .invalidArgument }
      let device = try parent.status(of: name).device
      try removeTree(name, below: parent, device: device)
    } catch { throw .system(.remove, path: path, error) }
  }

  private static func removeTree(_ name: [UInt8], below parent: borrowing FileDescriptor, device: UInt64) throws(Errno) {
    let status = try parent.status(of: name)
    guard status.kind == .directory else {
      return try SystemCalls.remove(CPath(name), below: parent.descriptor, directory: false)
    }
    let directory = try parent.open(name, .directoryNoFollow)
    guard try directory.status().device == device else { throw .crossesFileSystems }
    for child in try directory.names() { try removeTree(child, below: directory, device: device) }
    try SystemCalls.remove(CPath(name), below: parent.descriptor, directory: true)
  }

  /// Gives the content of a regular file a second, independent life under a name that must not exist: sharing storage where the
  /// file system can, copied otherwise. The name appears with the whole content, on the disk, or not at all.
  package static func cloneOrCopy(from source: String, to path: String, permissions: UInt16) throws(FileError) {
    let file = try openRegularFile(source, followingLinks: false)
    try cloneOrCopy(from: file, named: source, to: path, permissions: permissions)
  }

  /// As above, from a file that is open, such as one just verified. Its position does not move.
  package static func cloneOrCopy(
    from source: borrowing FileDescriptor, named sourcePath: String, to path: String, permissions: UInt16
  ) throws(FileError) {
    let temporary = try TemporaryFile(for: path, permissions: permissions)
    do throws(Errno) {
      try SystemCalls.clone(source.descriptor, into: temporary.file.descriptor)
    } catch {
      if error == .noSpace || error == .quotaExceeded || error == .inputOutput { throw .system(.copy, path: path, error) }
      try copy(from: source, named: sourcePath, to: temporary)
    }
    try temporary.create()
  }

  private static func copy(
    from source: borrowing FileDescriptor, named sourcePath: String, to temporary: borrowing TemporaryFile
  ) throws(FileError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    while true {
      let count: Int
      do { count = try source.fill(&buffer, at: offset) } catch { throw .system(.read, path: sourcePath, error) }
      if count == 0 { return }
      try temporary.write(all: buffer.span.extracting(0..<count))
      offset += Int64(count)
    }
  }
}
