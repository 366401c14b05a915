internal import FileIO

/// Where the cache of one folder lies: beside the repository, neither served nor shared, ignored by git, readable by its owner alone.
///
/// It can only save work: what is wrong with it is a warning, and the files are read again.
struct DigestCacheFile {
  private let folder: String
  private let path: String

  /// A limit that no catalog comes near: ten million files.
  private static let byteLimit = 2 << 30
  private static let othersMay: UInt16 = 0o077
  private static let othersMayWrite: UInt16 = 0o022

  /// - Parameter models: the folder that is published; nil where it can't be looked at.
  init?(_ layout: RepositoryLayout, models: String) {
    guard let status = try? FileSystem.status(of: models, followingLinks: true) else { return nil }
    folder = layout.cache
    // One repository may be published from several folders, one a team.
    path = "\(folder)/digests-\(String(status.device, radix: 16))-\(String(status.inode, radix: 16))"
  }

  /// Why the folder is not used, where somebody else could change what lies in it, or says with a link where it lies; nil where nothing is wrong.
  private var fault: String? {
    guard let status = try? FileSystem.status(of: folder, followingLinks: false) else { return nil }
    guard status.kind == .directory else { return "\(folder) is no folder but a \(status.kind.rawValue)" }
    return Self.fault(of: folder, status, forbidding: Self.othersMayWrite)
  }

  private static func fault(of path: String, _ status: FileStatus, forbidding others: UInt16) -> String? {
    if status.owner != ProcessAccess.user { return "\(path) is not yours (it belongs to user \(status.owner))" }
    guard status.permissions & others != 0 else { return nil }
    return "\(path) is not yours alone (mode 0\(String(status.permissions, radix: 8)))"
  }

  /// - Returns: an empty cache with a warning where there is one that can't be believed.
  func read() -> (cache: DigestCache, warning: String?) {
    if let fault { return (DigestCache(), Self.ignored(fault)) }
    do throws(FileError) {
      let file = try FileError.describing(.open, path) { () throws(Errno) in try FileDescriptor(opening: path, .readNoFollow) }
      let status = try FileError.describing(.inspect, path) { () throws(Errno) in try file.status() }
      if let fault = Self.fault(of: path, status, forbidding: Self.othersMay) { return (DigestCache(), Self.ignored(fault)) }
      guard let cache = DigestCache(try file.contents(limit: Self.byteLimit, named: path)) else {
        return (DigestCache(), Self.ignored("\(path) is damaged, or of another version"))
      }
      return (cache, nil)
    } catch {
      return (DigestCache(), error.errno == .notFound || error.errno == .notDirectory ? nil : "\(error): every file is read")
    }
  }

  private static func ignored(_ fault: String) -> String { "\(fault): ignored, every file is read" }

  /// - Returns: a warning where it can't be written.
  func write(_ cache: DigestCache) -> String? {
    if let fault { return "what was hashed can't be remembered: \(fault)" }
    do throws(FileError) {
      let mark = folder + "/.gitignore"
      if (try? FileSystem.status(of: mark, followingLinks: false)) == nil {
        try FileSystem.createDirectories(folder, permissions: 0o700)
        try replaceFile(at: mark, with: Array("*\n".utf8), permissions: 0o600)
      }
      try replaceFile(at: path, with: cache.bytes, permissions: 0o600)
      return nil
    } catch { return "what was hashed can't be remembered: \(error)" }
  }
}
