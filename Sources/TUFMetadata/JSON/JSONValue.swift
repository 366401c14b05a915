/// One value of a `JSONDocument`: a cursor, cheap to copy.
package struct JSONValue: Sendable {
  /// What a JSON value can be here; there are no fractions.
  package enum Kind: UInt8, Sendable { case object, array, string, integer, boolean, null }

  let storage: JSONStorage
  let index: Int

  var node: JSONNode { storage.tape[index] }

  package var kind: Kind { node.kind }

  /// Where its first byte stands in the source, for messages.
  package var offset: Int { Int(node.start) }

  /// The bytes of the source that it was read from.
  package var sourceRange: Range<Int> { node.sourceRange }

  /// How many members or elements it has; 0 where it is neither object nor array.
  package var count: Int {
    switch kind {
    case .object: node.childCount / 2
    case .array: node.childCount
    case .string, .integer, .boolean, .null: 0
    }
  }

  /// The members in byte order of their names; none where it is no object.
  package var members: JSONMembers {
    JSONMembers(storage: storage, first: Int(node.link), count: kind == .object ? count : 0)
  }

  /// The elements in their order; none where it is no array.
  package var elements: JSONElements {
    JSONElements(storage: storage, first: Int(node.link), count: kind == .array ? count : 0)
  }

  /// The value of a member, found by binary search.
  package func member(_ name: ByteString) -> JSONValue? { members.value(named: name.bytes.span) }

  /// The value of a member whose name stands in the program: nothing is allocated.
  package subscript(_ name: StaticString) -> JSONValue? {
    guard name.hasPointerRepresentation else { return member(ByteString(name.description)) }
    // The text of a literal lives as long as the program.
    let text = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    return members.value(named: unsafe text.span)
  }

  /// The string, its escapes decoded; nil where it is none.
  package var string: ByteString? { kind == .string ? storage.text.string(node) : nil }

  /// Hands out the bytes of the string without allocating; nil where it is none.
  package func withStringBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard kind == .string else { return nil }
    return try storage.text.withString(node, body)
  }

  /// Whether it is the string that stands in the program: nothing is allocated.
  package func isString(_ text: StaticString) -> Bool {
    guard text.hasPointerRepresentation else { return string == ByteString(text.description) }
    // The text of a literal lives as long as the program.
    let expected = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return withStringBytes { bytes in bytes.byteOrder(to: unsafe expected.span) == 0 } ?? false
  }

  /// Whether it is this string: nothing is allocated.
  package func equals(_ text: ByteString) -> Bool {
    withStringBytes { bytes in bytes.byteOrder(to: text.bytes.span) == 0 } ?? false
  }

  package var integer: Int64? { kind == .integer ? node.integer : nil }

  package var boolean: Bool? { kind == .boolean ? node.boolean : nil }
}
