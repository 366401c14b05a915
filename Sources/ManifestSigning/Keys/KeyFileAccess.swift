internal import CSodium
internal import FileIO

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The call of the system, which a function of the type below would hide.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
  // The caller says how many bytes there are.
  unsafe write(descriptor, bytes, count)
}

/// Every system call on files of keys and passphrases.
enum KeyFileAccess {
  /// An open file or folder, closed when it goes out of scope.
  struct Descriptor: ~Copyable {
    let number: CInt
    deinit { _ = close(number) }
  }

  /// A path taken apart: the folder, and the name in it.
  private struct Location {
    let folder: String
    let name: String

    init(_ path: String) throws(SigningError) {
      let bytes = Array(path.utf8)
      let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
      let last = bytes[(slash.map { $0 + 1 } ?? 0)...]
      guard !last.isEmpty, !last.elementsEqual(".".utf8), !last.elementsEqual("..".utf8), !bytes.contains(0) else {
        throw .key(.notRegularFile, path: path)
      }
      name = String(decoding: last, as: UTF8.self)
      guard let slash else {
        folder = "."
        return
      }
      // Without its slashes at the end, a link to a folder is seen for what it is.
      var end = slash
      while end > 0, bytes[end - 1] == UInt8(ascii: "/") { end -= 1 }
      folder = end == 0 ? "/" : String(decoding: bytes[..<end], as: UTF8.self)
    }
  }

  // MARK: Reading

  /// The content of a secret file, which nobody else may be able to read, replace or redirect.
  /// - Parameter limit: the longest that such a file can be, in bytes.
  static func readSecret(path: String, limit: Int) throws(SigningError) -> SecureBytes {
    let location = try Location(path)
    let folder = try openSecretFolder(location.folder)
    // O_NONBLOCK: a FIFO in place of the file must not hang the command; it is refused below.
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    // The string is lent for the call.
    let number = unsafe openat(folder.number, location.name, flags)
    if number < 0 {
      let error = Errno(errno)
      if error.code == ELOOP { throw .key(.symbolicLink, path: path) }
      if error.code == EACCES { try refuseForeign(location.name, in: folder.number, path: path) }
      throw .system(error, operation: "open", path: path)
    }
    let file = Descriptor(number: number)
    let status = try status(of: file.number, path: path)
    guard status.st_mode & S_IFMT == S_IFREG else { throw .key(.notRegularFile, path: path) }
    guard status.st_uid == geteuid() else { throw .key(.foreignOwner(expected: geteuid(), found: status.st_uid), path: path) }
    let mode = UInt32(status.st_mode & 0o7777)
    guard mode & 0o7177 == 0 else { throw .key(.looseFileMode(found: mode), path: path) }
    return try readAll(file.number, limit: limit, path: path, tooLong: .fileTooLong(limit: limit))
  }

  /// The content of a file that is no secret.
  static func readPublic(path: String, limit: Int) throws(SigningError) -> SecureBytes {
    // The string is lent for the call.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard number >= 0 else { throw .system(Errno(errno), operation: "open", path: path) }
    let file = Descriptor(number: number)
    guard try status(of: file.number, path: path).st_mode & S_IFMT == S_IFREG else { throw .key(.notRegularFile, path: path) }
    return try readAll(file.number, limit: limit, path: path, tooLong: .fileTooLong(limit: limit))
  }

  /// A passphrase from a file of any kind: a regular file, a FIFO, `/dev/stdin`. Its mode is the business of whoever mounted it.
  static func readPassphrase(path: String, limit: Int) throws(SigningError) -> SecureBytes {
    // The string is lent for the call.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else { throw .system(Errno(errno), operation: "open", path: path) }
    let file = Descriptor(number: number)
    return try readAll(file.number, limit: limit, path: path, tooLong: .passphraseTooLong(limit: limit))
  }

  /// A passphrase from a descriptor that the caller of the command opened; it is read to its end and closed.
  static func readPassphrase(descriptor: CInt, limit: Int) throws(SigningError) -> SecureBytes {
    // Programs started later must not find the passphrase there. The standard streams stay open: their numbers would be used again.
    defer { if descriptor > 2 { _ = close(descriptor) } }
    return try readAll(descriptor, limit: limit, path: "file descriptor \(descriptor)", tooLong: .passphraseTooLong(limit: limit))
  }

  private static func readAll(_ descriptor: CInt, limit: Int, path: String, tooLong: KeyError) throws(SigningError) -> SecureBytes {
    var content = try secureBytes(capacity: limit + 1)
    while content.count <= limit {
      var received = 0
      // There is room for `room` bytes.
      unsafe content.append { free, room in
        received = unsafe read(descriptor, free, room)
        return received
      }
      if received == 0 { return content }
      if received < 0, errno != EINTR { throw .system(Errno(errno), operation: "read", path: path) }
    }
    throw .key(tooLong, path: path)
  }

  static func secureBytes(capacity: Int) throws(SigningError) -> SecureBytes {
    do throws(KeyError) {
      return try SecureBytes(capacity: capacity)
    } catch { throw .key(error, path: "") }
  }

  // MARK: Writing

  /// Writes a file that did not exist, whole or not at all, and durably.
  /// - Parameters:
  ///   - isSecret: a secret file is made 0600, in a folder that is made 0700 or is that strict already; any other 0644.
  static func writeNew(path: String, content: borrowing SecureBytes, isSecret: Bool) throws(SigningError) {
    let location = try Location(path)
    // The string is lent for the call.
    let created = unsafe mkdir(location.folder, isSecret ? 0o700 : 0o755) == 0
    guard created || errno == EEXIST else { throw .system(Errno(errno), operation: "make the folder", path: location.folder) }
    let folder = isSecret ? try openSecretFolder(location.folder) : try openFolder(location.folder, extraFlags: 0)
    try write(content, at: location, in: folder.number, path: path, mode: isSecret ? 0o600 : 0o644) { (temporary) throws(SigningError) in
      try rename(temporary, to: location.name, in: folder.number, path: path)
    }
    if created { try syncParent(of: folder.number, path: location.folder) }
  }

  /// Replaces the content of a secret file at once: until the new content is proven, and after a crash at any moment before, the old stands there.
  /// - Parameter prove: gets the path of the new content, and throws where it is no good.
  static func replaceSecret(
    path: String, content: borrowing SecureBytes, prove: (String) throws(SigningError) -> Void
  ) throws(SigningError) {
    let location = try Location(path)
    let folder = try openSecretFolder(location.folder)
    try write(content, at: location, in: folder.number, path: path, mode: 0o600) { (temporary) throws(SigningError) in
      try prove("\(location.folder)/\(temporary)")
      // The strings are lent for the call.
      guard unsafe renameat(folder.number, temporary, folder.number, location.name) == 0 else {
        throw .system(Errno(errno), operation: "replace", path: path)
      }
    }
  }

  /// Writes and syncs a temporary file beside the place, lets it be given its name, and syncs the folder.
  private static func write(
    _ content: borrowing SecureBytes, at location: Location, in folder: CInt, path: String, mode: mode_t,
    name: (String) throws(SigningError) -> Void
  ) throws(SigningError) {
    let temporary = ".\(location.name).\(String(randombytes_random(), radix: 16)).tmp"
    // The string is lent for the call.
    let number = unsafe openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else { throw .system(Errno(errno), operation: "create", path: "\(location.folder)/\(temporary)") }
    let file = Descriptor(number: number)
    do throws(SigningError) {
      try fill(file.number, with: content, path: path)
      // The mode on creation passed through the umask.
      guard fchmod(file.number, mode) == 0 else { throw .system(Errno(errno), operation: "set the mode of", path: path) }
      guard fsync(file.number) == 0 else { throw .system(Errno(errno), operation: "sync", path: path) }
      try name(temporary)
    } catch {
      // The string is lent for the call; the first error is the one to report.
      _ = unsafe unlinkat(folder, temporary, 0)
      throw error
    }
    guard fsync(folder) == 0 else { throw .system(Errno(errno), operation: "sync", path: location.folder) }
  }

  private static func fill(_ descriptor: CInt, with content: borrowing SecureBytes, path: String) throws(SigningError) {
    var offset = 0
    while offset < content.count {
      // `offset` is below `length`.
      let written = unsafe content.withUnsafeBytes { bytes, length in
        unsafe systemWrite(descriptor, bytes + offset, length - offset)
      }
      if written < 0, errno != EINTR { throw .system(Errno(errno), operation: "write", path: path) }
      offset += max(written, 0)
    }
  }

  /// Gives a file its name, unless something has that name already: a link, unlike a renaming, never replaces.
  private static func rename(_ temporary: String, to name: String, in folder: CInt, path: String) throws(SigningError) {
    // The strings are lent for the call.
    guard unsafe linkat(folder, temporary, folder, name, 0) == 0 else {
      let error = Errno(errno)
      throw error.code == EEXIST ? .key(.alreadyExists, path: path) : .system(error, operation: "name", path: path)
    }
    // The string is lent for the call. A second name that stays behind is as well protected as the first one.
    _ = unsafe unlinkat(folder, temporary, 0)
  }

  private static func syncParent(of folder: CInt, path: String) throws(SigningError) {
    // The string is lent for the call.
    let number = unsafe openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw .system(Errno(errno), operation: "open the folder above", path: path) }
    let parent = Descriptor(number: number)
    guard fsync(parent.number) == 0 else { throw .system(Errno(errno), operation: "sync the folder above", path: path) }
  }

  // MARK: Folders

  private static func openFolder(_ path: String, extraFlags: CInt) throws(SigningError) -> Descriptor {
    // The string is lent for the call.
    let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | extraFlags)
    if number < 0 {
      let error = Errno(errno)
      let isOther = error.code == ELOOP || error.code == ENOTDIR
      if error.code == EACCES { try refuseForeign(path, in: AT_FDCWD, path: path) }
      throw isOther ? .key(.notFolder, path: path) : .system(error, operation: "open the folder", path: path)
    }
    return Descriptor(number: number)
  }

  private static func openSecretFolder(_ path: String) throws(SigningError) -> Descriptor {
    let folder = try openFolder(path, extraFlags: O_NOFOLLOW)
    let status = try status(of: folder.number, path: path)
    guard status.st_uid == geteuid() else { throw .key(.foreignOwner(expected: geteuid(), found: status.st_uid), path: path) }
    let mode = UInt32(status.st_mode & 0o7777)
    guard mode & 0o077 == 0 else { throw .key(.looseFolderMode(found: mode), path: path) }
    return folder
  }

  /// Says more than "permission denied" where the reason is that something belongs to another user.
  private static func refuseForeign(_ name: String, in folder: CInt, path: String) throws(SigningError) {
    var result = stat()
    // `result` outlives the call, for which the string is lent.
    guard unsafe fstatat(folder, name, &result, AT_SYMLINK_NOFOLLOW) == 0, result.st_uid != geteuid() else { return }
    throw .key(.foreignOwner(expected: geteuid(), found: result.st_uid), path: path)
  }

  private static func status(of descriptor: CInt, path: String) throws(SigningError) -> stat {
    var result = stat()
    // `result` outlives the call.
    guard unsafe fstat(descriptor, &result) == 0 else { throw .system(Errno(errno), operation: "examine", path: path) }
    return result
  }
}
