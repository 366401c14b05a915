/// Lower-case hexadecimal text: the only form in which digests, keys and signatures are written.
package enum Hexadecimal {
  /// The bytes that a text stands for.
  /// - Parameters:
  ///   - text: two lower-case digits a byte.
  ///   - byteCount: how many bytes there must be.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  package static func decode(_ text: Span<UInt8>, byteCount: Int) throws(DigestError) -> [UInt8] {
    guard text.count == 2 * byteCount else { throw .hexadecimalLength(expected: 2 * byteCount, actual: text.count) }
    var result: [UInt8] = []
    result.reserveCapacity(byteCount)
    for index in 0..<byteCount {
      let high = try value(of: text[2 * index], at: 2 * index)
      let low = try value(of: text[2 * index + 1], at: 2 * index + 1)
      result.append(high << 4 | low)
    }
    return result
  }

  /// Two lower-case digits for each byte.
  package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(2 * bytes.count)
    for index in bytes.indices {
      result.append(digit(bytes[index] >> 4))
      result.append(digit(bytes[index] & 15))
    }
    return result
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }

  private static func value(of digit: UInt8, at offset: Int) throws(DigestError) -> UInt8 {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: throw .hexadecimalDigit(found: digit, offset: offset)
    }
  }
}
