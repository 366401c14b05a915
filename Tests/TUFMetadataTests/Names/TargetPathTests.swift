import TUFMetadata
import Testing

@Suite struct `A target path is relative and can harm no file system, terminal or URL` {
  static let good = [
    "a", "a/b", "org/model/weights.gguf", "...", ".hidden", "a..b", "..a/b..", "a b", "ü/é", "e\u{301}", "a:b", "#?%", "~", "-rf", "C:x",
    String(repeating: "x", count: 255), Array(repeating: String(repeating: "x", count: 255), count: 16).joined(separator: "/"),
  ]

  @Test(arguments: good) func `a path within the rules is kept byte for byte`(text: String) throws {
    let path = try TargetPath(text)
    #expect(path.name == ByteString(text))
    #expect(path.segments.map(\.description).joined(separator: "/").utf8.elementsEqual(text.utf8))
  }

  static let bad: [(rule: String, text: String)] = [
    ("of at least one character", ""), ("without a leading \"/\"", "/"), ("without a leading \"/\"", "/etc/passwd"),
    ("without a leading \"/\"", "//host/x"), ("without empty segments", "a//b"), ("without empty segments", "a/"),
    ("without \".\" segments", "."), ("without \".\" segments", "./a"), ("without \".\" segments", "a/./b"),
    ("without \".\" segments", "a/."),
    ("without \"..\" segments", ".."), ("without \"..\" segments", "../a"), ("without \"..\" segments", "a/../b"),
    ("without \"..\" segments", "a/.."), ("without control characters", "a\0b"), ("without control characters", "a\nb"),
    ("without control characters", "a\u{7F}"), ("without control characters", "\u{1B}[2J"), ("without control characters", "a\u{80}"),
    ("without control characters", "\u{9B}2J"), ("without control characters", "\u{9F}"), ("without a backslash", "a\\b"),
    ("without a backslash", "..\\a"), ("whose segments have at most 255 bytes", String(repeating: "x", count: 256)),
    ("whose segments have at most 255 bytes", "a/" + String(repeating: "ü", count: 128)),
    ("of at most 4096 bytes", Array(repeating: "abc", count: 1025).joined(separator: "/")),
  ]

  @Test(arguments: bad) func `a path that breaks a rule is refused by its name`(rule: String, text: String) {
    let error = #expect(throws: MetadataError.self) { try TargetPath(text) }
    guard case .invalidValue("", let expected, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(expected == "a target path \(rule)")
  }

  @Test(arguments: [[0xFF], [0x61, 0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xC2], [0x2E, 0xC2]] as [[UInt8]])
  func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
    #expect(throws: MetadataError.self) { try TargetPath(ByteString(bytes)) }
  }

  @Test func `the first letter behind the control characters is allowed`() throws {
    #expect(try TargetPath("\u{A0}").name.bytes == [0xC2, 0xA0])
  }

  @Test func `two spellings of one character are two paths`() throws {
    #expect(try TargetPath("\u{E9}") != TargetPath("e\u{301}"))
  }

  @Test func `paths are in the order of their bytes`() throws {
    let paths = try ["b", "a/b", "a", "a-b", "é", "z"].map(TargetPath.init).sorted()
    #expect(paths.map(\.description) == ["a", "a-b", "a/b", "b", "z", "é"])
  }

  @Test func `a prefix stands before the last segment`() throws {
    #expect(try TargetPath("a/b/c.d").prefixed(by: Array("hash".utf8)) == Array("a/b/hash.c.d".utf8))
    #expect(try TargetPath("c").prefixed(by: Array("hash".utf8)) == Array("hash.c".utf8))
  }
}
