internal import FileIO

/// The folder of the secret keys, as it is made.
enum SecretsFolder {
  /// Makes it where it is missing, and keeps git from ever taking a secret along.
  /// - Throws: `unsafeConfiguration` where it would lie in what is served or shared.
  static func prepare(_ layout: RepositoryLayout) throws(SigningError) {
    for name in ["manifests", "keys"] where try lies(layout.secrets, below: "\(layout.folder)/\(name)") {
      throw .unsafeConfiguration(path: layout.secrets, reason: "secret keys can't lie in \(name), which others read")
    }
    let path = layout.secrets + "/.gitignore"
    do throws(Errno) { _ = try FileSystem.status(of: path, followingLinks: false) } catch {
      try onDisk { () throws(FileError) in
        try FileSystem.createDirectories(layout.secrets, permissions: 0o700)
        try replaceFile(at: path, with: Array("*\n".utf8), permissions: 0o600)
      }
    }
  }

  /// Whether a folder, or where it would be made, lies in another one or is that one, however both are written.
  private static func lies(_ path: String, below folder: String) throws(SigningError) -> Bool {
    guard let other = try status(folder) else { return false }
    var place = path
    while try status(place) == nil {
      guard let slash = place.lastIndex(of: "/") else {
        place = "."
        continue
      }
      place = slash == place.startIndex ? "/" : String(place[..<slash])
    }
    var last: FileStatus?
    // The folder above the topmost one is that one itself.
    while let current = try status(place), last.map({ !$0.isSameFile(as: current) }) ?? true {
      if current.isSameFile(as: other) { return true }
      last = current
      place += "/.."
    }
    return false
  }

  private static func status(_ path: String) throws(SigningError) -> FileStatus? {
    do throws(Errno) { return try FileSystem.status(of: path, followingLinks: true) } catch {
      guard error == .notFound || error == .notDirectory else { throw .file(.system(.inspect, path: path, error)) }
      return nil
    }
  }
}
