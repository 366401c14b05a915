package enum FileLockError: Error, Equatable, Sendable {
  /// Another process, or another part of this one, has the lock; its number where it could be read.
  case held(path: String, by: Int32?)
  case file(FileError)
}

extension FileLockError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .held(let path, let process?): "\(path) is locked by process \(process)"
    case .held(let path, nil): "\(path) is locked by another process"
    case .file(let error): error.description
    }
  }
}

/// A lock that other processes respect, held until the value ends: say where, with `_ = consume lock`. The system releases it when its holder
/// dies, however that happens. The lock file stays: removing it would let two processes lock two files of one name. On a file system without locks
/// a `HolderFile` stands in.
package struct FileLock: ~Copyable, Sendable {
  private let file: FileDescriptor
  private let isShared: Bool
  private let standIn: HolderFile?

  /// Takes the lock, or throws `held`.
  /// - Parameters:
  ///   - isShared: whether others may have it too, who share it as well.
  ///   - patience: milliseconds to go on trying for.
  package init(_ path: String, permissions: UInt16 = 0o600, isShared: Bool = false, patience: UInt32 = 0) throws(FileLockError) {
    let file = try Self.openLockFile(path, permissions: permissions)
    standIn = try Self.take(file, path: path, isShared, patience: patience)
    if standIn == nil { Self.note(SystemCalls.processID, in: file) }
    self.file = file
    self.isShared = isShared
  }

  /// Whether a name in a folder is that of a lock file, or of one that stands in for it.
  package static func isOwn(_ name: [UInt8], lock: String) -> Bool {
    name.elementsEqual(lock.utf8) || HolderFile.isStandIn(name, for: lock)
  }

  deinit {
    guard standIn == nil else { return }
    // Of several who share it, the last one to come is named.
    if !isShared || Self.holder(in: file) == SystemCalls.processID { do { try file.truncate(to: 0) } catch {} }
    // Closing would do, unless a child process has inherited the open file.
    SystemCalls.unlock(file.descriptor)
  }

  /// The number only informs: a full disk must not keep anyone from the lock, least of all one who wants to make room.
  private static func note(_ process: Int32, in file: borrowing FileDescriptor) {
    do throws(Errno) {
      try file.truncate(to: 0)
      try file.write(all: Array("\(process)\n".utf8).span)
    } catch {}
  }

  private static func openLockFile(_ path: String, permissions: UInt16) throws(FileLockError) -> FileDescriptor {
    do throws(FileError) {
      let file = try FileError.describing(.lock, path) { () throws(Errno) in
        try FileDescriptor(opening: path, .readWriteCreating(permissions: permissions))
      }
      let kind = try FileError.describing(.lock, path) { () throws(Errno) in try file.status().kind }
      guard kind == .regular else { throw .notRegular(path: path, kind) }
      return file
    } catch { throw .file(error) }
  }

  /// - Returns: nil where the system has locked the file.
  private static func take(
    _ file: borrowing FileDescriptor, path: String, _ isShared: Bool, patience: UInt32
  ) throws(FileLockError) -> HolderFile? {
    var waited: UInt32 = 0
    // A holder that has only just come, or just gone, has no number in the file: it is given a moment to write it.
    let leastPatience: UInt32 = 20
    while true {
      do {
        try SystemCalls.lock(file.descriptor, isShared: isShared)
        return nil
      } catch {
        if error.meansNoLocks { return try HolderFile(of: path, isShared: isShared, patience: patience) }
        guard error == .wouldBlock else { throw .file(.system(.lock, path: path, error)) }
      }
      let holder = holder(in: file)
      if waited >= patience, holder != nil || waited >= leastPatience { throw .held(path: path, by: holder) }
      SystemCalls.sleep(milliseconds: 2)
      waited += 2
    }
  }

  /// The process named in the file, where it runs.
  private static func holder(in file: borrowing FileDescriptor) -> Int32? {
    var buffer = [UInt8](repeating: 0, count: 16)
    guard let count = try? file.fill(&buffer, at: 0) else { return nil }
    let digits = buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
    guard let process = Int32(String(decoding: digits, as: UTF8.self)), process > 0, SystemCalls.isRunning(process) else { return nil }
    return process
  }
}
