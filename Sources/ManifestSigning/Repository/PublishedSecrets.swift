internal import Digests
internal import FileIO
internal import TUFMetadata

/// Looks for secret keys where everybody may look: below `manifests`, which is served, and below `keys` and `pending`, which are shared. All that
/// opens a repository for change does so (`Repository`), and so does each `key` verb.
public enum PublishedSecrets {
  static let folders = ["manifests", "keys", "pending"]

  /// - Throws: `publishedSecrets` with the paths; `file` where something can't be read.
  public static func refuse(in layout: RepositoryLayout) throws(SigningError) {
    var found: [String] = []
    let search = SecretSearch(layout)
    for folder in folders { try look("\(layout.folder)/\(folder)", search, &found) }
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

  /// What a look at one name has told.
  private enum Look: Sendable {
    case nothing, folder, secret
  }

  private static func child(_ name: [UInt8], of folder: String) -> String { "\(folder)/\(String(decoding: name, as: UTF8.self))" }

  private static func look(
    at name: [UInt8], of folder: borrowing FileDescriptor, _ path: String, _ search: inout SecretSearch
  ) throws(Errno) -> Look {
    do throws(Errno) {
      let status = try folder.status(of: name)
      switch status.kind {
      case .directory: return .folder
      case .symbolicLink: return try leadsToSecret(child(name, of: path), &search) ? .secret : .nothing
      case .regular: return try search.finds(in: folder.open(name, .readNoFollow), byteCount: status.byteCount) ? .secret : .nothing
      default: return .nothing
      }
    } catch {
      // It went away meanwhile.
      guard error == .notFound else { throw error }
      return .nothing
    }
  }

  /// What lies in one folder.
  private struct Found: Sendable {
    var folders: [String] = []
    var secrets: [String] = []
  }

  private static func look(_ folder: String, _ search: SecretSearch, _ found: inout [String]) throws(SigningError) {
    // Depth is bounded by the length of a path.
    var level = [folder]
    while !level.isEmpty {
      // Few folders are looked at one after another, each with all threads.
      let looks = Cores.map(level, fewest: 8) { path in Result { () throws(SigningError) in try look(in: path, search) } }
      level = []
      for look in looks {
        let inner = try look.get()
        level += inner.folders
        found += inner.secrets
      }
    }
  }

  private static func look(in path: String, _ search: SecretSearch) throws(SigningError) -> Found {
    var found = Found()
    do throws(Errno) {
      let directory = try FileDescriptor(opening: path, .directory)
      let names = try directory.names()
      let looks = Cores.map(names, with: search.apart) { search, name in
        Result { () throws(Errno) in try look(at: name, of: directory, path, &search) }
      }
      for (name, look) in zip(names, looks) {
        switch try look.get() {
        case .nothing: break
        case .folder: found.folders.append(child(name, of: path))
        case .secret: found.secrets.append(child(name, of: path))
        }
      }
    } catch {
      // The folder is not there yet, or went away meanwhile.
      guard error == .notFound else { throw .file(.system(.read, path: path, error)) }
    }
    return found
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
