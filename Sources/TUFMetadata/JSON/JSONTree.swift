/// A JSON value that is built to be written.
package enum JSONTree: Equatable, Sendable {
  case object([ByteString: JSONTree])
  case array([JSONTree])
  case string(ByteString)
  case integer(Int64)
  case boolean(Bool)
  case null

  /// All that a value holds, unknown members included.
  package init(_ value: JSONValue) {
    switch value.kind {
    case .object:
      var members = [ByteString: JSONTree](minimumCapacity: value.count)
      for (name, member) in value.members { members[name] = JSONTree(member) }
      self = .object(members)
    case .array: self = .array(value.elements.map(JSONTree.init))
    case .string: self = .string(value.storage.text.string(value.node))
    case .integer: self = .integer(value.node.integer)
    case .boolean: self = .boolean(value.node.boolean)
    case .null: self = .null
    }
  }

  /// Its canonical form.
  package var canonicalBytes: [UInt8] {
    var output: [UInt8] = []
    appendCanonical(to: &output)
    return output
  }

  /// Appends its canonical form.
  package func appendCanonical(to output: inout [UInt8]) {
    switch self {
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      var isFirst = true
      for (name, member) in members.sorted(by: { $0.key.bytes.span.byteOrder(to: $1.key.bytes.span) < 0 }) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        CanonicalJSON.appendString(name, to: &output)
        output.append(UInt8(ascii: ":"))
        member.appendCanonical(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      var isFirst = true
      for element in elements {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        element.appendCanonical(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .string(let text): CanonicalJSON.appendString(text, to: &output)
    case .integer(let value): CanonicalJSON.appendInteger(value, to: &output)
    case .boolean(let value): CanonicalJSON.append(boolean: value, to: &output)
    case .null: CanonicalJSON.appendNull(to: &output)
    }
  }
}
