import Digests
import FileIO
import Foundation
import ManifestSigning
import TUFMetadata
import Testing

@Suite struct `The files of a catalog are hashed, short ones side by side` {
  final class Watch: PublishingObserver {
    var byteCount = 0
    var begun: [TargetPath] = []
    /// Asked so often, a person wants to stop.
    var patience = Int.max

    func isCancelled() -> Bool {
      patience -= 1
      return patience < 0
    }

    func notice(_ notice: KeyNotice) {}
    func willHash(fileCount: Int, byteCount: Int64) {}
    func willHash(_ path: TargetPath) { begun.append(path) }
    func didHash(byteCount: Int) { self.byteCount += byteCount }
  }

  /// Empty, short, longer than the longest short one, and enough of them for several batches.
  static func sizes() -> [Int] { (0..<1100).map { $0 * 7 % 5000 } + [2 << 20, 9, (1 << 20) + 1, 1 << 20, 0, 5 << 20, 1] }

  static func bytes(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9 &+ number) }
  }

  static func tree(_ sizes: [Int]) throws -> ModelTree {
    let tree = try ModelTree()
    for (number, size) in sizes.enumerated() {
      try tree.write("org/name/1/\(number % 3)/\(number)", Data(bytes(number, size)))
    }
    return tree
  }

  @Test(arguments: [1, 2, 5]) func `each once, in their order, with the digests of their bytes`(jobs: Int) throws {
    let sizes = Self.sizes()
    let scan = try Self.tree(sizes).scan()
    let watch = Watch()
    var done: [HashedFile] = []
    try CatalogHasher(folder: scan.folder, jobs: jobs).hash(scan.files, watch) { number, hashed in
      #expect(number == done.count)
      done.append(hashed)
    }
    #expect(done.map(\.file.path) == scan.files.map(\.path))
    for hashed in done {
      let number = try #require(Int(hashed.file.path.description.split(separator: "/").last ?? ""))
      let bytes = Self.bytes(number, sizes[number])
      var tree = FSVerityHasher()
      tree.update(bytes.span)
      let expected = TargetFile(byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)), fsverity: tree.finalize())
      #expect(hashed.target == expected)
      #expect((hashed.segments != nil) == (bytes.count > 512 << 10))
    }
    #expect(watch.byteCount == sizes.reduce(0, +))
  }

  @Test(arguments: [1, 2, 5], [0, 1, 700, 1099]) func `of several that fail the first is told, after all before it`(jobs: Int, first: Int)
    throws
  {
    let tree = try Self.tree((0..<1100).map { $0 % 100 + 1 })
    let scan = try tree.scan()
    for index in first..<min(first + 40, scan.files.count) {
      try FileManager.default.removeItem(atPath: tree.path(scan.files[index].path.description))
    }
    var count = 0
    let expected = SigningError.changedWhileHashed(path: scan.files[first].path)
    #expect(throws: expected) { try CatalogHasher(folder: scan.folder, jobs: jobs).hash(scan.files, Watch()) { _, _ in count += 1 } }
    #expect(count == first)
  }

  @Test(arguments: [1, 2], [0, 1]) func `whoever wants to stop need not wait for the end`(jobs: Int, patience: Int) throws {
    let scan = try Self.tree((0..<1100).map { _ in 10 }).scan()
    let watch = Watch()
    watch.patience = patience
    var count = 0
    #expect(throws: SigningError.cancelled) {
      try CatalogHasher(folder: scan.folder, jobs: jobs).hash(scan.files, watch) { _, _ in count += 1 }
    }
    #expect(count < scan.files.count && (count > 0) == (patience > 0))
  }
}
