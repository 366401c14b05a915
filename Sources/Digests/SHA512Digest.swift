/// A SHA-512 digest: always 64 bytes, written as exactly 128 lower-case hexadecimal digits.
///
/// The digest syntax is enforced here and nowhere else: a value of this type cannot hold anything but a digest.
public struct SHA512Digest: Hashable, Sendable {
  /// The number of bytes in a digest.
  public static let byteCount = 64

  let words: DigestWords<8>

  init(words: DigestWords<8>) { self.words = words }

  /// A digest of the given bytes.
  /// - Parameter bytes: exactly 64 bytes.
  /// - Throws: `DigestError.length` where there are more or fewer.
  public init(bytes: Span<UInt8>) throws(DigestError) { words = try DigestWords(bytes: bytes) }

  /// A digest read from its text.
  /// - Parameter hexadecimal: exactly 128 characters `0`–`9`, `a`–`f`, as bytes.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  public init(hexadecimal: Span<UInt8>) throws(DigestError) { words = try DigestWords(hexadecimal: hexadecimal) }

  /// The 64 bytes.
  public var bytes: [UInt8] { words.bytes }

  /// The 128 lower-case hexadecimal digits, as bytes.
  public var hexadecimal: [UInt8] { Hexadecimal.encode(bytes.span) }
}

extension SHA512Digest: Comparable {
  /// Order of the bytes, which is also the order of the hexadecimal text.
  public static func < (left: Self, right: Self) -> Bool { left.words < right.words }
}

extension SHA512Digest: CustomStringConvertible {
  public var description: String { String(decoding: hexadecimal, as: UTF8.self) }
}
