internal import FileIO

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// How files of keys and passphrases are opened and read; `KeyFileAccess+Writing` has how they are written.
enum KeyFileAccess {
  /// An open file or folder, closed when it goes out of scope.
  struct Descriptor: ~Copyable {
    let number: CInt
    deinit { _ = close(number) }
  }

  /// A path taken apart: the folder, and the name in it.
  struct Location {
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
    let number = unsafe openat(folder.descriptor, location.name, flags)
    if number < 0 {
      let error = Errno(errno)
      if error.code == ELOOP { throw .key(.symbolicLink, path: path) }
      if error.code == EACCES { try refuseForeign(location.name, in: folder.descriptor, path: path) }
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

  /// A passphrase from a file of any kind: a regular file, at the end of symbolic links too, as which Kubernetes mounts secrets; a FIFO; `/dev/stdin`.
  /// - Throws: `KeyError.looseFileMode` where others may write to a regular file, and so choose the passphrase of a new key. That others may read it
  ///   is told to `notice`: what a CI mounts often can't be had otherwise.
  static func readPassphrase(path: String, notice: (PassphraseNotice) -> Void) throws(SigningError) -> SecureBytes {
    // The string is lent for the call.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else { throw .system(Errno(errno), operation: "open", path: path) }
    let file = Descriptor(number: number)
    let status = try status(of: file.number, path: path)
    if status.st_mode & S_IFMT == S_IFREG {
      let (mode, user) = (UInt32(status.st_mode & 0o7777), geteuid())
      guard mode & 0o022 == 0 else { throw .key(.looseFileMode(found: mode), path: path) }
      if status.st_uid != user, status.st_uid != 0 {
        notice(.foreign(path: path, owner: status.st_uid))
      } else if mode & 0o004 != 0 || mode & 0o040 != 0 && status.st_uid == user {
        // The group of a file of root's is how a program that is not root gets to read it.
        notice(.readable(path: path, mode: mode, mends: status.st_uid == user ? KeyError.looseFileMode(found: mode).hint(path: path) : nil))
      }
    }
    return try readPassphrase(open: file.number, path: path)
  }

  /// A passphrase from a descriptor that the caller of the command opened; it is read to its end and closed.
  static func readPassphrase(descriptor: CInt) throws(SigningError) -> SecureBytes {
    // Programs started later must not find the passphrase there. The standard streams stay open: their numbers would be used again.
    defer { if descriptor > 2 { _ = close(descriptor) } }
    return try readPassphrase(open: descriptor, path: "file descriptor \(descriptor)")
  }

  private static func readPassphrase(open descriptor: CInt, path: String) throws(SigningError) -> SecureBytes {
    // One line end at the end is not part of it.
    try readAll(descriptor, limit: Passphrase.byteLimit + 2, path: path, tooLong: .passphraseTooLong(limit: Passphrase.byteLimit))
  }

  /// What was written to a file, from its beginning.
  static func readBack(_ file: borrowing FileDescriptor, limit: Int, path: String) throws(SigningError) -> SecureBytes {
    guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw .system(Errno(errno), operation: "read", path: path) }
    return try readAll(file.descriptor, limit: limit, path: path, tooLong: .publicKeyMismatch)
  }

  /// Where a symbolic link leads, as it is written there.
  static func target(ofLink path: String) throws(SigningError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    // Writes at most as many bytes as the array has.
    let count = unsafe readlink(path, &buffer, buffer.count)
    guard count >= 0 else { throw .file(.system(.inspect, path: path, Errno(errno))) }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
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

  /// Why a secret file, wherever its links lead, is not its owner's alone, as far as its mode and owner tell; nil where it is.
  static func exposure(of path: String) -> KeyError? {
    var status = stat()
    // `status` outlives the call, for which the string is lent.
    guard unsafe stat(path, &status) == 0 else { return nil }
    if status.st_uid != geteuid(), status.st_uid != 0 { return .foreignOwner(expected: geteuid(), found: status.st_uid) }
    let mode = UInt32(status.st_mode & 0o7777)
    return mode & 0o077 == 0 ? nil : .looseFileMode(found: mode)
  }

  static func secureBytes(capacity: Int) throws(SigningError) -> SecureBytes {
    do throws(KeyError) {
      return try SecureBytes(capacity: capacity)
    } catch { throw .key(error, path: "") }
  }

  // MARK: Folders

  static func openFolder(_ path: String, _ access: OpenAccess) throws(SigningError) -> FileDescriptor {
    do throws(Errno) { return try FileDescriptor(opening: path, access) } catch {
      let isOther = error.code == ELOOP || error.code == ENOTDIR
      if error.code == EACCES { try refuseForeign(path, in: AT_FDCWD, path: path) }
      throw isOther ? .key(.notFolder, path: path) : .system(error, operation: "open the folder", path: path)
    }
  }

  /// The folder of secret files, which nobody else may be able to use.
  static func openSecretFolder(_ path: String) throws(SigningError) -> FileDescriptor {
    let folder = try openFolder(path, .directoryNoFollow)
    let status: FileStatus
    do throws(Errno) { status = try folder.status() } catch { throw .system(error, operation: "examine", path: path) }
    guard status.owner == geteuid() else { throw .key(.foreignOwner(expected: geteuid(), found: status.owner), path: path) }
    guard status.permissions & 0o077 == 0 else { throw .key(.looseFolderMode(found: UInt32(status.permissions)), path: path) }
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
