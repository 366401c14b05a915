/// Bytes that stand as base64 or hexadecimal digits in some text, however it is wrapped and indented.
enum EncodedText {
  /// What a byte may be, as a set of bits.
  struct Class: OptionSet {
    let rawValue: UInt8

    static let base64 = Class(rawValue: 1)
    static let hexadecimal = Class(rawValue: 2)
    /// Blanks and line ends.
    static let blank = Class(rawValue: 4)
    /// What stands between the characters of UTF-16.
    static let zero = Class(rawValue: 8)
    /// What escapes begin with in a string of JSON, and what stands between pairs of digits.
    static let mark = Class(rawValue: 16)
  }

  /// The base64 of a key has more characters than this, and weights have no stretch of so many.
  static let leastEncoded = 40

  /// The classes of all bytes: every byte of a catalog's small files is looked up here.
  fileprivate static let classes: [UInt8] = (UInt8.min...UInt8.max).map { byte in
    var classes: Class = []
    if value(byte) != nil { classes.insert(.base64) }
    if digit(byte) != nil { classes.insert(.hexadecimal) }
    if byte == 0x20 || (0x09...0x0D).contains(byte) { classes.insert(.blank) }
    if byte == 0 { classes.insert(.zero) }
    if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: ":") { classes.insert(.mark) }
    return classes.rawValue
  }

  static func isBase64(_ byte: UInt8) -> Bool { value(byte) != nil }

  static func isHexadecimal(_ byte: UInt8) -> Bool { digit(byte) != nil }

  /// Characters of an alphabet that stand together in some bytes.
  struct Stretch {
    let alphabet: Class
    /// Where the first and the last stand; between them may be what is passed over.
    let range: Range<Int>
    let count: Int
    /// Whether they are hexadecimal digits one and all.
    let isHexadecimal: Bool

    fileprivate init(_ alphabet: Class, in bytes: Span<UInt8>, _ range: Range<Int>, _ classes: Span<UInt8>) {
      (self.alphabet, self.range) = (alphabet, range)
      var (count, digitCount) = (0, 0)
      for index in range {
        let its = Class(rawValue: classes[Int(bytes[index])])
        if !its.isDisjoint(with: alphabet) { count += 1 }
        if its.contains(.hexadecimal) { digitCount += 1 }
      }
      (self.count, isHexadecimal) = (count, count == digitCount)
    }

    /// - Parameter bytes: those that the stretch was found in.
    func characters(in bytes: Span<UInt8>) -> [UInt8] {
      let table = EncodedText.classes
      let classes = table.span
      var characters: [UInt8] = []
      characters.reserveCapacity(count)
      for index in range where classes[Int(bytes[index])] & alphabet.rawValue != 0 { characters.append(bytes[index]) }
      return characters
    }
  }

  /// Whether some stretch of characters of an alphabet is what is looked for.
  /// - Parameters:
  ///   - skipped: what is passed over within a stretch, rather than end it.
  ///   - count: the least number of characters that are of interest, at least 1.
  static func contains(
    in bytes: Span<UInt8>, _ alphabet: Class, passing skipped: Class, atLeast count: Int, _ isWanted: (Stretch) -> Bool
  ) -> Bool {
    let table = classes
    let classes = table.span
    let within = alphabet.union(skipped).rawValue
    var start = 0
    // What ends a stretch is looked for from the far end of the least that one has: in weights it mostly stands there, and the rest need not be
    // looked at.
    while start + count <= bytes.count {
      var end = start + count
      while end > start, classes[Int(bytes[end - 1])] & within != 0 { end -= 1 }
      guard end == start else {
        start = end
        continue
      }
      end = start + count
      while end < bytes.count, classes[Int(bytes[end])] & within != 0 { end += 1 }
      let stretch = Stretch(alphabet, in: bytes, start..<end, classes)
      if stretch.count >= count, isWanted(stretch) { return true }
      start = end
    }
    return false
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

  /// What some bytes are once the escapes of JSON's strings (RFC 8259 §7) are undone; nil where they part no text that is as long as a key's, as
  /// in weights. Escapes of what is not ASCII stay: no key's text holds any.
  static func withoutEscapes(_ bytes: Span<UInt8>) -> [UInt8]? {
    let parts = contains(in: bytes, .base64, passing: [.blank, .zero, .mark], atLeast: leastEncoded) { stretch in
      stretch.range.contains { escape(in: bytes, at: $0) != nil }
    }
    guard parts else { return nil }
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var next = 0
    while next < bytes.count {
      let (byte, length) = escape(in: bytes, at: next) ?? (bytes[next], 1)
      plain.append(byte)
      next += length
    }
    return plain
  }

  /// The byte that an escape stands for, and how many it takes.
  private static func escape(in bytes: Span<UInt8>, at index: Int) -> (byte: UInt8, length: Int)? {
    guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else { return nil }
    switch bytes[index + 1] {
    case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "\""): return (bytes[index + 1], 2)
    case UInt8(ascii: "n"): return (0x0A, 2)
    case UInt8(ascii: "r"): return (0x0D, 2)
    case UInt8(ascii: "t"): return (0x09, 2)
    case UInt8(ascii: "u"):
      guard index + 5 < bytes.count, bytes[index + 2] == UInt8(ascii: "0"), bytes[index + 3] == UInt8(ascii: "0"),
        let high = digit(bytes[index + 4]), high < 8, let low = digit(bytes[index + 5])
      else { return nil }
      return (high << 4 | low, 6)
    default: return nil
    }
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
