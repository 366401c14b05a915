import TUFMetadata
import Testing

@Suite struct `The canonical writer` {
  @Test func `writes what the tree of the same members writes`() throws {
    let inner: JSONTree = .object(["z": .array([.null, .string("\"\\\n")]), "y": .boolean(true)])
    let parsed = try read(#"{ "u": "\u0041", "t": [ ] }"#)
    let written = try CanonicalWriter.object { writer throws(MetadataError) in
      try writer.boolean("a", false)
      try writer.integer("b", .min)
      try writer.object("c") { writer throws(MetadataError) in
        try writer.string("a", "\\")
        try writer.object("b") { _ throws(MetadataError) in }
      }
      try writer.value("d", inner)
      try writer.value("e", parsed)
      try writer.canonical("f", Array("[1]".utf8))
    }
    let tree: JSONTree = .object([
      "f": .array([.integer(1)]), "e": JSONTree(parsed), "d": inner, "c": .object(["b": .object([:]), "a": .string("\\")]),
      "b": .integer(.min),
      "a": .boolean(false),
    ])
    #expect(written == tree.canonicalBytes)
  }

  @Test(arguments: [("b", "a"), ("a", "a"), ("aa", "a"), ("😀", "\u{FFEE}")])
  func `refuses a member out of order`(first: String, second: String) {
    #expect(throws: MetadataError.self) {
      try CanonicalWriter.object { writer throws(MetadataError) in
        try writer.integer(ByteString(first), 1)
        // An object between them does not hide the order of the outer names.
        try writer.object(ByteString(second)) { _ throws(MetadataError) in }
      }
    }
    #expect(throws: MetadataError.self) {
      try CanonicalWriter.object { writer throws(MetadataError) in
        try writer.object(ByteString(first)) { writer throws(MetadataError) in try writer.integer("", 0) }
        try writer.integer(ByteString(second), 1)
      }
    }
  }
}
