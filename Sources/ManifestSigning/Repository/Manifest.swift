internal import Digests
public import TUFMetadata

/// The files of a manifest in byte order of their paths, as they will be signed or are.
struct Manifest: Equatable, Sendable {
  struct File: Equatable, Sendable {
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

  /// What makes this manifest another than an older one.
  func changes(since older: some ListedFiles) -> ManifestChanges {
    let parts = Cores.ranges(of: files.count)
    // Each part is held against what the older one lists from the part's first path on, the first part also against all before.
    let starts = [0] + parts.dropFirst().map { older.position(from: files[$0.lowerBound].path) }
    let ranges = zip(starts, starts.dropFirst() + [older.count]).map { $0..<$1 }
    let found = Cores.map(Array(zip(parts, ranges)), fewest: 1) { changes(in: $0.0, since: older, $0.1) }
    return found.reduce(into: ManifestChanges()) { $0.append($1, isBehind: true) }
  }

  private func changes(in part: Range<Int>, since older: some ListedFiles, _ olderPart: Range<Int>) -> ManifestChanges {
    var changes = ManifestChanges()
    var position = olderPart.lowerBound
    func skip(before path: TargetPath?) {
      while position < olderPart.upperBound, path.map({ older.order(at: position, to: $0) < 0 }) ?? true {
        changes.removed.append(older.path(at: position))
        position += 1
      }
    }
    for file in files[part] {
      skip(before: file.path)
      guard position < olderPart.upperBound, older.order(at: position, to: file.path) == 0 else {
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
protocol ListedFiles: Sendable {
  var count: Int { get }
  func path(at position: Int) -> TargetPath
  func file(at position: Int) -> TargetFile?
  /// Below 0 where the path at a position comes before another, 0 where it is the same.
  func order(at position: Int, to path: TargetPath) -> Int
}

extension ListedFiles {
  /// The number of the first file whose path does not come before another, by binary search; `count` where none is.
  func position(from path: TargetPath) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if order(at: middle, to: path) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
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
  /// - Parameter isBehind: whether all of them come behind those that are here.
  mutating func append(_ other: ManifestChanges, isBehind: Bool = false) {
    for list in [\ManifestChanges.added, \.replaced, \.removed, \.handedOver, \.notTakenOver] where !other[keyPath: list].isEmpty {
      self[keyPath: list] += other[keyPath: list]
      if !isBehind { self[keyPath: list].sort() }
    }
  }

  public var isEmpty: Bool { added.isEmpty && replaced.isEmpty && removed.isEmpty && handedOver.isEmpty && notTakenOver.isEmpty }
}
