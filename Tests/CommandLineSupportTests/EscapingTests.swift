import CommandLineSupport
import TestSupport
import Testing

@Suite("Nothing that is printed can act on a terminal")
struct EscapingTests {
  @Test(
    "each dangerous text is shown, not done",
    arguments: [
      ("plain – ümläut 模型 🦙", "plain – ümläut 模型 🦙"),
      ("a\nb\r\t", "a\\u{A}b\\u{D}\\u{9}"),
      ("\u{1B}[31mred", "\\u{1B}[31mred"),
      ("\u{7F}\u{9B}", "\\u{7F}\\u{9B}"),
      ("gpj.\u{202E}exe", "gpj.\\u{202E}exe"),
      ("\u{2066}\u{200B}\u{FEFF}\u{00AD}", "\\u{2066}\\u{200B}\\u{FEFF}\\u{AD}"),
      ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"),
      ("\u{E000}\u{F0000}\u{0378}\u{FFFE}", "\\u{E000}\\u{F0000}\\u{378}\\u{FFFE}"),
      ("\u{A0}\u{3164}\u{FE0F}\u{E0041}", "\\u{A0}\\u{3164}\\u{FE0F}\\u{E0041}"),
      ("C:\\models", "C:\\models"), ("\\u{41}", "\\\\u{41}"), ("\\x41", "\\\\x41"), ("\\\\", "\\\\\\\\"), ("\\\n", "\\\\\\u{A}"),
    ])
  func dangerousTextIsShown(text: String, shown: String) {
    #expect(escaped(text) == shown)
    #expect(escaped(bytes: Array(text.utf8)) == shown)
  }

  @Test(
    "bytes that are not UTF-8 are shown as bytes",
    arguments: [
      ([0xFF, 0x41], "\\xFFA"), ([0xC3], "\\xC3"), ([0xC3, 0x41], "\\xC3A"), ([0xE2, 0x82], "\\xE2\\x82"), ([0xC0, 0x80], "\\xC0\\x80"),
      ([0xED, 0xA0, 0x80, 0x42], "\\xED\\xA0\\x80B"), ([0xF4, 0x90, 0x80, 0x80], "\\xF4\\x90\\x80\\x80"), ([0x5C, 0xFF], "\\\\\\xFF"),
    ] as [([UInt8], String)])
  func invalidUTF8IsShown(bytes: [UInt8], shown: String) {
    #expect(escaped(bytes: bytes) == shown)
  }

  @Test func noScalarOfUnicodeGetsThrough() {
    for start in stride(from: UInt32(0), through: 0x10FFFF, by: 1024) {
      // The planes from 4 on are empty or private but for the tags: one block in 32 of them is enough.
      guard start < 0x40000 || (0xE0000..<0xE2000).contains(start) || start % 0x8000 == 0 else { continue }
      let text = String(String.UnicodeScalarView((start..<start + 1024).compactMap(Unicode.Scalar.init)))
      if let scalar = escaped(text).unicodeScalars.first(where: acts) {
        Issue.record("U+\(String(scalar.value, radix: 16)) is printed as itself")
      }
    }
  }

  @Test func randomBytesAreHarmlessAndKeepOneReading() throws {
    var generator = SeededGenerator(seed: 7)
    let alphabet: [UInt8] = Array("\\\\ux{}0AF \n".utf8) + [0x80, 0xBF, 0xC2, 0xE2, 0x80, 0xAE, 0xF0, 0x9F, 0xA6, 0x99, 0xFF]
    for _ in 0..<3000 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        Bool.random(using: &generator) ? alphabet.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255, using: &generator)
      }
      let shown = escaped(bytes: bytes)
      #expect(!shown.unicodeScalars.contains(where: acts))
      #expect(unescaped(shown) == bytes)
    }
  }

  @Test func interpolationEscapesEachPartOnce() {
    let name = "a\nb"
    let inner: EscapedText = "<\(name)>"
    let outer: EscapedText = "\(inner) \(bytes: [0xFF]) \(12)\\"
    #expect(outer.text == "<a\\u{A}b> \\xFF 12\\\\")
  }

  /// Categories spelt out apart from the implementation.
  private func acts(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    if (0x20..<0x7F).contains(value) { return false }
    if value < 0x20 || (0x7F...0x9F).contains(value) { return true }
    if [0xAD, 0x61C, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x3164, 0xFEFF].contains(value) { return true }
    if (0x202A...0x202E).contains(value) || (0x2060...0x206F).contains(value) || (0xFE00...0xFE0F).contains(value) { return true }
    return (0xE000...0xF8FF).contains(value) || value >= 0xE0000
  }

  private func unescaped(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch (scalar, rest.first) {
      case ("\\", "\\"):
        rest.removeFirst()
        result.append(0x5C)
      case ("\\", "x"):
        result.append(UInt8(String(String.UnicodeScalarView(rest.dropFirst().prefix(2))), radix: 16) ?? 0)
        rest = rest.dropFirst(3)
      case ("\\", "u"):
        let digits = rest.dropFirst(2).prefix { $0 != "}" }
        let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16).flatMap(Unicode.Scalar.init)
        result += Array(String(value ?? "?").utf8)
        rest = rest.dropFirst(digits.count + 3)
      default:
        result += Array(String(scalar).utf8)
      }
    }
    return result
  }
}
