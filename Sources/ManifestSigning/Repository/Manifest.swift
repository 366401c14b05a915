public import TUFMetadata

/// The files of a manifest by their paths, as they will be signed or are.
struct Manifest: Equatable {
  var files: [TargetPath: TargetFile]

  init(_ files: [TargetPath: TargetFile] = [:]) { self.files = files }

  init(_ targets: Targets) {
    self.init()
    add(targets)
  }

  /// Adds what another role lists.
  mutating func add(_ targets: Targets) {
    files.reserveCapacity(files.count + targets.count)
    for (path, file) in targets.all { files[path] = file }
  }

  /// The part of each bin, and what no bin lists: the list of models stays with the top-level role (as a delegated role could otherwise tell
  /// devices of other models).
  func spread(over bins: HashBins) -> (top: Manifest, bins: [Manifest]) {
    var top = Manifest()
    var parts = [Manifest](repeating: Manifest(), count: bins.count)
    for (path, file) in files {
      if path.name == Catalog.fileName { top.files[path] = file } else { parts[bins.number(of: path)].files[path] = file }
    }
    return (top, parts)
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
