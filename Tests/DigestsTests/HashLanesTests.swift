import Digests
import TestSupport
import Testing

@Suite("Every way to hash many blocks at once gives the same digests")
struct HashLanesTests {
  /// One byte behind an odd offset, so that no vector is aligned.
  static let content: [UInt8] = {
    var generator = SeededGenerator(seed: 77)
    return generator.bytes(70 * 4096 + 3)
  }()

  static func segment(_ bytes: Span<UInt8>, _ lanes: HashLanes) -> SHA256Digest {
    var hasher = SegmentHasher(lanes)
    hasher.update(bytes)
    return hasher.finalize()
  }

  @Test("the plain way is always there, and the one that is taken is supported")
  func supported() {
    #expect(HashLanes.supported.contains(.plain) && HashLanes.supported.contains(.best))
  }

  @Test("a block's digest is libcrypto's", arguments: HashLanes.supported)
  func libcrypto(lanes: HashLanes) throws {
    // As many blocks as fill the lanes several times, and some over, each held against a hash of its own.
    let count = 67
    let content = Self.content
    var expected: [UInt8] = []
    for block in 0..<count { expected += SHA256.hash(of: content.span.extracting(block * 4096 + 1..<block * 4096 + 4097)).bytes }
    expected += [UInt8](repeating: 0, count: 4096 - expected.count)
    let digest = Self.segment(content.span.extracting(1..<count * 4096 + 1), lanes)
    let ofBlock = SHA256.hash(of: expected)
    #expect(digest == ofBlock)
  }

  @Test("at each number of blocks, and a byte to either side", arguments: HashLanes.supported)
  func boundaries(lanes: HashLanes) {
    let content = Self.content
    for blocks in 0...35 {
      for length in [blocks * 4096 - 1, blocks * 4096, blocks * 4096 + 1] where length >= 0 {
        for start in [0, 1] {
          let bytes = content.span.extracting(start..<start + length)
          let (digest, expected) = (Self.segment(bytes, lanes), Self.segment(bytes, .plain))
          #expect(digest == expected, "\(length) bytes from \(start)")
        }
      }
    }
  }

  @Test("at random lengths, in random pieces, the tree is the same", arguments: HashLanes.supported)
  func random(lanes: HashLanes) {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<12 {
      let length = Int.random(in: 0...FSVerityTests.segment * 3, using: &generator)
      let content = FSVerityTests.content.prefix(length)
      var hasher = FSVerityHasher(recordingSegments: true, lanes: lanes)
      var plain = FSVerityHasher(recordingSegments: true, lanes: .plain)
      plain.update(content.span)
      for piece in generator.pieces(of: length, largest: 100_000) { hasher.update(content.span.extracting(piece)) }
      let (digest, expected) = (hasher.finalizeWithSegments(), plain.finalizeWithSegments())
      #expect(digest.digest == expected.digest && digest.segments == expected.segments, "\(length) bytes")
    }
  }

  @Test("special blocks: all zeros, all ones, each block different in one bit", arguments: HashLanes.supported)
  func special(lanes: HashLanes) {
    for content in [[UInt8](repeating: 0, count: 48 * 4096), [UInt8](repeating: 0xFF, count: 48 * 4096)] {
      var changed = content
      let (digest, expected) = (Self.segment(content.span, lanes), Self.segment(content.span, .plain))
      #expect(digest == expected)
      for block in 0..<48 {
        changed[block * 4096 + block * 85] ^= 1
        let (digest, expected) = (Self.segment(changed.span, lanes), Self.segment(changed.span, .plain))
        #expect(digest == expected && digest != Self.segment(content.span, .plain), "block \(block)")
      }
    }
  }
}

@Suite("The tree that several threads compute is the one that a stream has")
struct ParallelTreeTests {
  enum Failure: Error { case broken }

  static let segment = SegmentDigests.segmentByteCount

  /// Runs all rounds, and returns the last round that was not a success, or the digest.
  static func run(
    _ content: ArraySlice<UInt8>, length: Int? = nil, known: SegmentDigests? = nil, jobs: Int, lanes: HashLanes = .best,
    failingAt: Int64? = nil
  ) -> (digest: FSVerityDigest?, end: ParallelTree<Failure>.Round?, byteCount: Int) {
    var tree = ParallelTree<Failure>(length: Int64(length ?? content.count), known: known, jobs: jobs, lanes: lanes)
    var byteCount = 0
    while true {
      let round = tree.next { buffer, offset, enough throws(Failure) in
        if let failingAt, offset >= failingAt { throw .broken }
        let found = content.dropFirst(Int(offset)).prefix(buffer.count)
        buffer.replaceSubrange(..<found.count, with: found)
        return found.count
      }
      switch round {
      case .hashed(byteCount: 0): return (tree.finalize(), nil, byteCount)
      case .hashed(let count): byteCount += count
      default: return (nil, round, byteCount)
      }
    }
  }

  @Test(
    "for any number of threads, with the segments known and without",
    arguments: [segment + 1, 2 * segment, 33 * segment - 5], [1, 2, 3, 64])
  func equal(length: Int, jobs: Int) throws {
    let made = try SegmentDigestsTests.Made(length: length)
    for known in [nil, made.segments] {
      let outcome = Self.run(made.content, known: known, jobs: jobs)
      #expect(outcome.digest == made.root && outcome.end == nil && outcome.byteCount == length)
    }
  }

  @Test("the first segment that differs is the one that is named", arguments: [1, 2, 7])
  func differs(jobs: Int) throws {
    let made = try SegmentDigestsTests.Made(length: 12 * Self.segment + 99)
    for bad in [[0], [12], [3, 4, 5, 11], [11, 12]] {
      var changed = made.content
      for segment in bad { changed[segment * Self.segment + 7] ^= 8 }
      let outcome = Self.run(changed, known: made.segments, jobs: jobs)
      guard case .differs(let segment, let actual)? = outcome.end else {
        Issue.record("\(bad) may differ")
        continue
      }
      #expect(segment == bad[0] && actual != made.segments.digest(of: segment))
      // Without them the digest of the whole tells.
      #expect(Self.run(changed, jobs: jobs).digest != made.root)
    }
  }

  @Test("content that ends early, and a read that fails, end it", arguments: [1, 4])
  func ends(jobs: Int) {
    let content = FSVerityTests.content.prefix(5 * Self.segment - 10)
    guard case .ended(at: let end)? = Self.run(content, length: 7 * Self.segment, jobs: jobs).end else {
      Issue.record("it may end early")
      return
    }
    #expect(end == Int64(content.count))
    guard case .failed(.broken)? = Self.run(content, jobs: jobs, failingAt: Int64(2 * Self.segment)).end else {
      Issue.record("a failure is lost")
      return
    }
  }
}
