internal import FileIO
internal import TUFMetadata

/// Looks for secret keys where everybody may look: below `manifests`, which is served, and below `keys` and `pending`, which are shared. All that
/// opens a repository for change does so (`Repository`), and so does each `key` verb.
public enum PublishedSecrets {
  static let folders = ["manifests", "keys", "pending"]

  /// - Throws: `publishedSecrets` with the paths; `file` where something can't be read.
  public static func refuse(in layout: RepositoryLayout) throws(SigningError) {
    var found: [String] = []
    var search = SecretSearch(layout)
    for folder in folders { try look("\(layout.folder)/\(folder)", &search, &found) }
    guard found.isEmpty else { throw .publishedSecrets(paths: found.sorted()) }
  }

  /// Whether a web server that follows the link would hand out a secret key.
  private static func leadsToSecret(_ link: String, _ search: inout SecretSearch) throws(Errno) -> Bool {
    do throws(Errno) {
      let file = try FileDescriptor(opening: link, .read)
      let status = try file.status()
      guard status.kind == .regular else { return false }
      return try search.finds(in: file, byteCount: status.byteCount)
    } catch {
      // It leads nowhere, or to what can't be opened as a file.
      guard error == .notFound || error == .noSuchDeviceOrAddress || error == .tooManySymbolicLinks else { throw error }
      return false
    }
  }

  private static func look(_ folder: String, _ search: inout SecretSearch, _ found: inout [String]) throws(SigningError) {
    // Depth is bounded by the length of a path.
    var waiting = [folder]
    while let path = waiting.popLast() {
      do throws(Errno) {
        let directory = try FileDescriptor(opening: path, .directory)
        for name in try directory.names() {
          let child = "\(path)/\(String(decoding: name, as: UTF8.self))"
          let status = try directory.status(of: name)
          if status.kind == .directory { waiting.append(child) }
          if status.kind == .symbolicLink, try leadsToSecret(child, &search) { found.append(child) }
          guard status.kind == .regular else { continue }
          if try search.finds(in: directory.open(name, .readNoFollow), byteCount: status.byteCount) { found.append(child) }
        }
      } catch {
        // The folder is not there yet, or a file went away meanwhile.
        guard error == .notFound else { throw .file(.system(.read, path: path, error)) }
      }
    }
  }
}

extension SecretSearch {
  /// A search that also knows bare seeds: of the keys in `keys`, and of those that any root lists or listed. A file there that is damaged tells
  /// no key; it is refused by whatever needs it.
  init(_ layout: RepositoryLayout) {
    var keys: Set<Ed25519PublicKey> = []
    for name in Self.names(in: layout.keys) where name.hasSuffix(KeyRing.publicKeySuffix) {
      if let key = try? PublicKeyFile.read(path: "\(layout.keys)/\(name)") { keys.insert(key) }
    }
    let rootSuffix = "." + TopLevelRole.root.fileName
    for name in Self.names(in: layout.metadata) where name.hasSuffix(rootSuffix) {
      guard let bytes = try? readFile("\(layout.metadata)/\(name)", limit: Self.rootByteLimit),
        let root = try? UnverifiedMetadata<Root>(parsing: bytes).payload
      else { continue }
      keys.formUnion(root.keys.values.compactMap(\.ed25519))
    }
    self.init(knowing: keys)
  }

  private static let rootByteLimit = 512 << 10

  private static func names(in folder: String) -> [String] {
    ((try? FileSystem.names(inDirectory: folder)) ?? []).map { String(decoding: $0, as: UTF8.self) }
  }
}
