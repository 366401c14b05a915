internal import FileIO

/// The folder of the secret keys, as it is made.
enum SecretsFolder {
  /// Makes it where it is missing, and keeps git from ever taking a secret along.
  /// - Returns: the path of what was written; nil where it was there already.
  /// - Throws: what `check` throws, before anything is made.
  @discardableResult static func prepare(_ layout: RepositoryLayout) throws(SigningError) -> String? {
    try check(layout)
    let path = layout.secrets + "/.gitignore"
    do throws(Errno) { _ = try FileSystem.status(of: path, followingLinks: false) } catch {
      try onDisk { () throws(FileError) in
        try FileSystem.createDirectories(layout.secrets, permissions: 0o700)
        try replaceFile(at: path, with: Array("*\n".utf8), permissions: 0o600)
      }
      return path
    }
    return nil
  }

  /// - Throws: `secretsFolder` where it would lie in what is served or shared; `key` where it is there and others may use it.
  static func check(_ layout: RepositoryLayout) throws(SigningError) {
    for name in PublishedSecrets.folders where try lies(layout.secrets, below: name, of: layout.folder) {
      throw .secretsFolder(path: layout.secrets, published: name)
    }
    do throws(SigningError) { _ = try KeyFileAccess.openSecretFolder(layout.secrets) } catch {
      guard case .system(.notFound, _, _) = error else { throw error }
    }
  }

  /// Whether a folder, or where it would be made, lies in another one or is that one, however both are written.
  private static func lies(_ path: String, below name: String, of repository: String) throws(SigningError) -> Bool {
    // A repository that is still to be made can only be told by its name.
    if "\(path)/".hasPrefix("\(repository)/\(name)/") { return true }
    var place = path
    // The topmost folder of those that are still to be made.
    var missing = ""
    while try status(place) == nil {
      let slash = place.lastIndex(of: "/")
      missing = slash.map { String(place[place.index(after: $0)...]) } ?? place
      place = slash.map { $0 == place.startIndex ? "/" : String(place[..<$0]) } ?? "."
    }
    guard let other = try status("\(repository)/\(name)") else {
      guard missing == name, let top = try status(repository), let current = try status(place) else { return false }
      return current.isSameFile(as: top)
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
    try onDisk { () throws(FileError) in try FileSystem.statusIfPresent(of: path, followingLinks: true) }
  }
}
