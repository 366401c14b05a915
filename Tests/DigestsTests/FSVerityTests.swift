import Digests
import Foundation
import TestSupport
import Testing

@Suite("The fs-verity digest is what `fsverity digest` prints", .serialized)
struct FSVerityTests {
  static let segment = 512 << 10
  static let twoLevels = 64 << 20
  /// Each side of a block, of a level-0 hash block (128 data blocks) and of a level-1 hash block (128 × 128).
  static let boundaries = [
    0, 1, 4095, 4096, 4097, 8191, 8192, 8193, segment - 4096, segment - 1, segment, segment + 1, segment + 4096, segment + 4097,
    2 * segment - 1,
    2 * segment, 2 * segment + 1, twoLevels - segment, twoLevels - 4096, twoLevels - 1, twoLevels, twoLevels + 1, twoLevels + 4097,
    twoLevels + segment, twoLevels + segment + 1,
  ]

  /// Blocks that all differ, made once: in a debug build random bytes take longer than the digests.
  static let content: [UInt8] = {
    var generator = SeededGenerator(seed: 1)
    let piece = generator.bytes(1 << 20)
    var result: [UInt8] = []
    while result.count < twoLevels + (1 << 20) { result += piece }
    for block in 0..<result.count / 4096 {
      result[block * 4096 + 5] = UInt8(truncatingIfNeeded: block)
      result[block * 4096 + 4095] = UInt8(truncatingIfNeeded: block >> 8)
    }
    return result
  }()

  @Test("at every block and level boundary, whole and in pieces", arguments: boundaries)
  func boundary(length: Int) throws {
    var generator = SeededGenerator(seed: UInt64(length))
    let content = Self.content.span.extracting(..<length)
    let expected = try Self.reference(of: Self.content.prefix(length))
    var whole = FSVerityHasher()
    whole.update(content)
    let wholeDigest = whole.finalize().description
    #expect(wholeDigest == expected)
    var pieces = FSVerityHasher()
    for piece in generator.pieces(of: length, largest: 3 << 20) { pieces.update(content.extracting(piece)) }
    let piecesDigest = pieces.finalize().description
    #expect(piecesDigest == expected)
  }

  @Test("at random lengths, in random pieces", arguments: 1...25 as ClosedRange<UInt64>)
  func random(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let length = Int.random(in: 0...(1 << Int.random(in: 0...23, using: &generator)), using: &generator)
    let content = generator.bytes(length)
    var hasher = FSVerityHasher()
    for piece in generator.pieces(of: length, largest: 20_000) { hasher.update(content.span.extracting(piece)) }
    let digest = hasher.finalize().description
    #expect(digest == (try Self.reference(of: content)), "length \(length)")
  }

  @Test("byte by byte")
  func bytewise() throws {
    var generator = SeededGenerator(seed: 9)
    let content = generator.bytes(3 * 4096 + 5)
    var hasher = FSVerityHasher()
    for index in content.indices { hasher.update(content.span.extracting(index...index)) }
    let digest = hasher.finalize().description
    #expect(digest == (try Self.reference(of: content)))
  }

  @Test("1 GiB, with another content in every segment")
  func gibibyte() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
    defer { try? FileManager.default.removeItem(at: file) }
    var generator = SeededGenerator(seed: 30)
    var block = generator.bytes(1 << 20)
    let handle = try FileHandle(forWritingTo: file)
    var hasher = FSVerityHasher()
    for index in 0..<1024 {
      for half in 0..<2 { block[half * Self.segment] = UInt8(truncatingIfNeeded: index >> (half * 4)) }
      block[1] = UInt8(truncatingIfNeeded: index)
      block[2] = UInt8(truncatingIfNeeded: index >> 8)
      try handle.write(contentsOf: block)
      hasher.update(block.span)
    }
    try handle.close()
    let digest = hasher.finalize().description
    #expect(digest == (try Self.reference(file: file)))
  }

  @Test("files that differ only in zeros at the end have different digests")
  func length() {
    let digests = [0, 1, 4095, 4096, 4097, 8192].map { length in
      var hasher = FSVerityHasher()
      hasher.update([UInt8](repeating: 0, count: length).span)
      return hasher.finalize()
    }
    #expect(Set(digests).count == digests.count)
  }

  static func reference(of content: some DataProtocol) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(content).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try reference(file: file)
  }

  /// What `fsverity digest` (Debian package `fsverity`) prints before the file's name.
  static func reference(file: URL) throws -> String {
    String(try Peer.run("fsverity", "digest", file.path).prefix { $0 != " " })
  }
}
