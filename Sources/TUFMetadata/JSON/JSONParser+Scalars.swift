extension JSONParser {
  // MARK: Numbers

  /// Reads an integer; `position` stands on its sign or first digit.
  mutating func parseInteger(_ source: Span<UInt8>) throws(MetadataError) -> JSONNode {
    let start = position
    let isNegative = source[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let first = position
    var magnitude: UInt64 = 0
    while position < source.count, case let digit = source[position] &- UInt8(ascii: "0"), digit <= 9 {
      // Nineteen digits fit; with more the number is refused below.
      magnitude = magnitude &* 10 &+ UInt64(digit)
      position += 1
    }
    let digitCount = position - first
    if digitCount == 0 { throw .syntax(position < source.count ? .unexpectedByte(source[position]) : .unexpectedEnd, offset: position) }
    if digitCount > 1 && source[first] == UInt8(ascii: "0") { throw .syntax(.leadingZero, offset: first) }
    if position < source.count {
      switch source[position] {
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): throw .syntax(.floatingPointNumber, offset: position)
      default: break
      }
    }
    guard digitCount <= 19, magnitude <= UInt64(Int64.max) + (isNegative ? 1 : 0) else {
      throw .syntax(.numberOutOfRange, offset: start)
    }
    let value = Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude)
    // The one other spelling of an integer is -0.
    return .integer(value, start: start, end: position, canonical: !(isNegative && magnitude == 0))
  }

  // MARK: Strings

  /// Reads a string; `position` stands on its opening quote.
  mutating func parseString(_ source: Span<UInt8>) throws(MetadataError) -> JSONNode {
    let start = position
    position += 1
    var runStart = position
    var isDecoded = false
    var isCanonical = true
    while true {
      skipPlainBytes(source)
      switch try byte(source) {
      case UInt8(ascii: "\""):
        if isDecoded {
          text.appendSource(runStart..<position)
        }
        position += 1
        guard isDecoded else { return .plainString(start: start, end: position) }
        let number = text.nextNumber
        text.endString()
        return .decodedString(start: start, end: position, number: number, canonical: isCanonical)
      case UInt8(ascii: "\\"):
        isDecoded = true
        text.appendSource(runStart..<position)
        if try !parseEscape(source) { isCanonical = false }
        runStart = position
      case let byte where byte < 0x20: throw .syntax(.controlCharacter(byte), offset: position)
      default: try skipMultibyteCharacter(source)
      }
    }
  }

  /// Steps over ASCII that stands for itself in a string, eight bytes at a time.
  @inline(__always)
  private mutating func skipPlainBytes(_ source: Span<UInt8>) {
    var index = position
    let lastWord = source.count - 8
    let ones: UInt64 = 0x0101_0101_0101_0101
    while index <= lastWord {
      let word = source.word(at: index)
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      // The high bit of each byte that was below 0x20, a quote, a backslash or not ASCII. A borrow can set a wrong bit only
      // above the lowest right one, and only the lowest is used.
      let special =
        ((word &- ones &* 0x20) & ~word) | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | word
      let hits = special & (ones &* 0x80)
      if hits != 0 {
        position = index + hits.trailingZeroBitCount / 8
        return
      }
      index += 8
    }
    while index < source.count, case let byte = source[index], byte >= 0x20, byte < 0x80, byte != 0x22, byte != 0x5C { index += 1 }
    position = index
  }

  /// Steps over one character of two to four bytes (Unicode 16, table 3-7: no overlong form, no surrogate, nothing above U+10FFFF).
  @inline(__always)
  private mutating func skipMultibyteCharacter(_ source: Span<UInt8>) throws(MetadataError) {
    let lead = source[position]
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0:
      length = 3
      second = 0xA0...0xBF
    case 0xED:
      length = 3
      second = 0x80...0x9F
    case 0xE1...0xEF: length = 3
    case 0xF0:
      length = 4
      second = 0x90...0xBF
    case 0xF1...0xF3: length = 4
    case 0xF4:
      length = 4
      second = 0x80...0x8F
    default: throw .syntax(.invalidUTF8, offset: position)
    }
    for index in 1..<length {
      guard position + index < source.count else { throw .syntax(.unexpectedEnd, offset: source.count) }
      let allowed = index == 1 ? second : 0x80...0xBF
      guard allowed.contains(source[position + index]) else { throw .syntax(.invalidUTF8, offset: position + index) }
    }
    position += length
  }

  /// Decodes one escape; `position` stands on its backslash.
  /// - Returns: whether canonical JSON has the same escape.
  private mutating func parseEscape(_ source: Span<UInt8>) throws(MetadataError) -> Bool {
    let start = position
    position += 1
    let letter = try byte(source)
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      text.append(letter)
      return true
    case UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): appendCharacter(try parseUnicodeEscape(source, start: start))
    default: throw .syntax(.invalidEscape, offset: position - 1)
    }
    return false
  }

  /// Reads what follows `\u`, and the second half of a surrogate pair with its own `\u`.
  /// - Parameter start: of the backslash.
  private mutating func parseUnicodeEscape(_ source: Span<UInt8>, start: Int) throws(MetadataError) -> UInt32 {
    let unit = try parseFourDigits(source)
    guard unit & 0xF800 == 0xD800 else { return unit }
    guard unit & 0x0400 == 0, position + 1 < source.count, source[position] == UInt8(ascii: "\\"),
      source[position + 1] == UInt8(ascii: "u")
    else { throw .syntax(.loneSurrogate, offset: start) }
    position += 2
    let low = try parseFourDigits(source)
    guard low & 0xFC00 == 0xDC00 else { throw .syntax(.loneSurrogate, offset: start) }
    return 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
  }

  private mutating func parseFourDigits(_ source: Span<UInt8>) throws(MetadataError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let digit = try byte(source)
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(digit & 15)
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(digit & 7 + 9)
      default: throw .syntax(.invalidEscape, offset: position)
      }
      position += 1
    }
    return value
  }

  /// Appends a character as UTF-8. It is below 0x110000 and no surrogate.
  private mutating func appendCharacter(_ character: UInt32) {
    func byte(_ shift: UInt32, _ mark: UInt32, _ mask: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: character >> shift & mask | mark) }
    switch character {
    case ..<0x80: text.append(byte(0, 0, 0x7F))
    case ..<0x800:
      text.append(byte(6, 0xC0, 0x1F))
      text.append(byte(0, 0x80, 0x3F))
    case ..<0x10000:
      text.append(byte(12, 0xE0, 0x0F))
      text.append(byte(6, 0x80, 0x3F))
      text.append(byte(0, 0x80, 0x3F))
    default:
      text.append(byte(18, 0xF0, 0x07))
      text.append(byte(12, 0x80, 0x3F))
      text.append(byte(6, 0x80, 0x3F))
      text.append(byte(0, 0x80, 0x3F))
    }
  }
}
