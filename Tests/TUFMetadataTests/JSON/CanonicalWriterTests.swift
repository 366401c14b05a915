import Digests
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

  @Test func `writes of a file what its tree writes`() throws {
    let (sha256, sha512) = (SHA256.hash(of: [1]), try SHA512Digest(hexadecimal: [UInt8](repeating: UInt8(ascii: "a"), count: 128).span))
    let fsverity = FSVerityDigest(sha256: sha256)
    let hashes = [FileHashes(sha256: sha256), FileHashes(sha256: sha256, sha512: sha512)]
    for (path, byteCount) in [("a/b", 0), ("a/\"quoted\"", 1 << 53), ("é😀", Int64.max)] {
      for (hashes, fsverity) in hashes.flatMap({ [($0, nil), ($0, fsverity)] }) {
        let file = TargetFile(byteCount: byteCount, hashes: hashes, fsverity: fsverity)
        let written = try CanonicalWriter.object { writer throws(MetadataError) in try writer.target(TargetPath(path), file) }
        #expect(written == JSONTree.object([ByteString(path): file.tree]).canonicalBytes)
      }
    }
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
