internal import FileIO

/// The folder of the secret keys, as it is made.
enum SecretsFolder {
  /// Makes it where it is missing, and keeps git from ever taking a secret along.
  /// - Throws: `unsafeConfiguration` where it would lie in what is served or shared.
  static func prepare(_ layout: RepositoryLayout) throws(SigningError) {
    for name in ["manifests", "keys"] where "\(layout.secrets)/".hasPrefix("\(layout.folder)/\(name)/") {
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
}
