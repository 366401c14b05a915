import TUFMetadata
import Testing

@Suite struct `The JSON reader` {
  @Test func `reads each kind of value`() throws {
    let root = try read(#" {"o":{},"a":[1,"x"],"s":"\u00e9\ud83d\ude00/\/\n","i":-12,"t":true,"f":false,"n":null} "#)
    #expect(root.kind == .object && root.count == 7 && root.offset == 1)
    #expect(root["o"]?.kind == .object && root["o"]?.count == 0)
    #expect(root["a"]?.elements.map(\.kind) == [.integer, .string])
    #expect(root["a"]?.elements.last?.isString("x") == true)
    #expect(root["s"]?.string == ByteString("é😀//\n"))
    #expect(root["i"]?.integer == -12 && root["i"]?.string == nil && root["i"]?.boolean == nil && root["i"]?.count == 0)
    #expect(root["t"]?.boolean == true && root["f"]?.boolean == false && root["n"]?.kind == .null)
    #expect(root.member("absent") == nil && root["absent"] == nil && root["a"]?["x"] == nil)
  }

  @Test func `keeps unknown members, in byte order of their names`() throws {
    let root = try read(#"{"b":1,"\u0061":2,"ä":3,"aa":4,"":5,"\ud83d\ude00":6,"\uffee":7}"#)
    #expect(root.members.map(\.name) == ["", "a", "aa", "b", "ä", "\u{FFEE}", "😀"])
    #expect(root.members.map(\.value.integer) == [5, 2, 4, 1, 3, 7, 6])
    for (name, value) in root.members { #expect(root.member(name)?.offset == value.offset) }
  }

  @Test func `finds every member of a large object, in whatever order it was written`() throws {
    let names = (0..<5000).map { "models/\(UInt32(truncatingIfNeeded: $0 &* 2_654_435_761))/weights.gguf" }
    let root = try read("{" + names.enumerated().map { #""\#($1)":\#($0)"# }.joined(separator: ",") + "}")
    #expect(root.count == names.count)
    for (number, name) in names.enumerated() { #expect(root.member(ByteString(name))?.integer == Int64(number)) }
    #expect(root.member("models") == nil && root.member("n") == nil)
  }

  @Test func `hands out string bytes without a copy and compares them`() throws {
    let root = try read(#"["plain","esc\u0061ped",7]"#)
    #expect(root.elements[0].withStringBytes { $0.count } == 5)
    #expect(root.elements[1].withStringBytes { $0[3] } == UInt8(ascii: "a"))
    #expect(root.elements[2].withStringBytes { $0.count } == nil)
    #expect(root.elements[1].isString("escaped") && root.elements[1].equals(ByteString("escaped")))
    #expect(!root.elements[1].isString("escape") && !root.elements[2].isString("7"))
  }

  @Test func `takes two normal forms of one character for two names`() throws {
    let root = try read("{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(root.member(ByteString("\u{E9}"))?.integer == 1)
    #expect(root.member(ByteString("e\u{301}"))?.integer == 2)
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("-1", -1), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("1000000000000000000", 1_000_000_000_000_000_000),
    ] as [(String, Int64)])
  func `holds every integer of 64 signed bits`(text: String, value: Int64) throws {
    #expect(try read(text).integer == value)
    #expect(try read(text).canonicalText == String(value))
  }

  @Test(
    arguments: [
      ("", .empty, 0), (" \n", .empty, 2), ("\u{FEFF}{}", .byteOrderMark, 0), ("{} x", .trailingBytes, 3), ("[1]]", .trailingBytes, 3),
      ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3), ("[\"", .unexpectedEnd, 2), ("{\"a\"", .unexpectedEnd, 4),
      ("tru", .unexpectedEnd, 3),
      ("-", .unexpectedEnd, 1), ("\"\\", .unexpectedEnd, 2), ("\"\\u00", .unexpectedEnd, 5), ("[1,]", .unexpectedByte(0x5D), 3),
      ("{,", .unexpectedByte(0x2C), 1), ("{\"a\":1,}", .unexpectedByte(0x7D), 7), ("{1:2}", .unexpectedByte(0x31), 1),
      ("[1}", .unexpectedByte(0x7D), 2),
      ("{\"a\",1}", .unexpectedByte(0x2C), 4), ("[1 2]", .unexpectedByte(0x32), 3), ("nulL", .unexpectedByte(0x4C), 3),
      ("[-x]", .unexpectedByte(0x78), 2),
      ("[+1]", .unexpectedByte(0x2B), 1), ("[\u{A0}1]", .unexpectedByte(0xC2), 1), ("[\u{0C}1]", .unexpectedByte(0x0C), 1),
      ("[1.0]", .floatingPointNumber, 2), ("[12e3]", .floatingPointNumber, 3), ("[99999999999999999999E1]", .floatingPointNumber, 21),
      ("[012]", .leadingZero, 1), ("[-00]", .leadingZero, 2), ("[9223372036854775808]", .numberOutOfRange, 1),
      ("[-9223372036854775809]", .numberOutOfRange, 1), ("[18446744073709551617]", .numberOutOfRange, 1),
      ("[100000000000000000000000000000000000000000]", .numberOutOfRange, 1), ("[\"\\x\"]", .invalidEscape, 3),
      ("[\"\\u12G4\"]", .invalidEscape, 6),
      ("[\"ab\\uDC00\"]", .loneSurrogate, 4), ("[\"\\uD800\"]", .loneSurrogate, 2), ("[\"\\uD800\\n\"]", .loneSurrogate, 2),
      ("[\"\\uD800\\uD800\"]", .loneSurrogate, 2), ("[\"\\uD800\\u0041\"]", .loneSurrogate, 2), ("[\"a\tb\"]", .controlCharacter(9), 3),
      ("[\"12345678\u{0}\"]", .controlCharacter(0), 10), ("[\"1234567\u{1F}\"]", .controlCharacter(0x1F), 9),
    ] as [(String, JSONFault, Int)])
  func `names what is wrong and where`(text: String, expected: JSONFault, offset: Int) {
    #expect(fault(text) == .syntax(expected, offset: offset))
  }

  @Test(
    arguments: [
      ([0x80], 0), ([0xFF], 0), ([0xC0, 0xAF], 0), ([0xC1, 0x81], 0), ([0xC3, 0x41], 1), ([0xE0, 0x9F, 0x80], 1), ([0xE1, 0x80, 0x41], 2),
      ([0xED, 0xA0, 0x80], 1), ([0xED, 0xBF, 0xBF], 1), ([0xF0, 0x8F, 0x80, 0x80], 1), ([0xF4, 0x90, 0x80, 0x80], 1),
      ([0xF5, 0x80, 0x80, 0x80], 0),
      ([0xF0, 0x9F, 0x98, 0xC0], 3),
    ] as [([UInt8], Int)])
  func `refuses what is not UTF-8 at its first wrong byte, wherever in a word it stands`(sequence: [UInt8], wrong: Int) {
    for before in 0..<17 {
      let text = [0x22] + [UInt8](repeating: 0x61, count: before) + sequence + Array("aaaaaaaaaa\"".utf8)
      #expect(fault(text) == .syntax(.invalidUTF8, offset: 1 + before + wrong))
    }
  }

  @Test(arguments: ["\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"])
  func `takes the edges of UTF-8, written out and escaped`(character: String) throws {
    #expect(try read("\"\(character)\"").string == ByteString(character))
    let escaped = character.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    #expect(try read("\"\(escaped.joined())\"").string == ByteString(character))
  }

  @Test(arguments: [
    (#"{"a":1,"a":1}"#, "a", 7), (#"{"a":1,"\u0061":2}"#, "a", 7), (#"{"b":1,"c":2,"a":3,"c":4,"b":5,"x":6}"#, "c", 19),
    (#"{"a":1,"a":2,"b":x}"#, "a", 7), (#"{"a":1,"a""#, "a", 7), (#"{"a":1,"a":{"b":1,"b":2}}"#, "a", 7),
    (#"{"":1,"b":[{"k":1,"":2,"k":3}]}"#, "k", 23),
    (#"{"a":{"b":1,"b":2},"a":1}"#, "b", 12), (#"{"a":0,"a":1,"a":2}"#, "a", 7),
  ])
  func `refuses a name that stands twice in one object, at its second place`(text: String, name: String, offset: Int) {
    #expect(fault(text) == .syntax(.duplicateMember(name), offset: offset))
  }

  @Test func `lets one name stand in two objects`() throws {
    #expect(try read(#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#).count == 2)
  }

  @Test func `bounds nesting, length and number of values, exactly`() {
    func nested(_ depth: Int) -> [UInt8] { Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8) }
    #expect(fault(nested(32)) == nil)
    #expect(fault(nested(33)) == .syntax(.tooDeep(limit: 32), offset: 32))
    #expect(fault(nested(1000), limits: JSONLimits(depth: .max)) == nil)
    #expect(fault(nested(1001), limits: JSONLimits(depth: .max)) == .syntax(.tooDeep(limit: 1000), offset: 1000))
    #expect(fault(Array("1".utf8), limits: JSONLimits(depth: 0)) == nil)
    #expect(fault(nested(1), limits: JSONLimits(depth: 0)) == .syntax(.tooDeep(limit: 0), offset: 0))
    #expect(fault(nested(2), limits: JSONLimits(byteCount: 4)) == nil)
    #expect(fault(nested(2), limits: JSONLimits(byteCount: 3)) == .syntax(.tooLarge(limit: 3), offset: 3))
    #expect(fault(Array("[0,0]".utf8), limits: JSONLimits(valueCount: 3)) == nil)
    #expect(fault(Array(#"{"a":0}"#.utf8), limits: JSONLimits(valueCount: 2)) == .syntax(.tooManyValues(limit: 2), offset: 0))
    #expect(fault(Array("[0,0,0]".utf8), limits: JSONLimits(valueCount: 2)) == .syntax(.tooManyValues(limit: 2), offset: 5))
  }

  @Test(arguments: ["[", "{\"a\":", "[{\"\":"]) func `survives 100,000 opening brackets`(opening: String) {
    let text = Array(String(repeating: opening, count: 100_000).utf8)
    for limits in [JSONLimits(), JSONLimits(depth: .max)] {
      guard case .syntax(.tooDeep(limits.depth), _) = fault(text, limits: limits) else {
        Issue.record("not refused for its depth")
        continue
      }
    }
  }
}
