internal import TUFMetadata

/// JSON for people: two spaces a level, members in a stated order, a line feed at the end. One value has one text.
struct PrettyJSON {
  private var output: [UInt8] = []
  private let ranks: [ByteString: Int]

  private init(order: [ByteString]) {
    var ranks: [ByteString: Int] = [:]
    for (rank, name) in order.enumerated() { ranks[name] = rank }
    self.ranks = ranks
  }

  /// - Parameter order: the members that stand first in every object, in this order; others follow in the order of their bytes.
  static func bytes(_ tree: JSONTree, order: [ByteString]) -> [UInt8] {
    var writer = Self(order: order)
    writer.append(tree, indent: 0)
    writer.append("\n")
    return writer.output
  }

  private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

  private mutating func append(_ tree: JSONTree, indent: Int) {
    switch tree {
    case .object(let members):
      let sorted = members.sorted { left, right in
        let (rank, other) = (ranks[left.key] ?? .max, ranks[right.key] ?? .max)
        return rank == other ? left.key < right.key : rank < other
      }
      appendList("{", sorted, "}", indent: indent) { writer, member in
        writer.append(string: member.key)
        writer.append(": ")
        writer.append(member.value, indent: indent + 1)
      }
    case .array(let elements):
      appendList("[", elements, "]", indent: indent) { writer, element in writer.append(element, indent: indent + 1) }
    case .string(let text): append(string: text)
    case .integer(let value): append(String(value))
    case .boolean(let value): append(value ? "true" : "false")
    case .null: append("null")
    }
  }

  private mutating func appendList<Item>(
    _ opening: String, _ items: [Item], _ closing: String, indent: Int, _ appendItem: (inout Self, Item) -> Void
  ) {
    append(opening)
    for (index, item) in items.enumerated() {
      append(index == 0 ? "\n" : ",\n")
      append(String(repeating: "  ", count: indent + 1))
      appendItem(&self, item)
    }
    if !items.isEmpty { append("\n" + String(repeating: "  ", count: indent)) }
    append(closing)
  }

  /// Escapes what JSON wants escaped, and nothing else.
  private mutating func append(string text: ByteString) {
    append("\"")
    for byte in text.bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x08: append("\\b")
      case 0x09: append("\\t")
      case 0x0A: append("\\n")
      case 0x0C: append("\\f")
      case 0x0D: append("\\r")
      case 0..<0x20: append(byte < 0x10 ? "\\u000\(String(byte, radix: 16))" : "\\u00\(String(byte, radix: 16))")
      default: output.append(byte)
      }
    }
    append("\"")
  }
}
