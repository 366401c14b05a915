/// A SHA-256 digest: always 32 bytes, written as exactly 64 lower-case hexadecimal digits.
///
/// The digest syntax is enforced here and nowhere else: a value of this type cannot hold anything but a digest.
public struct SHA256Digest: Hashable, Sendable {
  /// The number of bytes in a digest.
  public static let byteCount = 32

  @usableFromInline let storage: InlineArray<4, UInt64>

  /// A digest of the given bytes.
  /// - Parameter bytes: exactly 32 bytes.
  /// - Throws: `DigestError.length` where there are more or fewer.
  public init(bytes: Span<UInt8>) throws(DigestError) {
    guard bytes.count == Self.byteCount else { throw .length(expected: Self.byteCount, actual: bytes.count) }
    storage = InlineArray { word in
      (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[word * 8 + $1]) }
    }
  }

  /// A digest read from its text.
  /// - Parameter hexadecimal: exactly 64 characters `0`–`9`, `a`–`f`, as bytes.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  public init(hexadecimal: Span<UInt8>) throws(DigestError) {
    let decoded = try Hexadecimal.decode(hexadecimal, byteCount: Self.byteCount)
    try self.init(bytes: decoded.span)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(Self.byteCount)
    for word in storage.indices {
      for shift in stride(from: 56, through: 0, by: -8) { result.append(UInt8(truncatingIfNeeded: storage[word] >> UInt64(shift))) }
    }
    return result
  }

  /// The 64 lower-case hexadecimal digits, as bytes.
  public var hexadecimal: [UInt8] { Hexadecimal.encode(bytes.span) }

  public static func == (left: Self, right: Self) -> Bool {
    left.storage[0] == right.storage[0] && left.storage[1] == right.storage[1] && left.storage[2] == right.storage[2]
      && left.storage[3] == right.storage[3]
  }

  public func hash(into hasher: inout Hasher) {
    // The words of a SHA-256 digest are already uniformly distributed.
    hasher.combine(storage[0])
    hasher.combine(storage[1])
  }
}

extension SHA256Digest: Comparable {
  /// Order of the bytes, which is also the order of the hexadecimal text.
  public static func < (left: Self, right: Self) -> Bool {
    for word in left.storage.indices where left.storage[word] != right.storage[word] {
      return left.storage[word] < right.storage[word]
    }
    return false
  }
}

extension SHA256Digest: CustomStringConvertible {
  public var description: String { String(decoding: hexadecimal, as: UTF8.self) }
}
