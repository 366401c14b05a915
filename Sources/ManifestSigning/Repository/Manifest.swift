public import TUFMetadata

/// The files of a manifest by their paths, as they will be signed or are.
struct Manifest: Equatable {
  var files: [TargetPath: TargetFile]

  init(_ files: [TargetPath: TargetFile] = [:]) { self.files = files }

  init(_ targets: Targets) {
    files = Dictionary(targets.all.map { ($0.path, $0.file) }, uniquingKeysWith: { first, _ in first })
  }

  var tree: JSONTree {
    .object(Dictionary(files.map { ($0.key.name, $0.value.tree) }, uniquingKeysWith: { first, _ in first }))
  }

  /// What makes this manifest another than an older one.
  func changes(since older: Manifest) -> ManifestChanges {
    var changes = ManifestChanges()
    for (path, file) in files {
      switch older.files[path] {
      case nil: changes.added.append(path)
      case file: break
      default: changes.replaced.append(path)
      }
    }
    changes.removed = older.files.keys.filter { files[$0] == nil }.sorted()
    changes.added.sort()
    changes.replaced.sort()
    return changes
  }
}

/// How two manifests differ, each list in byte order of the paths.
public struct ManifestChanges: Equatable, Sendable {
  public var added: [TargetPath] = []
  /// The same path with another length or digest.
  public var replaced: [TargetPath] = []
  public var removed: [TargetPath] = []
  /// What a team lists from now on.
  public var handedOver: [TargetPath] = []

  public var isEmpty: Bool { added.isEmpty && replaced.isEmpty && removed.isEmpty && handedOver.isEmpty }
}
