#if canImport(Darwin)
  import Darwin
#else
  import CFileCalls
  import Glibc
#endif

/// A system call that a fault can be injected into.
package enum SystemCall: String, CaseIterable, Sendable {
  case open, close, read, write, synchronize, status, list, createDirectory, rename, remove, link, clone, lock, truncate, permissions
}

/// Every system call of this module. Each asks `FaultInjection` first, and starts again when a signal interrupted it.
enum SystemCalls {
  /// No system takes more at once everywhere: Darwin refuses over 2 GiB.
  private static let mostBytes = 1 << 30

  static var currentFolder: CInt { AT_FDCWD }
  static var processID: Int32 { getpid() }

  /// Runs `body`, giving it the most bytes that it may move; it returns -1 for "see errno".
  @inline(__always)
  private static func perform(
    _ call: SystemCall, _ location: @autoclosure () -> FaultInjection.Location, _ body: (Int) -> Int
  ) throws(Errno) -> Int {
    while true {
      var cap = mostBytes
      var result = -1
      var code: CInt = 0
      if FaultInjection.isActive, let action = FaultInjection.action(call, location()) {
        switch action {
        case .proceed: break
        case .short(let count): cap = max(0, min(cap, count))
        case .fail(let errno): code = errno.code
        case .kill: FaultInjection.killProcess()
        }
      }
      if code == 0 {
        result = body(cap)
        if result >= 0 { return result }
        code = errno
      }
      if code != EINTR { throw Errno(code) }
    }
  }

  // MARK: Opening

  static func openFile(_ path: CPath, below folder: CInt, flags: CInt, permissions: UInt16) throws(Errno) -> CInt {
    let result = try perform(.open, .name(folder, path)) { _ in
      // The path is ended by NUL and outlives the call.
      Int(unsafe openat(folder, path.characters, flags, mode_t(permissions)))
    }
    return CInt(truncatingIfNeeded: result)
  }

  /// An error is dropped: what matters was synchronised before, and the descriptor is gone either way.
  static func closeFile(_ descriptor: CInt) {
    if FaultInjection.isActive, FaultInjection.action(.close, .descriptor(descriptor)) == .kill { FaultInjection.killProcess() }
    _ = close(descriptor)
  }

  // MARK: Content

  /// Reads behind the first `filled` bytes of the buffer: at an offset of the file, or at its position where that is nil.
  static func readBytes(
    _ descriptor: CInt, into buffer: inout MutableSpan<UInt8>, behind filled: Int, at offset: Int64?
  ) throws(Errno) -> Int {
    // The call writes at most `count` bytes, all inside the buffer.
    unsafe try buffer.withUnsafeMutableBytes { bytes throws(Errno) in
      guard filled >= 0, filled < bytes.count else { return 0 }
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
      return try perform(.read, .descriptor(descriptor)) {
        let count = min($0, rest.count)
        return if let offset {
          unsafe pread(descriptor, rest.baseAddress, count, off_t(offset))
        } else {
          unsafe read(descriptor, rest.baseAddress, count)
        }
      }
    }
  }

  /// Writes what stands behind the first `written` bytes of the span: at an offset of the file, or at its position where that is nil.
  static func writeBytes(_ descriptor: CInt, _ bytes: Span<UInt8>, behind written: Int, at offset: Int64? = nil) throws(Errno) -> Int {
    // The call reads at most `count` bytes, all inside the span.
    unsafe try bytes.withUnsafeBytes { bytes throws(Errno) in
      guard written >= 0, written < bytes.count else { return 0 }
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
      return try perform(.write, .descriptor(descriptor)) {
        let count = min($0, rest.count)
        return if let offset {
          unsafe pwrite(descriptor, rest.baseAddress, count, off_t(offset))
        } else {
          unsafe write(descriptor, rest.baseAddress, count)
        }
      }
    }
  }

  static func synchronize(_ descriptor: CInt) throws(Errno) {
    _ = try perform(.synchronize, .descriptor(descriptor)) { _ in
      #if canImport(Darwin)
        // There, fsync leaves the bytes in the drive's cache.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
      #endif
      return Int(fsync(descriptor))
    }
  }

  static func truncate(_ descriptor: CInt, to byteCount: Int64) throws(Errno) {
    _ = try perform(.truncate, .descriptor(descriptor)) { _ in Int(ftruncate(descriptor, off_t(byteCount))) }
  }

  /// Lets `target` share the storage of `source`, where the file system can.
  static func clone(_ source: CInt, into target: CInt) throws(Errno) {
    _ = try perform(.clone, .descriptor(target)) { _ in
      #if canImport(Darwin)
        // APFS clones only into a name that does not exist, not into an open file; the caller copies.
        errno = ENOTSUP
        return -1
      #else
        // FICLONE of linux/fs.h, a macro too complex for Swift to import; it takes a descriptor, no pointer.
        return Int(ioctl(target, UInt(0x4004_9409), source))
      #endif
    }
  }

  // MARK: Status and permissions

  static func fileStatus(_ descriptor: CInt) throws(Errno) -> FileStatus {
    var found = stat()
    // The structure outlives the call.
    _ = try perform(.status, .descriptor(descriptor)) { _ in Int(unsafe fstat(descriptor, &found)) }
    return FileStatus(found)
  }

  static func fileStatus(_ path: CPath, below folder: CInt, followingLinks: Bool) throws(Errno) -> FileStatus {
    var found = stat()
    _ = try perform(.status, .name(folder, path)) { _ in
      // The structure and the path, which is ended by NUL, outlive the call.
      Int(unsafe fstatat(folder, path.characters, &found, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW))
    }
    return FileStatus(found)
  }

  static func space(_ descriptor: CInt) throws(Errno) -> VolumeSpace {
    var found = statvfs()
    // The structure outlives the call.
    _ = try perform(.status, .descriptor(descriptor)) { _ in Int(unsafe fstatvfs(descriptor, &found)) }
    return VolumeSpace(
      freeBlocks: UInt64(found.f_bavail), fragment: UInt64(found.f_frsize), freeFiles: UInt64(found.f_favail), files: UInt64(found.f_files))
  }

  /// How many bytes of a file's content lie on the disk: fewer than its length where it has holes.
  static func allocatedByteCount(_ path: CPath, below folder: CInt) throws(Errno) -> Int64 {
    var found = stat()
    _ = try perform(.status, .name(folder, path)) { _ in
      // The structure and the path, which is ended by NUL, outlive the call.
      Int(unsafe fstatat(folder, path.characters, &found, AT_SYMLINK_NOFOLLOW))
    }
    // POSIX leaves the unit open; on Linux and Apple's systems it is 512 bytes, whatever the block is.
    let (bytes, overflow) = Int64(found.st_blocks).multipliedReportingOverflow(by: 512)
    return min(Int64(found.st_size), overflow ? .max : bytes)
  }

  static func setPermissions(_ descriptor: CInt, _ permissions: UInt16) throws(Errno) {
    _ = try perform(.permissions, .descriptor(descriptor)) { _ in Int(fchmod(descriptor, mode_t(permissions))) }
  }

  /// Of a name, which need not be one that may be opened; a symbolic link is not followed.
  static func setPermissions(_ path: CPath, below folder: CInt, _ permissions: UInt16) throws(Errno) {
    _ = try perform(.permissions, .name(folder, path)) { _ in
      // The path is ended by NUL and outlives the call.
      Int(unsafe fchmodat(folder, path.characters, mode_t(permissions), AT_SYMLINK_NOFOLLOW))
    }
  }

  // MARK: Names

  static func createDirectory(_ path: CPath, below folder: CInt, permissions: UInt16) throws(Errno) {
    _ = try perform(.createDirectory, .name(folder, path)) { _ in
      // The path is ended by NUL and outlives the call.
      Int(unsafe mkdirat(folder, path.characters, mode_t(permissions)))
    }
  }

  static func rename(_ old: CPath, below oldFolder: CInt, to new: CPath, below newFolder: CInt) throws(Errno) {
    _ = try perform(.rename, .name(newFolder, new)) { _ in
      // Both paths are ended by NUL and outlive the call.
      Int(unsafe renameat(oldFolder, old.characters, newFolder, new.characters))
    }
  }

  /// What becomes of that which has the new name; the raw value is the system's flag.
  enum Renaming: UInt32 {
    #if canImport(Darwin)
      /// RENAME_EXCL and RENAME_SWAP.
      case exclusive = 4, exchange = 2
    #else
      /// RENAME_NOREPLACE: it stays, and the call fails with "File exists". RENAME_EXCHANGE: it gets the old name, at once.
      case exclusive = 1, exchange = 2
    #endif
  }

  /// Throws `invalidArgument` or `notSupported` where the file system can't.
  static func rename(
    _ old: CPath, below oldFolder: CInt, to new: CPath, below newFolder: CInt, _ renaming: Renaming
  ) throws(Errno) {
    _ = try perform(.rename, .name(newFolder, new)) { _ in
      // Both paths are ended by NUL and outlive the call.
      #if canImport(Darwin)
        Int(unsafe renameatx_np(oldFolder, old.characters, newFolder, new.characters, renaming.rawValue))
      #else
        Int(unsafe renameat2(oldFolder, old.characters, newFolder, new.characters, renaming.rawValue))
      #endif
    }
  }

  static func hardLink(_ old: CPath, below oldFolder: CInt, to new: CPath, below newFolder: CInt) throws(Errno) {
    _ = try perform(.link, .name(newFolder, new)) { _ in
      // Both paths are ended by NUL and outlive the call.
      Int(unsafe linkat(oldFolder, old.characters, newFolder, new.characters, 0))
    }
  }

  /// Gives an open file that has no name one; fails with "File exists" rather than replace anything.
  static func nameFile(_ descriptor: CInt, _ new: CPath, below folder: CInt) throws(Errno) {
    let path = try CPath("/proc/self/fd/\(descriptor)")
    _ = try perform(.link, .name(folder, new)) { _ in
      // Both paths are ended by NUL and outlive the call.
      Int(unsafe linkat(AT_FDCWD, path.characters, folder, new.characters, AT_SYMLINK_FOLLOW))
    }
  }

  static func remove(_ path: CPath, below folder: CInt, directory: Bool) throws(Errno) {
    _ = try perform(.remove, .name(folder, path)) { _ in
      // The path is ended by NUL and outlives the call.
      Int(unsafe unlinkat(folder, path.characters, directory ? AT_REMOVEDIR : 0))
    }
  }

  /// The names in an open directory, "." and ".." left out, in no order. Closes `descriptor`, whatever happens.
  static func names(closing descriptor: CInt) throws(Errno) -> [[UInt8]] {
    // The stream owns the descriptor from here on, and is closed below.
    guard let stream = unsafe fdopendir(descriptor) else {
      let code = errno
      closeFile(descriptor)
      throw Errno(code)
    }
    // The stream is used by nobody else.
    defer { unsafe closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      var name: [UInt8]?
      let found = try perform(.list, .descriptor(descriptor)) { _ in
        errno = 0
        // The entry stays valid until the next call on this stream; its name is copied before.
        guard let entry = unsafe readdir(stream) else { return errno == 0 ? 0 : -1 }
        unsafe name = bytes(ofNameIn: entry)
        return 1
      }
      guard found == 1, let name else { return names }
      if !selfAndParent.contains(name) { names.append(name) }
    }
  }

  private static let selfAndParent = [Array(".".utf8), Array("..".utf8)]

  /// Reads the name in place: an entry can be shorter than the structure, so it is never copied whole.
  private static func bytes(ofNameIn entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
    // The name is ended by NUL inside the entry.
    let start = unsafe UnsafeRawPointer(entry) + offset
    let count = unsafe strlen(start.assumingMemoryBound(to: CChar.self))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  // MARK: Locks

  /// Takes the lock of the open file, or fails at once with `wouldBlock`.
  static func lock(_ descriptor: CInt, isShared: Bool = false) throws(Errno) {
    let kind = isShared ? LOCK_SH : LOCK_EX
    _ = try perform(.lock, .descriptor(descriptor)) { _ in Int(flock(descriptor, kind | LOCK_NB)) }
  }

  static func unlock(_ descriptor: CInt) { _ = flock(descriptor, LOCK_UN) }

  static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }

  static func sleep(milliseconds: UInt32) { _ = usleep(milliseconds &* 1000) }

  // MARK: Threads

  /// Runs `body` on a thread of its own, which gets no signals.
  static func startThread(_ body: @escaping @Sendable () -> Void) throws(Errno) {
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    // The thread inherits the mask, so that not even the first signal is its.
    var (all, former) = (sigset_t(), sigset_t())
    // Both sets outlive the calls.
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &former)
    // The thread takes the reference over; where there is none, it is given back.
    let argument = unsafe Unmanaged.passRetained(ThreadBody(body))
    let code = unsafe pthread_create(&thread, nil, threadStart, argument.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
    guard code == 0 else {
      unsafe argument.release()
      throw Errno(code)
    }
    #if canImport(Darwin)
      // It was just made, and nobody else waits for it.
      if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
  }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

#if canImport(Darwin)
  private func threadStart(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    // What startThread handed over.
    unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
  }
#else
  private func threadStart(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // What startThread handed over.
    if let argument = unsafe argument { unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
  }
#endif

extension FileStatus {
  fileprivate init(_ found: stat) {
    #if canImport(Darwin)
      let (modified, changed) = (found.st_mtimespec, found.st_ctimespec)
    #else
      let (modified, changed) = (found.st_mtim, found.st_ctim)
    #endif
    self.init(
      device: UInt64(truncatingIfNeeded: found.st_dev),
      inode: UInt64(truncatingIfNeeded: found.st_ino),
      kind: FileKind(mode: found.st_mode),
      byteCount: Int64(found.st_size),
      modifiedNanoseconds: Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec),
      changedNanoseconds: Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec),
      permissions: UInt16(found.st_mode & 0o7777),
      owner: found.st_uid,
      linkCount: UInt64(found.st_nlink))
  }
}

extension FileKind {
  fileprivate init(mode: mode_t) {
    self =
      switch mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFIFO: .fifo
      case S_IFSOCK: .socket
      case S_IFCHR: .characterDevice
      case S_IFBLK: .blockDevice
      default: .unknown
      }
  }
}
