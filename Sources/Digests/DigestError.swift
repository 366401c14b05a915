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
    }
  }
}
