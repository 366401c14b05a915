internal import Digests
public import TUFMetadata

/// The files of a manifest in byte order of their paths, as they will be signed or are.
struct Manifest: Equatable {
  struct File: Equatable {
    let path: TargetPath
    let target: TargetFile
  }

  /// Each path once.
  private(set) var files: [File]

  /// - Parameter files: in any order. Of several with one path the first counts.
  init(_ files: [File] = []) {
    self.files = files
    guard !zip(files, files.dropFirst()).allSatisfy({ $0.path < $1.path }) else { return }
    self.files.sort { $0.path < $1.path }
    var last: TargetPath?
    self.files.removeAll { file in
      defer { last = file.path }
      return file.path == last
    }
  }

  /// What roles list, of which the first goes before the others.
  init(_ roles: [Targets]) {
    var files: [File] = []
    files.reserveCapacity(roles.reduce(0) { $0 + $1.count })
    for targets in roles { for (path, file) in targets.all { files.append(File(path: path, target: file)) } }
    self.init(files)
  }

  /// What is listed under a path.
  subscript(path: TargetPath) -> TargetFile? {
    files.position(of: path, by: \.path).map { files[$0].target }
  }

  func filter(_ isIncluded: (TargetPath) -> Bool) -> Manifest { Manifest(files.filter { isIncluded($0.path) }) }

  /// The part of each bin, and what no bin lists: the list of models stays with the top-level role (as a delegated role could otherwise tell
  /// devices of other models).
  func spread(over bins: HashBins) -> (top: Manifest, bins: [Manifest]) {
    var top: [File] = []
    var parts = [[File]](repeating: [], count: bins.count)
    let numbers = Cores.map(files, jobs: Cores.count(nil)) { $0.path.name == Catalog.fileName ? nil : bins.number(of: $0.path) }
    for (file, number) in zip(files, numbers) {
      if let number { parts[number].append(file) } else { top.append(file) }
    }
    return (Manifest(top), parts.map(Manifest.init))
  }

  /// What makes this manifest another than an older one.
  func changes(since older: some ListedFiles) -> ManifestChanges {
    var changes = ManifestChanges()
    var position = 0
    func skip(before path: TargetPath?) {
      while position < older.count, path.map({ older.order(at: position, to: $0) < 0 }) ?? true {
        changes.removed.append(older.path(at: position))
        position += 1
      }
    }
    for file in files {
      skip(before: file.path)
      guard position < older.count, older.order(at: position, to: file.path) == 0 else {
        changes.added.append(file.path)
        continue
      }
      if older.file(at: position) != file.target { changes.replaced.append(file.path) }
      position += 1
    }
    skip(before: nil)
    return changes
  }

  /// Whether these are exactly the files that are listed elsewhere.
  func equals(_ other: some ListedFiles) -> Bool { files.count == other.count && changes(since: other).isEmpty }
}

extension Array {
  /// Where a path stands among elements in byte order of their paths, each path once, by binary search; nil where it does not.
  func position(of path: TargetPath, by pathOf: (Element) -> TargetPath) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if pathOf(self[middle]) < path { low = middle + 1 } else { high = middle }
    }
    return low < count && pathOf(self[low]) == path ? low : nil
  }
}

/// Files in byte order of their paths, each path once, that are listed somewhere. Each is reached by its number.
protocol ListedFiles {
  var count: Int { get }
  func path(at position: Int) -> TargetPath
  func file(at position: Int) -> TargetFile?
  /// Below 0 where the path at a position comes before another, 0 where it is the same.
  func order(at position: Int, to path: TargetPath) -> Int
}

/// Read as they are asked for: a hundred thousand files need not be copied to be compared.
extension Targets: ListedFiles {}

extension Manifest: ListedFiles {
  var count: Int { files.count }
  func path(at position: Int) -> TargetPath { files[position].path }
  func file(at position: Int) -> TargetFile? { files[position].target }
  func order(at position: Int, to path: TargetPath) -> Int { files[position].path < path ? -1 : files[position].path == path ? 0 : 1 }
}

/// How two manifests differ, each list in byte order of the paths.
public struct ManifestChanges: Equatable, Sendable {
  public var added: [TargetPath] = []
  /// The same path with another length or digest.
  public var replaced: [TargetPath] = []
  public var removed: [TargetPath] = []
  /// What only a team lists from now on.
  public var handedOver: [TargetPath] = []
  /// What a team is trusted with and does not list: devices would find it no longer.
  public var notTakenOver: [TargetPath] = []

  /// Adds the changes of other paths.
  mutating func append(_ other: ManifestChanges) {
    for list in [\ManifestChanges.added, \.replaced, \.removed, \.handedOver, \.notTakenOver] where !other[keyPath: list].isEmpty {
      self[keyPath: list] += other[keyPath: list]
      self[keyPath: list].sort()
    }
  }

  public var isEmpty: Bool { added.isEmpty && replaced.isEmpty && removed.isEmpty && handedOver.isEmpty && notTakenOver.isEmpty }
}
