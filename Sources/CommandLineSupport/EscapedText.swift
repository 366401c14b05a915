/// Text that is safe to print on a terminal or in a report: one line, nothing invisible, nothing that moves the cursor or turns the reading
/// direction. It can only be made by escaping, so what is of this type needs no second look.
///
/// Controls, format and bidirectional characters, separators other than the plain space, private-use, unassigned and default-ignorable
/// characters are shown as `\u{…}`; bytes that are not UTF-8 as `\xNN`. A backslash is doubled only where it would otherwise read as the
/// start of such an escape, so every text has exactly one reading.
package struct EscapedText: Hashable, Sendable {
  /// The escaped text.
  package let text: String

  private init(alreadyEscaped text: String) { self.text = text }

  /// Escapes text.
  package init(_ text: String) {
    // Nearly all that is printed is plain ASCII, and stands for itself.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }) {
      self.init(alreadyEscaped: text)
      return
    }
    var escaper = Escaper()
    escaper.append(text)
    self.init(alreadyEscaped: escaper.text)
  }

  /// Escapes bytes that ought to be UTF-8 and need not be.
  package init(bytes: some Sequence<UInt8>) {
    var escaper = Escaper()
    escaper.append(bytes: Array(bytes))
    self.init(alreadyEscaped: escaper.text)
  }

  /// How many columns a terminal needs for it.
  package var columns: Int { text.unicodeScalars.reduce(0) { $0 + $1.columns } }

  /// As many of its leading characters as fit into a number of columns.
  package func prefix(columns limit: Int) -> EscapedText {
    var kept = String.UnicodeScalarView()
    var width = 0
    for scalar in text.unicodeScalars {
      width += scalar.columns
      if width > limit { break }
      kept.append(scalar)
    }
    return EscapedText(alreadyEscaped: String(kept))
  }

  package static func + (left: EscapedText, right: EscapedText) -> EscapedText {
    EscapedText(alreadyEscaped: left.text + right.text)
  }

  /// A number of spaces, none for a negative number.
  package static func spaces(_ count: Int) -> EscapedText { EscapedText(alreadyEscaped: String(repeating: " ", count: max(0, count))) }
}

extension EscapedText: CustomStringConvertible {
  package var description: String { text }
}

extension EscapedText: ExpressibleByStringInterpolation {
  package init(stringLiteral value: String) { self.init(value) }

  package init(stringInterpolation: StringInterpolation) { self.init(alreadyEscaped: stringInterpolation.escaped) }

  /// Escapes each part as it is appended, so that text which is escaped already is not escaped again.
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var escaped = ""

    package init(literalCapacity: Int, interpolationCount: Int) { escaped.reserveCapacity(literalCapacity) }

    package mutating func appendLiteral(_ literal: String) { escaped += EscapedText(literal).text }
    package mutating func appendInterpolation(_ value: EscapedText) { escaped += value.text }
    package mutating func appendInterpolation(bytes: some Sequence<UInt8>) { escaped += EscapedText(bytes: bytes).text }
    package mutating func appendInterpolation(_ value: some CustomStringConvertible) { escaped += EscapedText(value.description).text }
  }
}

/// Escapes an untrusted text for printing; see `EscapedText`.
package func escaped(_ text: String) -> String { EscapedText(text).text }

/// Escapes untrusted bytes for printing; see `EscapedText`.
package func escaped(bytes: some Sequence<UInt8>) -> String { EscapedText(bytes: bytes).text }

/// Builds one escaped text, holding a backslash back until it is known what follows it.
private struct Escaper {
  private var output = ""
  private var holdsBackslash = false

  /// What was escaped so far. A backslash at the end is doubled: what is printed after it must not turn it into an escape.
  var text: String { holdsBackslash ? output + "\\\\" : output }

  mutating func append(_ text: String) {
    for scalar in text.unicodeScalars { append(scalar) }
  }

  mutating func append(bytes: [UInt8]) {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var position = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        append(Unicode.UTF8.decode(encoded))
        position += encoded.count
      case .error(let length):
        for byte in bytes[position..<min(position + length, bytes.count)] {
          append(escape: "\\x" + hexadecimal(UInt32(byte), digits: 2))
        }
        position += length
      case .emptyInput:
        return
      }
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    if !scalar.isPrintable {
      append(escape: "\\u{" + hexadecimal(scalar.value, digits: 1) + "}")
    } else if scalar == "\\" {
      if holdsBackslash { output += "\\\\" }
      holdsBackslash = true
    } else {
      if holdsBackslash { output += scalar == "u" || scalar == "x" ? "\\\\" : "\\" }
      holdsBackslash = false
      output.unicodeScalars.append(scalar)
    }
  }

  private mutating func append(escape: String) {
    if holdsBackslash { output += "\\\\" }
    holdsBackslash = false
    output += escape
  }
}

/// Upper-case hexadecimal digits, filled up with zeros.
func hexadecimal(_ value: UInt32, digits: Int) -> String {
  let text = String(value, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
