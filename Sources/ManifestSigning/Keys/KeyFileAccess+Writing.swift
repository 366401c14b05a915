internal import FileIO

extension KeyFileAccess {
  /// Writes a file that did not exist, whole or not at all, and durably. A process that is killed meanwhile leaves no file under another name, where
  /// the file system has files without names; else one that `removeLeftovers` takes away.
  /// - Parameters:
  ///   - isSecret: a secret file is made 0600, in a folder that is made 0700 or is that strict already; any other 0644.
  static func writeNew(path: String, content: borrowing SecureBytes, isSecret: Bool) throws(SigningError) {
    let location = try Location(path)
    var isNewFolder = true
    do throws(Errno) { try FileSystem.createDirectory(location.folder, permissions: isSecret ? 0o700 : 0o755) } catch {
      guard error == .exists else { throw .system(error, operation: "make the folder", path: location.folder) }
      isNewFolder = false
    }
    let folder = isSecret ? try openSecretFolder(location.folder) : try openFolder(location.folder, .directory)
    removeLeftovers(in: location.folder)
    let permissions: UInt16 = isSecret ? 0o600 : 0o644
    do throws(Errno) {
      if try !writeUnnamed(content, location.name, folder, permissions) {
        try writeNamed(content, location.name, folder, permissions, path: path)
      }
      if isNewFolder { try FileSystem.synchronizeDirectory("\(location.folder)/..") }
    } catch {
      throw error == .exists ? .key(.alreadyExists, path: path) : .system(error, operation: "write", path: path)
    }
  }

  /// Replaces the content of a secret file at once: until the new content is proven, and after a crash at any moment before, the old stands there.
  /// - Parameter prove: gets the new content as it was read back, and throws where it is no good.
  static func replaceSecret(
    path: String, content: borrowing SecureBytes, prove: (consuming SecureBytes) throws(SigningError) -> Void
  ) throws(SigningError) {
    let location = try Location(path)
    let folder = try openSecretFolder(location.folder)
    removeLeftovers(in: location.folder)
    let temporary = try written(content, location, folder, path)
    try prove(readBack(temporary.file, limit: content.count, path: path))
    do throws(FileError) { try temporary.replace() } catch { throw .file(error) }
  }

  /// A file under a temporary name with some content.
  private static func written(
    _ content: borrowing SecureBytes, _ location: Location, _ folder: consuming FileDescriptor, _ path: String
  ) throws(SigningError) -> TemporaryFile {
    do throws(FileError) {
      let temporary = try TemporaryFile(named: Array(location.name.utf8), in: folder, path: path, permissions: 0o600)
      try content.withBytes { (bytes) throws(FileError) in try temporary.write(all: bytes) }
      try FileError.describing(.write, path) { () throws(Errno) in
        try temporary.file.setPermissions(0o600)
      }
      return temporary
    } catch { throw .file(error) }
  }

  /// Takes away what killed processes left half written in a folder, and nothing that one is still writing. As far as it can: the work that follows
  /// shows what is wrong with the folder.
  static func removeLeftovers(in folder: String) {
    do throws(FileError) { try TemporaryFile.removeLeftovers(inDirectory: folder) } catch {}
  }

  /// - Returns: false, and nothing is written, where there are no files without names.
  private static func writeUnnamed(
    _ content: borrowing SecureBytes, _ name: String, _ folder: borrowing FileDescriptor, _ permissions: UInt16
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      let new = try UnnamedFile(in: folder, permissions: 0o600)
      try content.withBytes { (bytes) throws(Errno) in try new.file.write(all: bytes) }
      // The mode on creation passed through the umask.
      try new.file.setPermissions(permissions)
      try new.name(Array(name.utf8), in: folder)
      return true
    } catch {
      guard error == .notSupported || error == .notFound else { throw error }
      return false
    }
  }

  private static func writeNamed(
    _ content: borrowing SecureBytes, _ name: String, _ folder: borrowing FileDescriptor, _ permissions: UInt16, path: String
  ) throws(Errno) {
    do throws(FileError) {
      let again = try FileError.describing(.create, path) { () throws(Errno) in
        try folder.openFolder(creating: [], permissions: permissions)
      }
      let new = try TemporaryFile(named: Array(name.utf8), in: again, path: path, permissions: 0o600)
      try content.withBytes { (bytes) throws(FileError) in try new.write(all: bytes) }
      try FileError.describing(.write, path) { () throws(Errno) in try new.file.setPermissions(permissions) }
      try new.create()
    } catch { throw error.errno ?? .inputOutput }
  }
}
