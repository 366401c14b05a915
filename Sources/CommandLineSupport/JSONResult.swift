/// A JSON value (RFC 8259) whose members keep their order.
package enum JSONResult: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A number with a fraction; what is not finite is written as `null`.
  case number(Double)
  case string(String)
  case array([JSONResult])
  case object([Member])

  /// One member of an object.
  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: JSONResult

    package init(_ name: String, _ value: JSONResult) {
      self.name = name
      self.value = value
    }
  }

  /// An integer of any type; one that a signed 64-bit number can't hold is written as a string of digits.
  package static func count(_ value: some BinaryInteger) -> JSONResult {
    Int64(exactly: value).map(JSONResult.integer) ?? .string(value.description)
  }

  /// A string, or `null` where there is none.
  package static func optional(_ value: String?) -> JSONResult { value.map(JSONResult.string) ?? .null }

  /// The value as text: indented by two spaces a level, no newline at the end. Whatever could act on a terminal stands as `\uXXXX`.
  package var text: String {
    var writer = JSONWriter(isIndented: true)
    writer.append(self, level: 0)
    return writer.text
  }

  /// The value on one line without spaces.
  package var compactText: String {
    var writer = JSONWriter(isIndented: false)
    writer.append(self, level: 0)
    return writer.text
  }
}

extension JSONResult: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral {
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
}

extension JSONResult: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  package init(arrayLiteral elements: JSONResult...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONResult)...) { self = .object(elements.map { Member($0.0, $0.1) }) }
}

private struct JSONWriter {
  let isIndented: Bool
  private(set) var text = ""

  init(isIndented: Bool) { self.isIndented = isIndented }

  mutating func append(_ value: JSONResult, level: Int) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let value): text += value.isFinite ? String(value) : "null"
    case .string(let value): append(string: value)
    case .array(let elements):
      append(elements, between: "[", and: "]", level: level) { $0.append($1, level: level + 1) }
    case .object(let members):
      append(members, between: "{", and: "}", level: level) { writer, member in
        writer.append(string: member.name)
        writer.text += writer.isIndented ? ": " : ":"
        writer.append(member.value, level: level + 1)
      }
    }
  }

  private mutating func append<Element>(
    _ elements: [Element], between open: String, and close: String, level: Int, _ write: (inout JSONWriter, Element) -> Void
  ) {
    text += open
    var isFirst = true
    for element in elements {
      if !isFirst { text += "," }
      isFirst = false
      startLine(level + 1)
      write(&self, element)
    }
    if !isFirst { startLine(level) }
    text += close
  }

  private mutating func startLine(_ level: Int) {
    if isIndented { text += "\n" + String(repeating: "  ", count: level) }
  }

  private mutating func append(string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.isPrintable: text.unicodeScalars.append(scalar)
      default:
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { text += "\\u" + hexadecimal(UInt32(unit), digits: 4) }
      }
    }
    text += "\""
  }
}
