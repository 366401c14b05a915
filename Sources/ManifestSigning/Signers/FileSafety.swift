internal import FileIO

/// Whether a file that decides what runs or what signs is in the hands of its owner alone.
enum FileSafety {
  private static let writableByOthers: UInt16 = 0o022

  /// - Parameter allowsRoot: whether root may own it too, as what the system installed.
  /// - Throws: `unsafeConfiguration`, also for the folder that it lies in, where someone could put another file in its place.
  static func requireOwn(_ path: String, allowsRoot: Bool) throws(SigningError) {
    try check(path, followingLinks: allowsRoot, allowsRoot, kind: .regular)
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    try check(folder, followingLinks: true, allowsRoot, kind: .directory)
  }

  private static func check(
    _ path: String, followingLinks: Bool, _ allowsRoot: Bool, kind: FileKind
  ) throws(SigningError) {
    let status: FileStatus
    do throws(Errno) { status = try FileSystem.status(of: path, followingLinks: followingLinks) } catch {
      throw .file(.system(.inspect, path: path, error))
    }
    guard status.kind == kind else {
      throw .unsafeConfiguration(path: path, reason: "it is a \(status.kind.rawValue), not a \(kind.rawValue)")
    }
    let user = ProcessAccess.user
    guard status.owner == user || allowsRoot && status.owner == 0 else {
      throw .unsafeConfiguration(path: path, reason: "it belongs to user \(status.owner), not to user \(user) who runs this command")
    }
    // In a folder like /tmp nobody can replace what belongs to another.
    let isSticky = kind == .directory && status.permissions & 0o1000 != 0
    guard status.permissions & writableByOthers == 0 || isSticky else {
      throw .unsafeConfiguration(path: path, reason: "others may write to it (mode 0\(String(status.permissions, radix: 8)))")
    }
  }
}
