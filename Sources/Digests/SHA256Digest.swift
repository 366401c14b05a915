/// A SHA-256 digest: always 32 bytes, written as exactly 64 lower-case hexadecimal digits.
///
/// The digest syntax is enforced here and nowhere else: a value of this type cannot hold anything but a digest.
public struct SHA256Digest: Hashable, Sendable {
  /// The number of bytes in a digest.
  public static let byteCount = 32

  let words: DigestWords<4>

  init(words: DigestWords<4>) { self.words = words }

  /// A digest of the given bytes.
  /// - Parameter bytes: exactly 32 bytes.
  /// - Throws: `DigestError.length` where there are more or fewer.
  public init(bytes: Span<UInt8>) throws(DigestError) { words = try DigestWords(bytes: bytes) }

  /// A digest read from its text.
  /// - Parameter hexadecimal: exactly 64 characters `0`–`9`, `a`–`f`, as bytes.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  public init(hexadecimal: Span<UInt8>) throws(DigestError) { words = try DigestWords(hexadecimal: hexadecimal) }

  /// The 32 bytes.
  public var bytes: [UInt8] { words.bytes }

  /// Appends the 32 bytes.
  package func append(to output: inout [UInt8]) { words.append(to: &output) }

  /// The 64 lower-case hexadecimal digits, as bytes.
  public var hexadecimal: [UInt8] {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * Self.byteCount)
    appendHexadecimal(to: &digits)
    return digits
  }

  /// Appends the 64 digits.
  package func appendHexadecimal(to output: inout [UInt8]) { words.appendHexadecimal(to: &output) }
}

extension SHA256Digest: Comparable {
  /// Order of the bytes, which is also the order of the hexadecimal text.
  public static func < (left: Self, right: Self) -> Bool { left.words < right.words }
}

extension SHA256Digest: CustomStringConvertible {
  public var description: String { String(decoding: hexadecimal, as: UTF8.self) }
}
