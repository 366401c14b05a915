/// A strict scanner of JSON over a window of bytes: RFC 8259 without leniency, one token at a time, nothing built.
///
/// Of strings only what the caller asks for is kept; numbers are only unsigned 64-bit integers where a value is wanted.
struct JSONScanner {
  private(set) var window: ByteWindow
  private let depthLimit: Int

  init(window: ByteWindow, depthLimit: Int) {
    self.window = window
    self.depthLimit = depthLimit
  }

  var offset: UInt64 { window.offset }

  /// Passes one punctuation character, and the white space before it.
  mutating func expect(_ character: Unicode.Scalar, _ description: String? = nil) throws(ModelFormatError) {
    guard try consume(character) else { throw failure(.expected(description ?? "\"\(character)\"")) }
  }

  /// Passes a punctuation character if it is next.
  mutating func consume(_ character: Unicode.Scalar) throws(ModelFormatError) -> Bool {
    try skipWhitespace()
    guard try window.peek() == UInt8(ascii: character) else { return false }
    window.advance()
    return true
  }

  /// Refuses whatever is left but white space.
  mutating func expectEnd() throws(ModelFormatError) {
    try skipWhitespace()
    guard try window.peek() == nil else { throw failure(.expected("nothing but spaces after the object")) }
  }

  /// Whether another element follows in an object or array; passes the separator or the closing character.
  /// - Parameter first: whether no element came before.
  mutating func another(before close: Unicode.Scalar, first: Bool) throws(ModelFormatError) -> Bool {
    if try consume(close) { return false }
    if !first { try expect(",", "\",\" or \"\(close)\"") }
    return true
  }

  /// A string, unescaped.
  /// - Parameter limit: the most bytes that it may have.
  mutating func string(limit: Int) throws(ModelFormatError) -> [UInt8] {
    var result: [UInt8] = []
    try scanString(keeping: limit, into: &result)
    return result
  }

  /// An unsigned integer without sign, fraction, exponent or leading zero.
  mutating func unsignedInteger() throws(ModelFormatError) -> UInt64 {
    try skipWhitespace()
    let start = offset
    var value: UInt64 = 0
    var digits = 0
    while let byte = try window.peek(), Self.isDigit(byte) {
      guard digits == 0 || value != 0 else { throw .invalidJSON(offset: start, problem: .expected("a number without leading zeros")) }
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      guard !overflow, !carry else { throw .invalidJSON(offset: start, problem: .numberTooLarge) }
      value = sum
      digits += 1
      window.advance()
    }
    guard digits > 0 else { throw failure(.expected("a whole number of at least 0")) }
    if let byte = try window.peek(), [".", "e", "E"].contains(Character(Unicode.Scalar(byte))) {
      throw .invalidJSON(offset: start, problem: .expected("a whole number"))
    }
    return value
  }

  /// Passes any value, checked against the grammar.
  mutating func skipValue(depth: Int = 1) throws(ModelFormatError) {
    guard depth <= depthLimit else { throw .nestedTooDeeply(offset: offset, limit: depthLimit) }
    try skipWhitespace()
    var ignored: [UInt8] = []
    switch try window.peek().map({ Unicode.Scalar($0) }) {
    case "\"": try scanString(keeping: nil, into: &ignored)
    case "{":
      window.advance()
      var first = true
      while try another(before: "}", first: first) {
        try scanString(keeping: nil, into: &ignored)
        try expect(":")
        try skipValue(depth: depth + 1)
        first = false
      }
    case "[":
      window.advance()
      var first = true
      while try another(before: "]", first: first) {
        try skipValue(depth: depth + 1)
        first = false
      }
    case "t": try skipLiteral("true")
    case "f": try skipLiteral("false")
    case "n": try skipLiteral("null")
    default: try skipNumber()
    }
  }

  // MARK: Tokens

  func failure(_ problem: JSONProblem) -> ModelFormatError { .invalidJSON(offset: offset, problem: problem) }

  private mutating func skipWhitespace() throws(ModelFormatError) {
    while let byte = try window.peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { window.advance() }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private mutating func skipLiteral(_ literal: StaticString) throws(ModelFormatError) {
    for byte in literal.description.utf8 {
      guard try window.peek() == byte else { throw failure(.expected("\"\(literal)\"")) }
      window.advance()
    }
  }

  private mutating func skipNumber() throws(ModelFormatError) {
    if try window.peek() == UInt8(ascii: "-") { window.advance() }
    if try window.peek() == UInt8(ascii: "0") { window.advance() } else { try skipDigits("a value") }
    if try window.peek() == UInt8(ascii: ".") {
      window.advance()
      try skipDigits("a digit")
    }
    if let byte = try window.peek(), byte | 0x20 == UInt8(ascii: "e") {
      window.advance()
      if let sign = try window.peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { window.advance() }
      try skipDigits("a digit")
    }
  }

  private mutating func skipDigits(_ what: String) throws(ModelFormatError) {
    guard let first = try window.peek(), Self.isDigit(first) else { throw failure(.expected(what)) }
    while let byte = try window.peek(), Self.isDigit(byte) { window.advance() }
  }

  // MARK: Strings

  /// - Parameter limit: the most bytes to keep, beyond which the string is refused; nil keeps none and refuses none.
  private mutating func scanString(keeping limit: Int?, into result: inout [UInt8]) throws(ModelFormatError) {
    try expect("\"", "a string")
    let start = offset
    while true {
      guard let byte = try window.peek() else { throw failure(.expected("\"\\\"\" at the end of a string")) }
      switch byte {
      case UInt8(ascii: "\""):
        window.advance()
        return
      case UInt8(ascii: "\\"): try scanEscape(into: &result)
      case 0..<0x20: throw failure(.controlCharacter)
      case 0x20..<0x80:
        result.append(byte)
        window.advance()
      default: try scanMultibyte(first: byte, into: &result)
      }
      if let limit {
        guard result.count <= limit else { throw .tooMany(.json, found: offset - start, limit: UInt64(limit)) }
      } else {
        result.removeAll(keepingCapacity: true)
      }
    }
  }

  /// One character of two to four bytes: no overlong form, no surrogate, nothing beyond U+10FFFF (Unicode, table 3-7).
  private mutating func scanMultibyte(first: UInt8, into result: inout [UInt8]) throws(ModelFormatError) {
    let length: Int
    var next: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0xC2...0xDF: length = 1
    case 0xE0: (length, next) = (2, 0xA0...0xBF)
    case 0xED: (length, next) = (2, 0x80...0x9F)
    case 0xE1...0xEF: length = 2
    case 0xF0: (length, next) = (3, 0x90...0xBF)
    case 0xF1...0xF3: length = 3
    case 0xF4: (length, next) = (3, 0x80...0x8F)
    default: throw failure(.invalidUTF8)
    }
    result.append(first)
    window.advance()
    for _ in 0..<length {
      guard let byte = try window.peek(), next.contains(byte) else { throw failure(.invalidUTF8) }
      result.append(byte)
      window.advance()
      next = 0x80...0xBF
    }
  }

  private mutating func scanEscape(into result: inout [UInt8]) throws(ModelFormatError) {
    window.advance()
    guard let byte = try window.peek() else { throw failure(.invalidEscape) }
    let simple: UInt8? =
      switch Unicode.Scalar(byte) {
      case "\"", "\\", "/": byte
      case "b": 0x08
      case "f": 0x0C
      case "n": 0x0A
      case "r": 0x0D
      case "t": 0x09
      default: nil
      }
    guard simple != nil || byte == UInt8(ascii: "u") else { throw failure(.invalidEscape) }
    window.advance()
    if let simple {
      result.append(simple)
    } else {
      result.append(contentsOf: String(Character(try scanUnicodeEscape())).utf8)
    }
  }

  private mutating func scanUnicodeEscape() throws(ModelFormatError) -> Unicode.Scalar {
    let high = try scanHexadecimal()
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard high < 0xDC00 else { throw failure(.loneSurrogate) }
    for byte in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
      guard try window.peek() == byte else { throw failure(.loneSurrogate) }
      window.advance()
    }
    let low = try scanHexadecimal()
    guard low >= 0xDC00, low < 0xE000, let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) else {
      throw failure(.loneSurrogate)
    }
    return scalar
  }

  private mutating func scanHexadecimal() throws(ModelFormatError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = try window.peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw failure(.invalidEscape) }
      value = value << 4 | UInt32(digit)
      window.advance()
    }
    return value
  }
}
