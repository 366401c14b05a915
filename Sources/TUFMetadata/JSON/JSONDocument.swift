/// A JSON text that was read strictly: its bytes and a flat tape of its values, immutable.
///
/// RFC 8259, and stricter where two readers could understand one text differently: no duplicate members (names compared as bytes,
/// after unescaping), no fractions, exponents or integers beyond 64 signed bits (canonical JSON has integers only), no invalid
/// UTF-8, no lone surrogates, no byte order mark, nothing but white space after the value, and the nesting is bounded.
/// Unknown members are kept. Reading takes linear time, and n log n for an object whose n members are not sorted.
package struct JSONDocument: Sendable {
  let storage: JSONStorage

  /// - Throws: `MetadataError.syntax`, with the offset of the first wrong byte.
  package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(MetadataError) {
    var parser = JSONParser(source: bytes, limits: limits)
    try parser.parse(bytes.span)
    storage = JSONStorage(text: parser.text, tape: parser.tape)
  }

  /// The text as it was given.
  package var bytes: [UInt8] { storage.text.source }

  /// The value that the text is.
  package var root: JSONValue { JSONValue(storage: storage, index: storage.tape.count - 1) }
}

/// What all the values of one document share, so that a cursor costs one reference.
final class JSONStorage: Sendable {
  let text: JSONText
  /// Never empty; the root stands last.
  let tape: [JSONNode]

  init(text: JSONText, tape: [JSONNode]) {
    self.text = text
    self.tape = tape
  }
}
