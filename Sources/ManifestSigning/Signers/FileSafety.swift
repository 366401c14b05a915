internal import FileIO

/// Whether a file that decides what runs or what signs is in the hands of its owner alone, and everything on the way to it.
enum FileSafety {
  private static let writableByOthers: UInt16 = 0o022
  private static let linkLimit = 40

  /// Walks the path link by link, folder by folder: whoever may change any of them could put another file in its place.
  /// - Parameters:
  ///   - path: absolute.
  ///   - allowsRoot: whether root may own the file itself too, as what the system installed, and whether it may be a symbolic link.
  /// - Throws: `unsafeConfiguration`.
  static func requireOwn(_ path: String, allowsRoot: Bool) throws(SigningError) {
    var waiting = Array(path.split(separator: "/").reversed())
    var place = path.hasPrefix("/") ? "" : "."
    var linkCount = 0
    try check(folder: place)
    while let name = waiting.popLast() {
      let child = "\(place)/\(name)"
      let status = try status(child)
      switch status.kind {
      case .symbolicLink where allowsRoot || !waiting.isEmpty:
        try requireOwner(status, child, allowsRoot: true)
        linkCount += 1
        guard linkCount <= linkLimit else { throw .file(.system(.inspect, path: path, .tooManySymbolicLinks)) }
        let target = try KeyFileAccess.target(ofLink: child)
        if target.hasPrefix("/") { place = "" }
        waiting += target.split(separator: "/").reversed()
      case .directory where !waiting.isEmpty:
        place = child
        try check(folder: place)
      case .regular where waiting.isEmpty:
        try requireOwner(status, child, allowsRoot: allowsRoot)
        return try requireUnwritable(status, child)
      default: throw .unsafeConfiguration(path: child, reason: "it is a \(status.kind.rawValue), not a \(FileKind.regular.rawValue)")
      }
    }
    throw .unsafeConfiguration(path: path, reason: "it is not a \(FileKind.regular.rawValue)")
  }

  private static func check(folder: String) throws(SigningError) {
    let path = folder.isEmpty ? "/" : folder
    let status = try status(path)
    try requireOwner(status, path, allowsRoot: true)
    // In a folder like /tmp nobody can replace what belongs to another.
    if status.permissions & 0o1000 == 0 { try requireUnwritable(status, path) }
  }

  private static func requireOwner(_ status: FileStatus, _ path: String, allowsRoot: Bool) throws(SigningError) {
    let user = ProcessAccess.user
    guard status.owner == user || allowsRoot && status.owner == 0 else {
      throw .unsafeConfiguration(path: path, reason: "it belongs to user \(status.owner), not to user \(user) who runs this command")
    }
  }

  private static func requireUnwritable(_ status: FileStatus, _ path: String) throws(SigningError) {
    guard status.permissions & writableByOthers == 0 else {
      throw .unsafeConfiguration(path: path, reason: "others may write to it (mode 0\(String(status.permissions, radix: 8)))")
    }
  }

  private static func status(_ path: String) throws(SigningError) -> FileStatus {
    do throws(Errno) { return try FileSystem.status(of: path, followingLinks: false) } catch {
      throw .file(.system(.inspect, path: path, error))
    }
  }
}
