/// Bytes that stand as base64 or hexadecimal digits in some text, however it is wrapped and indented.
enum EncodedText {
  static func isBase64(_ byte: UInt8) -> Bool { value(byte) != nil }

  static func isHexadecimal(_ byte: UInt8) -> Bool { digit(byte) != nil }

  /// Blanks and line ends, and the zero bytes of UTF-16.
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0 }

  /// Whether some stretch of characters of an alphabet, with blanks and line ends in between or without, is what is looked for.
  /// - Parameters:
  ///   - isJoined: whether blanks and line ends are passed over, rather than end a stretch.
  ///   - count: the least number of characters that are of interest.
  static func contains(
    in bytes: Span<UInt8>, _ isIn: (UInt8) -> Bool, isJoined: Bool, atLeast count: Int, _ isWanted: ([UInt8]) -> Bool
  ) -> Bool {
    var stretch: [UInt8] = []
    for index in bytes.indices {
      let byte = bytes[index]
      if isIn(byte) {
        stretch.append(byte)
      } else if !isJoined || !isBlank(byte) {
        if stretch.count >= count, isWanted(stretch) { return true }
        stretch.removeAll(keepingCapacity: true)
      }
    }
    return stretch.count >= count && isWanted(stretch)
  }

  /// What base64 characters stand for, of either alphabet; what is left of the last four is dropped.
  static func decodeBase64(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 3)
    var (bits, count): (UInt32, Int) = (0, 0)
    for character in text {
      bits = bits << 6 | UInt32(value(character) ?? 0)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }

  /// What hexadecimal digits of either case stand for, two by two.
  static func decodeHexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    var high: UInt8?
    for character in text {
      let low = digit(character) ?? 0
      if let first = high {
        bytes.append(first << 4 | low)
        high = nil
      } else {
        high = low
      }
    }
    return bytes
  }

  private static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
