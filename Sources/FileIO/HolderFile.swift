/// Stands in for the system's lock on a file system that has none: a file beside the lock file, which is there while its process holds the lock.
///
/// ```
/// <lock>.holder            of the one process that has the lock alone
/// <lock>.reader-<number>   of each that shares it
/// <lock>.holder.taking     a folder, for the instant in which the file of a process that is gone is taken away
/// ```
/// Each names its process. Whether that still runs is looked up where it can be seen: on the same run of the same machine, and in the same namespace
/// of process numbers. Of a process on another machine, or in another container, only its file tells: it is touched every five seconds, and counts as left
/// behind when it was not for three minutes, by the clock of the file system itself.
final class HolderFile: Sendable {
  private let path: String
  private let content: [UInt8]
  private let beat: Int

  private static let mostSilence: Int64 = 180 * 1_000_000_000

  /// - Parameter patience: milliseconds to go on trying for.
  init(of lock: String, isShared: Bool, patience: UInt32) throws(FileLockError) {
    let process = ProcessIdentity.current
    let content = Array("\(process.number) \(process.start.orDash) \(process.place.orDash)\n".utf8)
    let suffix = isShared ? "reader-\(String(UInt64.random(in: .min ... .max), radix: 16))" : "holder"
    let path = "\(lock).\(suffix)"
    var waited: UInt32 = 0
    attempts: while true {
      switch isShared ? try Self.share(lock, path, content) : try Self.take(lock, path, content) {
      case .taken: break attempts
      case .free: continue attempts
      case .held(let other):
        guard waited < patience else { throw .held(path: lock, by: other) }
        Pause.milliseconds(20)
        waited += 20
      }
    }
    do throws(Errno) { beat = try Heartbeat.begin { Self.touch(path, content) } } catch {
      try? FileSystem.remove(path)
      throw .file(.system(.lock, path: path, error))
    }
    (self.path, self.content) = (path, content)
  }

  deinit {
    Heartbeat.end(beat)
    // One that slept for long may have lost it to another.
    if Self.read(path)?.content == content { try? FileSystem.remove(path) }
  }

  /// Whether a name is that of a file that stands in for a lock.
  /// - Parameter lock: the lock file's name.
  static func isStandIn(_ name: [UInt8], for lock: String) -> Bool {
    ["\(lock).holder", "\(lock).holder.taking"].contains { name.elementsEqual($0.utf8) } || name.starts(with: "\(lock).reader-".utf8)
  }

  // MARK: Attempts

  private enum Attempt {
    case taken
    /// By another, with its number where that means something.
    case held(Int32?)
    /// What was in the way is gone.
    case free
  }

  private static func take(_ lock: String, _ path: String, _ content: [UInt8]) throws(FileLockError) -> Attempt {
    let (isMade, now) = try create(path, content)
    guard isMade else { return try attempt(at: path, now) ?? .free }
    do throws(FileLockError) {
      for reader in try readers(of: lock) {
        guard case .held(let process)? = try attempt(at: reader, now, isShared: true) else { continue }
        try? FileSystem.remove(path)
        return .held(process)
      }
      return .taken
    } catch {
      try? FileSystem.remove(path)
      throw error
    }
  }

  /// Makes the own file first and looks then: of one that shares and one that wants it alone, at least the later one sees the other.
  private static func share(_ lock: String, _ path: String, _ content: [UInt8]) throws(FileLockError) -> Attempt {
    let (_, now) = try create(path, content)
    let found: Attempt?
    do throws(FileLockError) { found = try attempt(at: "\(lock).holder", now) } catch {
      try? FileSystem.remove(path)
      throw error
    }
    guard case .held? = found else { return .taken }
    try? FileSystem.remove(path)
    return found ?? .free
  }

  /// - Returns: whether the file is made, or there was one; and what time it is for the file system.
  private static func create(_ path: String, _ content: [UInt8]) throws(FileLockError) -> (isMade: Bool, now: Int64) {
    do throws(FileError) {
      let file = try TemporaryFile(for: path, permissions: 0o644)
      try file.write(all: content.span)
      let now = try FileError.describing(.lock, path) { () throws(Errno) in try file.file.status().modifiedNanoseconds }
      do throws(FileError) { try file.create() } catch {
        guard error.errno == .exists else { throw error }
        return (false, now)
      }
      return (true, now)
    } catch { throw .file(error) }
  }

  private static func readers(of lock: String) throws(FileLockError) -> [String] {
    let (folder, name) = PathParts.split(lock)
    do throws(Errno) {
      let start = name + Array(".reader-".utf8)
      let names = try FileSystem.names(inDirectory: folder).filter { $0.starts(with: start) }
      return names.map { "\(folder)/\(String(decoding: $0, as: UTF8.self))" }
    } catch { throw .file(.system(.lock, path: folder, error)) }
  }

  // MARK: Others

  private struct Found: Equatable {
    let content: [UInt8]
    let modifiedNanoseconds: Int64

    /// - Returns: nil where it is nothing that this software wrote.
    var process: ProcessIdentity? {
      let words = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
      guard let number = words.first.flatMap({ Int32($0) }) else { return nil }
      return ProcessIdentity(number: number, start: words.count > 1 ? words[1].orEmpty : "", place: words.count > 2 ? words[2].orEmpty : "")
    }
  }

  /// Looks who holds a file; that of a process that is gone is taken away.
  /// - Returns: nil where there is none.
  private static func attempt(at path: String, _ now: Int64, isShared: Bool = false) throws(FileLockError) -> Attempt? {
    guard let found = read(path) else { return nil }
    let process = found.process
    let isRunning = process?.isRunning
    guard isRunning ?? ((now &- found.modifiedNanoseconds).magnitude < mostSilence) else {
      // No other file ever has the name of one that shares.
      if isShared { try remove(path) } else { try takeAway(path, found) }
      return .free
    }
    // Elsewhere, its number would mislead.
    return .held(isRunning == nil ? nil : process?.number)
  }

  /// Removes the file of a process that is gone. Two processes that found it would else remove each other's: only who can make the folder
  /// beside it does, after having looked again.
  private static func takeAway(_ path: String, _ found: Found) throws(FileLockError) {
    let guardPath = "\(path).taking"
    do throws(Errno) { try FileSystem.createDirectory(guardPath, permissions: 0o700) } catch {
      guard error == .exists else { throw .file(.system(.lock, path: guardPath, error)) }
      // Left by a process that was killed in this very place, it would bar the way for ever; a living one needs it for an instant.
      Pause.milliseconds(2000)
      if read(path) == found { try? FileSystem.removeDirectory(guardPath) }
      return
    }
    defer { try? FileSystem.removeDirectory(guardPath) }
    if read(path) == found { try remove(path) }
  }

  private static func remove(_ path: String) throws(FileLockError) {
    do throws(Errno) { try FileSystem.remove(path) } catch {
      guard error == .notFound else { throw .file(.system(.lock, path: path, error)) }
    }
  }

  /// - Returns: nil where there is no such file.
  private static func read(_ path: String) -> Found? {
    guard let status = try? FileSystem.status(of: path, followingLinks: false) else { return nil }
    // Of what is no file of ours only the time counts.
    return Found(content: (try? readFile(path, limit: 256, followingLinks: false)) ?? [], modifiedNanoseconds: status.modifiedNanoseconds)
  }

  private static func touch(_ path: String, _ content: [UInt8]) {
    guard read(path)?.content == content, let file = try? FileDescriptor(opening: path, .readWrite) else { return }
    // The same byte again: its time is the file system's own.
    try? file.write(all: content.span.extracting(first: 1), at: 0)
  }
}

extension String {
  fileprivate var orDash: String { isEmpty ? "-" : self }
  fileprivate var orEmpty: String { self == "-" ? "" : self }
}
