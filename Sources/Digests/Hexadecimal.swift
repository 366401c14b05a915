/// Lower-case hexadecimal text: the only form in which digests, keys and signatures are written.
package enum Hexadecimal {
  /// The bytes that a text stands for.
  /// - Parameters:
  ///   - text: two lower-case digits a byte.
  ///   - byteCount: how many bytes there must be.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  package static func decode(_ text: Span<UInt8>, byteCount: Int) throws(DigestError) -> [UInt8] {
    // Halves the text's count rather than doubles `byteCount`, which may come from input and be as large as an Int.
    guard text.count.isMultiple(of: 2), text.count / 2 == byteCount else {
      throw .hexadecimalLength(expected: byteCount.multipliedReportingOverflow(by: 2).partialValue, actual: text.count)
    }
    var result: [UInt8] = []
    result.reserveCapacity(byteCount)
    for index in 0..<byteCount {
      let high = try value(of: text[2 * index], at: 2 * index)
      let low = try value(of: text[2 * index + 1], at: 2 * index + 1)
      result.append(high << 4 | low)
    }
    return result
  }

  /// The big-endian word that the 16 digits from `offset` on stand for.
  ///
  /// Metadata may hold hundreds of thousands of digests, and a branch for each random digit is mispredicted more often than not, so
  /// eight digits at a time are judged and converted side by side in one register.
  /// - Precondition: the text has 16 characters from `offset` on.
  /// - Throws: `DigestError.hexadecimalDigit`, with the offset in `text`.
  static func word(in text: Span<UInt8>, at offset: Int) throws(DigestError) -> UInt64 {
    guard let high = eightDigits(in: text, at: offset), let low = eightDigits(in: text, at: offset + 8) else {
      // Off the fast path: find which digit it is.
      for index in offset..<offset + 16 { _ = try value(of: text[index], at: index) }
      return 0  // Unreachable, as one of the sixteen was refused above; the test of every byte at every place proves it.
    }
    return UInt64(high) << 32 | UInt64(low)
  }

  /// The 16 digits of a word, the first of each eight in the highest byte: eight are made side by side in one register, as they are read.
  static func digits(of word: UInt64) -> (high: UInt64, low: UInt64) {
    (eightDigits(of: UInt32(truncatingIfNeeded: word >> 32)), eightDigits(of: UInt32(truncatingIfNeeded: word)))
  }

  private static func eightDigits(of value: UInt32) -> UInt64 {
    var nibbles = UInt64(value)
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffff
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff
    nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f
    let each: UInt64 = 0x0101_0101_0101_0101
    // Of a nibble n, n + 6 has its fifth bit set exactly where n is a letter, which stands 39 further on than ten after `0` would.
    let letters = (nibbles &+ each &* 6) >> 4 & each
    return nibbles &+ each &* 0x30 &+ letters &* 39
  }

  /// Two lower-case digits for each byte.
  package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 2 * bytes.count)
    for index in 0..<bytes.count {
      result[2 * index] = digit(bytes[index] >> 4)
      result[2 * index + 1] = digit(bytes[index] & 15)
    }
    return result
  }

  static func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") &- 10) }

  private static func value(of digit: UInt8, at offset: Int) throws(DigestError) -> UInt8 {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: throw .hexadecimalDigit(found: digit, offset: offset)
    }
  }

  private static func eightDigits(in text: Span<UInt8>, at offset: Int) -> UInt32? {
    // Unsafe only in that padding could be read, of which UInt8 has none; the offset is checked.
    let characters = UInt64(bigEndian: unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    let each: UInt64 = 0x0101_0101_0101_0101
    let topBits = each &* 0x80
    // Of an ASCII byte c, c + (0x80 - n) has its top bit set exactly where c >= n; no sum reaches into the next byte.
    let ascii = characters & ~topBits
    let decimal = (ascii &+ each &* (0x80 - 0x30)) & ~(ascii &+ each &* (0x80 - 0x3a))
    let letter = (ascii &+ each &* (0x80 - 0x61)) & ~(ascii &+ each &* (0x80 - 0x67))
    guard characters & topBits == 0, (decimal | letter) & topBits == topBits else { return nil }
    // `0` is 0x30 and `a` is 0x61: the low half is the value, for a letter less 9.
    var nibbles = (characters & (each &* 0x0f)) &+ ((letter & topBits) >> 7) &* 9
    nibbles = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff
    nibbles = (nibbles | nibbles >> 8) & 0x0000_ffff_0000_ffff
    return UInt32(truncatingIfNeeded: nibbles | nibbles >> 16)
  }
}
