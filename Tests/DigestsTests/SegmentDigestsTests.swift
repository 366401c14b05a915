import Digests
import TestSupport
import Testing

@Suite("A .verity is trusted only where it leads to the signed fs-verity digest")
struct SegmentDigestsTests {
  static let segment = SegmentDigests.segmentByteCount
  /// Each side of a segment, and of the 128 segments that fill a block of their digests.
  static let lengths = [
    segment + 1, segment + 4096, 2 * segment - 1, 2 * segment, 2 * segment + 1, 5 * segment + 12345, 128 * segment, 128 * segment + 1,
    129 * segment - 1,
  ]

  struct Missing: Error {}

  struct Made {
    let content: ArraySlice<UInt8>
    let root: FSVerityDigest
    let segments: SegmentDigests

    init(length: Int) throws {
      let content = FSVerityTests.content.prefix(length)
      self.content = content
      var hasher = FSVerityHasher(recordingSegments: true)
      hasher.update(content.span)
      let (digest, found) = hasher.finalizeWithSegments()
      root = digest
      guard let found else { throw Missing() }
      segments = found
    }
  }

  static func refusal(_ bytes: [UInt8], _ length: Int, _ root: FSVerityDigest) -> DigestError? {
    do throws(DigestError) {
      _ = try SegmentDigests(bytes: bytes, fileLength: Int64(length), root: root)
      return nil
    } catch { return error }
  }

  @Test("what the hasher yields in the same pass is accepted, and gives the same digest as without", arguments: lengths)
  func accepted(length: Int) throws {
    let made = try Made(length: length)
    var plain = FSVerityHasher()
    plain.update(made.content.span)
    let expected = plain.finalize()
    #expect(made.root == expected && made.segments.root == expected)
    #expect(made.segments.bytes.count == SegmentDigests.byteCount(fileLength: Int64(length)))
    #expect(made.segments.count == (length + Self.segment - 1) / Self.segment)
    let again = try SegmentDigests(bytes: made.segments.bytes, fileLength: Int64(length), root: expected)
    #expect(again == made.segments)
  }

  @Test("its ranges cover the file without a gap, and each segment verifies by itself, whole and in pieces", arguments: lengths)
  func ranges(length: Int) throws {
    let made = try Made(length: length)
    var generator = SeededGenerator(seed: UInt64(length))
    var end: Int64 = 0
    for segment in 0..<made.segments.count {
      let range = made.segments.range(of: segment)
      #expect(range.lowerBound == end && range.count <= Self.segment && !range.isEmpty)
      #expect(made.segments.segment(at: range.lowerBound) == segment && made.segments.segment(at: range.upperBound - 1) == segment)
      end = range.upperBound
      // All of them take long in a debug build; the first, the last ones and a few between do not.
      guard segment < 2 || segment + 2 >= made.segments.count || segment.isMultiple(of: 31) else { continue }
      let bytes = made.content.span.extracting(Int(range.lowerBound)..<Int(range.upperBound))
      try made.segments.verify(bytes, segment: segment)
      var verification = made.segments.begin(segment)
      for piece in generator.pieces(of: bytes.count, largest: 100_000) { try verification.update(bytes.extracting(piece)) }
      let remaining = verification.remaining
      #expect(remaining == 0)
      try verification.finish()
    }
    #expect(end == Int64(length))
  }

  @Test("one changed bit in any digest is refused", arguments: [2 * segment, 128 * segment, 129 * segment - 1])
  func corrupted(length: Int) throws {
    let made = try Made(length: length)
    for index in Set([0, 31, 32, made.segments.bytes.count / 2, made.segments.bytes.count - 1]) {
      var bytes = made.segments.bytes
      bytes[index] ^= 0x40
      guard case .segmentsRoot(made.root, let actual) = Self.refusal(bytes, length, made.root) else {
        Issue.record("byte \(index) may be anything")
        continue
      }
      #expect(actual != made.root)
    }
  }

  @Test("one that is truncated, over-long or empty is refused by its length, before it is hashed")
  func length() throws {
    let made = try Made(length: 3 * Self.segment)
    for count in [0, 1, 32, 64, 95, 97, 128, 4096] {
      let bytes = Array((made.segments.bytes + [UInt8](repeating: 0, count: 4096)).prefix(count))
      #expect(Self.refusal(bytes, 3 * Self.segment, made.root) == .segmentsLength(expected: 96, actual: count))
    }
  }

  @Test("one whose digests are swapped, and one of another file, are refused")
  func swapped() throws {
    let made = try Made(length: 3 * Self.segment)
    let bytes = made.segments.bytes
    let swapped = Array(bytes[32..<64] + bytes[..<32] + bytes[64...])
    var other = FSVerityHasher()
    other.update(swapped.span)
    guard case .segmentsRoot = Self.refusal(swapped, 3 * Self.segment, made.root) else {
      Issue.record("swapped digests are accepted")
      return
    }
    // A file of as many segments, whose last is one byte shorter: its length is part of the digest.
    #expect(Self.refusal(bytes, 3 * Self.segment - 1, made.root) != nil)
    #expect(Self.refusal(try Made(length: 3 * Self.segment - 1).segments.bytes, 3 * Self.segment, made.root) != nil)
  }

  @Test("a file of one segment has none", arguments: [0, 1, 4096, segment - 1, segment])
  func none(length: Int) throws {
    #expect(SegmentDigests.byteCount(fileLength: Int64(length)) == nil)
    #expect(SegmentDigests.byteCount(fileLength: -1) == nil && SegmentDigests.byteCount(fileLength: .max) == nil)
    var hasher = FSVerityHasher(recordingSegments: true)
    let content = FSVerityTests.content.prefix(length)
    hasher.update(content.span)
    let (root, segments) = hasher.finalizeWithSegments()
    #expect(segments == nil)
    #expect(Self.refusal([UInt8](repeating: 0, count: 32), length, root) == .noSegments(fileLength: Int64(length)))
  }

  @Test("a segment that differs, is cut, too long or another one is refused")
  func wrongSegment() throws {
    let made = try Made(length: 2 * Self.segment + 5000)
    func refusal(_ bytes: Span<UInt8>, _ segment: Int) -> DigestError? {
      do throws(DigestError) {
        try made.segments.verify(bytes, segment: segment)
        return nil
      } catch { return error }
    }
    let first = Array(made.content.prefix(Self.segment))
    let second = made.content.span.extracting(Self.segment..<2 * Self.segment)
    #expect(refusal(first.span, 0) == nil && refusal(second, 1) == nil)
    guard case .segmentDigest(0, let expected, let actual) = refusal(second, 0) else {
      Issue.record("another segment is accepted")
      return
    }
    #expect(expected == made.segments.digest(of: 0) && actual == made.segments.digest(of: 1))
    for index in [0, 4096, Self.segment - 1] {
      var changed = first
      changed[index] ^= 1
      #expect(refusal(changed.span, 0) != nil)
    }
    #expect(
      refusal(first.span.extracting(..<(Self.segment - 1)), 0)
        == .segmentLength(segment: 0, expected: Self.segment, actual: Self.segment - 1))
    #expect(refusal((first + [0]).span, 0) == .segmentLength(segment: 0, expected: Self.segment, actual: Self.segment + 1))
    #expect(refusal(first.span.extracting(..<5001), 2) == .segmentLength(segment: 2, expected: 5000, actual: 5001))
  }

  @Test("zeros at the end of a file are no part of its last segment")
  func padding() throws {
    let made = try Made(length: Self.segment + 100)
    let padded = Array(made.content.suffix(100)) + [UInt8](repeating: 0, count: 3996)
    #expect(throws: DigestError.segmentLength(segment: 1, expected: 100, actual: 4096)) {
      try made.segments.verify(padded.span, segment: 1)
    }
  }

  @Test("segments verify on several threads at once")
  func threads() async throws {
    let made = try Made(length: 6 * Self.segment + 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for segment in 0..<made.segments.count {
        group.addTask {
          let range = made.segments.range(of: segment)
          try made.segments.verify(made.content.span.extracting(Int(range.lowerBound)..<Int(range.upperBound)), segment: segment)
        }
      }
      try await group.waitForAll()
    }
  }
}
