/// Why a text or some bytes are not a digest.
public enum DigestError: Error, Equatable, Sendable {
  /// The number of bytes is not that of the digest.
  case length(expected: Int, actual: Int)
  /// The number of characters is not twice the number of bytes.
  case hexadecimalLength(expected: Int, actual: Int)
  /// A character is not one of `0`–`9`, `a`–`f`. Upper case is refused: one digest has one spelling.
  case hexadecimalDigit(found: UInt8, offset: Int)
  /// The text of an fs-verity digest does not begin with `sha256:`.
  case verityAlgorithm
  /// A file of so few bytes has no `.verity`: it is a single segment.
  case noSegments(fileLength: Int64)
  /// A `.verity` has not 32 bytes for each segment of its file.
  case segmentsLength(expected: Int64, actual: Int)
  /// A `.verity` is not of the file that was signed: its digests lead to another fs-verity digest.
  case segmentsRoot(expected: FSVerityDigest, actual: FSVerityDigest)
  /// A segment has another number of bytes. `actual` is what was found, at least.
  case segmentLength(segment: Int, expected: Int, actual: Int)
  /// A segment has another content.
  case segmentDigest(segment: Int, expected: SHA256Digest, actual: SHA256Digest)
}

extension DigestError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .length(let expected, let actual): "expected \(expected) bytes, found \(actual)"
    case .hexadecimalLength(let expected, let actual):
      "expected exactly \(expected) lower-case hexadecimal digits, found \(actual) characters"
    case .hexadecimalDigit(let found, let offset):
      "expected a lower-case hexadecimal digit at offset \(offset), found byte 0x\(String(found, radix: 16))"
    case .verityAlgorithm: "expected an fs-verity digest that begins with \"sha256:\""
    case .noSegments(let length):
      "expected a file of more than \(SegmentDigests.segmentByteCount) bytes, found \(length): a shorter one has no .verity"
    case .segmentsLength(let expected, let actual):
      "expected the \(expected) bytes of a .verity, \(SHA256Digest.byteCount) for each segment, found \(actual)"
    case .segmentsRoot(let expected, let actual):
      "expected a .verity of the file with the fs-verity digest \(expected), found one of \(actual)"
    case .segmentLength(let segment, let expected, let actual): "expected \(expected) bytes in segment \(segment), found \(actual)"
    case .segmentDigest(let segment, let expected, let actual):
      "expected segment \(segment) to have the digest sha256:\(expected), found sha256:\(actual)"
    }
  }
}
