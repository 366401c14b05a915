/// What `<name>.verity` holds: for each segment of 512 KiB of a file, the SHA-256 of its block of the fs-verity tree, 32 bytes one after
/// another.
///
/// It needs no signature: a value is made only where the digests lead to the signed fs-verity digest. From then on each segment can be
/// verified by itself, in any order and on any thread, so that the first bad byte is found at once, and a file can be resumed, repaired and
/// fetched from several places. A file of at most one segment has no `.verity`.
public struct SegmentDigests: Equatable, Sendable {
  /// The number of bytes in a segment, the last one aside: 128 blocks, whose digests are one block of the tree.
  public static let segmentByteCount = 512 << 10

  /// The most bytes that a `.verity` may have: 128 MiB, for a file of 2 TiB.
  public static let byteLimit = 128 << 20

  /// The digests, as they stand in the file.
  public let bytes: [UInt8]
  /// The number of bytes in the file that they are of.
  public let fileLength: Int64

  /// The exact number of bytes in the `.verity` of a file: 32 for each segment.
  /// - Parameter fileLength: the signed number of bytes in the file.
  /// - Returns: nil where the file has no `.verity`: it is of 512 KiB or less, or so long that its `.verity` would exceed `byteLimit`.
  public static func byteCount(fileLength: Int64) -> Int? {
    guard fileLength > Int64(segmentByteCount) else { return nil }
    let count = (fileLength - 1) / Int64(segmentByteCount) + 1
    guard count <= Int64(byteLimit / SHA256Digest.byteCount) else { return nil }
    return Int(count) * SHA256Digest.byteCount
  }

  /// Checks the content of a `.verity` against what is signed of the file.
  /// - Parameters:
  ///   - bytes: the content of the `.verity`, from any source.
  ///   - fileLength: the signed number of bytes in the file.
  ///   - root: the signed fs-verity digest of the file.
  /// - Throws: `DigestError.noSegments`, `DigestError.segmentsLength` or `DigestError.segmentsRoot`.
  public init(bytes: [UInt8], fileLength: Int64, root: FSVerityDigest) throws(DigestError) {
    guard let expected = Self.byteCount(fileLength: fileLength) else { throw .noSegments(fileLength: fileLength) }
    guard bytes.count == expected else { throw .segmentsLength(expected: Int64(expected), actual: bytes.count) }
    // There are at least two segments, so that the tree has a level above theirs.
    var levels = HashLevels()
    levels.append(bytes.span)
    let actual = levels.finish(length: UInt64(fileLength))
    guard actual == root else { throw .segmentsRoot(expected: root, actual: actual) }
    self.init(trusted: bytes, fileLength: fileLength)
  }

  init(trusted bytes: [UInt8], fileLength: Int64) {
    self.bytes = bytes
    self.fileLength = fileLength
  }

  /// The number of segments, at least two.
  public var count: Int { bytes.count / SHA256Digest.byteCount }

  /// The fs-verity digest that the digests lead to.
  public var root: FSVerityDigest {
    var levels = HashLevels()
    levels.append(bytes.span)
    return levels.finish(length: UInt64(fileLength))
  }

  /// The bytes of the file that a segment is made of.
  /// - Parameter segment: from 0 to less than `count`.
  public func range(of segment: Int) -> Range<Int64> {
    precondition(segment >= 0 && segment < count, "there is no such segment")
    let start = Int64(segment) * Int64(Self.segmentByteCount)
    return start..<min(start + Int64(Self.segmentByteCount), fileLength)
  }

  /// The segment that a byte of the file stands in.
  /// - Parameter offset: from 0 to less than `fileLength`.
  public func segment(at offset: Int64) -> Int {
    precondition(offset >= 0 && offset < fileLength, "the file has no such byte")
    return Int(offset / Int64(Self.segmentByteCount))
  }

  /// The digest that a segment has to have.
  public func digest(of segment: Int) -> SHA256Digest {
    precondition(segment >= 0 && segment < count, "there is no such segment")
    return SHA256Digest(words: DigestWords(in: bytes.span, at: segment * SHA256Digest.byteCount))
  }

  /// Verifies a segment that is all at hand.
  /// - Throws: `DigestError.segmentLength` or `DigestError.segmentDigest`.
  public func verify(_ bytes: Span<UInt8>, segment: Int) throws(DigestError) {
    var verification = begin(segment)
    try verification.update(bytes)
    try verification.finish()
  }

  /// Begins to verify a segment that arrives in pieces.
  public func begin(_ segment: Int) -> SegmentVerification {
    let range = range(of: segment)
    return SegmentVerification(segment: segment, byteCount: Int(range.upperBound - range.lowerBound), expected: digest(of: segment))
  }
}

/// Holds one segment against its digest while it arrives: nothing of it is to be trusted before `finish`.
public struct SegmentVerification: ~Copyable, Sendable {
  /// Which segment it is, from 0.
  public let segment: Int
  /// The number of bytes that it has to have.
  public let byteCount: Int
  private let expected: SHA256Digest
  private var hasher = SegmentHasher()
  private var length = 0

  init(segment: Int, byteCount: Int, expected: SHA256Digest) {
    self.segment = segment
    self.byteCount = byteCount
    self.expected = expected
  }

  /// The number of bytes that are still to come.
  public var remaining: Int { byteCount - length }

  /// Adds what arrived next.
  /// - Throws: `DigestError.segmentLength` at the first byte too many.
  public mutating func update(_ bytes: Span<UInt8>) throws(DigestError) {
    guard bytes.count <= remaining else {
      let (actual, overflow) = length.addingReportingOverflow(bytes.count)
      throw .segmentLength(segment: segment, expected: byteCount, actual: overflow ? .max : actual)
    }
    length += bytes.count
    hasher.update(bytes)
  }

  /// Says that nothing more comes.
  /// - Throws: `DigestError.segmentLength` or `DigestError.segmentDigest`.
  public consuming func finish() throws(DigestError) {
    guard length == byteCount else { throw .segmentLength(segment: segment, expected: byteCount, actual: length) }
    let actual = hasher.finalize()
    guard actual == expected else { throw .segmentDigest(segment: segment, expected: expected, actual: actual) }
  }
}
