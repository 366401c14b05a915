/// The canonical form that TUF signs: OLPC's canonical JSON, as securesystemslib's `encode_canonical` writes it.
///
/// No white space; members in byte order of their names (for UTF-8 the order of the code points); integers in decimal; in strings only
/// `"` and `\` are escaped, by a backslash. Every other character stands for itself, control characters too, so the canonical form of
/// a string that holds one is not itself JSON: it is only ever signed, never read.
enum CanonicalJSON {
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")

  /// Appends a string in quotes.
  /// - Parameter range: where it stands in `bytes`.
  static func appendString(_ bytes: [UInt8], in range: Range<Int>, to output: inout [UInt8]) {
    output.append(quote)
    let text = bytes.span.extracting(range)
    var start = 0
    while case let special = text.firstEscaped(from: start), special < text.count {
      output.append(contentsOf: bytes[range.lowerBound + start..<range.lowerBound + special])
      output.append(backslash)
      output.append(text[special])
      start = special + 1
    }
    output.append(contentsOf: bytes[range.lowerBound + start..<range.upperBound])
    output.append(quote)
  }

  static func appendString(_ text: ByteString, to output: inout [UInt8]) {
    appendString(text.bytes, in: text.bytes.indices, to: &output)
  }

  static func appendInteger(_ value: Int64, to output: inout [UInt8]) { output.append(contentsOf: String(value).utf8) }

  static func append(boolean: Bool, to output: inout [UInt8]) {
    output.append(contentsOf: boolean ? "true".utf8 : "false".utf8)
  }

  static func appendNull(to output: inout [UInt8]) { output.append(contentsOf: "null".utf8) }
}

extension JSONValue {
  /// Where its canonical form stands in the source, if it was written canonically; then there is nothing to copy.
  package var canonicalSlice: Range<Int>? { node.isCanonical ? node.sourceRange : nil }

  /// Its canonical form.
  package var canonicalBytes: [UInt8] {
    var output: [UInt8] = []
    appendCanonical(to: &output)
    return output
  }

  /// Hands out its canonical form, which is copied only if the source is not canonical.
  package func withCanonicalBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if let range = canonicalSlice {
      let source = storage.text.source
      return try body(source.span.extracting(range))
    }
    let bytes = canonicalBytes
    return try body(bytes.span)
  }

  /// Appends its canonical form.
  package func appendCanonical(to output: inout [UInt8]) {
    // The canonical form is never longer than the source. Only an empty output is grown: growing an array that is appended to again
    // and again to exactly what the next value needs would copy it each time.
    if output.isEmpty { output.reserveCapacity(sourceRange.count) }
    storage.appendCanonical(node, to: &output)
  }
}

extension JSONStorage {
  /// Recursive: the parser bounds the depth.
  fileprivate func appendCanonical(_ node: JSONNode, to output: inout [UInt8]) {
    if node.isCanonical {
      output.append(contentsOf: text.source[node.sourceRange])
      return
    }
    let children = Int(node.link)..<Int(node.link) + node.childCount
    switch node.kind {
    case .object:
      output.append(UInt8(ascii: "{"))
      for name in stride(from: children.lowerBound, to: children.upperBound, by: 2) {
        if name > children.lowerBound { output.append(UInt8(ascii: ",")) }
        appendCanonical(tape[name], to: &output)
        output.append(UInt8(ascii: ":"))
        appendCanonical(tape[name + 1], to: &output)
      }
      output.append(UInt8(ascii: "}"))
    case .array:
      output.append(UInt8(ascii: "["))
      for element in children {
        if element > children.lowerBound { output.append(UInt8(ascii: ",")) }
        appendCanonical(tape[element], to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .string: CanonicalJSON.appendString(text.decoded, in: text.decodedRange(node), to: &output)
    case .integer: CanonicalJSON.appendInteger(node.integer, to: &output)
    case .boolean: CanonicalJSON.append(boolean: node.boolean, to: &output)
    case .null: CanonicalJSON.appendNull(to: &output)
    }
  }
}
