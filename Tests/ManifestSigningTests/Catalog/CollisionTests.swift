import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("Names that a file system may take for one are refused")
struct CollisionTests {
  @Test(arguments: [
    ("a.gguf", "A.gguf"), ("stra\u{DF}e", "STRASSE"), ("stra\u{DF}e", "stra\u{1E9E}e"), ("\u{E9}", "e\u{301}"), ("\u{C9}", "e\u{301}"),
    ("\u{3C3}", "\u{3C2}"), ("\u{3A3}", "\u{3C2}"), ("k", "\u{212A}"), ("\u{E5}", "\u{212B}"), ("s", "\u{17F}"), ("\u{1C4}", "\u{1C5}"),
    ("\u{1FB3}\u{301}", "\u{3B1}\u{301}\u{3B9}"), ("\u{1FB4}", "\u{3B1}\u{345}\u{301}"), ("\u{AC00}", "\u{1100}\u{1161}"),
    ("a\u{200D}b", "ab"),
    ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{13A0}", "\u{AB70}"),
  ])
  func filesThatDifferOnlyByCaseOrSpelling(_ one: String, _ other: String) throws {
    let tree = try ModelTree()
    try tree.write("org/name/1/" + one, "x")
    try tree.write("org/name/1/" + other, "x")
    let problems = try tree.problems()
    #expect(Set(problems.map(\.path)) == [ByteString("org/name/1/" + one), ByteString("org/name/1/" + other)])
    #expect(problems.map(\.fault).contains(.collision(with: ByteString(one))))
    #expect(problems.map(\.fault).contains(.collision(with: ByteString(other))))
  }

  @Test func spellingsThatLookAlikeAreToldApart() throws {
    let tree = try ModelTree(file: "org/name/1/\u{E9}")
    try tree.write("org/name/1/e\u{301}", "x")
    let problems = try tree.problems().map(\.description)
    #expect(problems.count == 2 && problems[0].contains("(with U+00E9)") && problems[1].contains("(with U+0301)"), "\(problems)")
  }

  @Test(arguments: ["Org/x/1/a", "org/X/1/a", "org/x/V1/a"]) func folders(_ other: String) throws {
    let tree = try ModelTree(file: "org/x/v1/b")
    try tree.write(other, "x")
    let problems = try tree.problems()
    #expect(problems.count == 2)
    #expect(problems.allSatisfy { if case .collision = $0.fault { true } else { false } })
  }

  @Test(arguments: [("a", "b"), ("e", "\u{E9}"), ("\u{3B1}", "\u{1FB3}"), ("o", "0"), ("ss", "s"), ("\u{131}", "j")])
  func differentNamesAreNot(_ one: String, _ other: String) throws {
    let tree = try ModelTree()
    try tree.write("org/name/1/" + one, "x")
    try tree.write("org/name/1/" + other, "x")
    #expect(try tree.scan().files.count == 2)
  }

  @Test func oneNameInTwoFoldersIsNone() throws {
    let tree = try ModelTree(file: "org/name/1/a")
    try tree.write("org/name/2/A", "x")
    #expect(try tree.scan().files.count == 2)
  }

  /// Letters with and without accents, of scripts with case; any change of case or normal form must be seen.
  @Test func randomChangesOfCaseAndNormalFormAlwaysCollide() throws {
    var generator = SeededGenerator(seed: 20_261_130)
    let ranges: [ClosedRange<UInt32>] = [
      0x61...0x7A, 0xC0...0x24F, 0x370...0x3FF, 0x400...0x52F, 0x1E00...0x1FFF, 0x531...0x556, 0x300...0x30F,
    ]
    let letters = ranges.flatMap { $0.compactMap(Unicode.Scalar.init) }.filter {
      switch $0.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .nonspacingMark: true
      default: false
      }
    }
    let changes: [(String) -> String] = [
      { $0.lowercased() },
      // Swift's upper case of a subscript iota is right only for decomposed text (Unicode, D145): further accents would move to the iota.
      { $0.decomposedStringWithCanonicalMapping.uppercased() }, \.precomposedStringWithCanonicalMapping,
      \.decomposedStringWithCanonicalMapping,
    ]
    for _ in 0..<3000 {
      var name = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...8, using: &generator) { name.append(letters.randomElement(using: &generator) ?? "a") }
      var changed = String(name)
      for _ in 0..<Int.random(in: 1...4, using: &generator) { changed = (changes.randomElement(using: &generator) ?? { $0 })(changed) }
      let codes =
        String(name).unicodeScalars.map { String($0.value, radix: 16) } + ["|"] + changed.unicodeScalars.map { String($0.value, radix: 16) }
      #expect(CollisionKey(String(name)) == CollisionKey(changed), "\(codes)")
    }
  }
}
