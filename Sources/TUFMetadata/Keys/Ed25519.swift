public import Digests

/// An Ed25519 public key: always 32 bytes. Whether they are a point of the curve is decided when a signature is checked.
public struct Ed25519PublicKey: Hashable, Sendable {
  /// The number of bytes in a public key.
  public static let byteCount = 32

  /// The 32 bytes, as RFC 8032 §5.1.5 encodes them.
  public let bytes: [UInt8]

  /// - Throws: `DigestError.length` where there are not exactly 32 bytes.
  public init(bytes: [UInt8]) throws(DigestError) {
    guard bytes.count == Self.byteCount else { throw .length(expected: Self.byteCount, actual: bytes.count) }
    self.bytes = bytes
  }

  /// - Parameter hexadecimal: exactly 64 lower-case hexadecimal digits.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  public init(hexadecimal: Span<UInt8>) throws(DigestError) {
    bytes = try Hexadecimal.decode(hexadecimal, byteCount: Self.byteCount)
  }
}

/// An Ed25519 signature: always 64 bytes.
public struct Ed25519Signature: Hashable, Sendable {
  /// The number of bytes in a signature.
  public static let byteCount = 64

  /// A place holder that is nobody's signature over anything.
  package static let zero = Ed25519Signature()

  /// The 64 bytes, as RFC 8032 §5.1.6 encodes them.
  public let bytes: [UInt8]

  private init() { bytes = [UInt8](repeating: 0, count: Self.byteCount) }

  /// - Throws: `DigestError.length` where there are not exactly 64 bytes.
  public init(bytes: [UInt8]) throws(DigestError) {
    guard bytes.count == Self.byteCount else { throw .length(expected: Self.byteCount, actual: bytes.count) }
    self.bytes = bytes
  }

  /// - Parameter hexadecimal: exactly 128 lower-case hexadecimal digits.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  public init(hexadecimal: Span<UInt8>) throws(DigestError) {
    bytes = try Hexadecimal.decode(hexadecimal, byteCount: Self.byteCount)
  }
}
