import Foundation
import TUFMetadata
import TestSupport
import Testing

@Suite struct `A path pattern matches within segments and never across a slash` {
  // TUF 1.0.34 §4.5 and FIELD-NOTES: "*" and "?" do not cross "/".
  static let cases: [(pattern: String, path: String, matches: Bool)] = [
    ("targets/*.tgz", "targets/foo.tgz", true), ("targets/*.tgz", "targets/foo.txt", false),
    ("foo-version-?.tgz", "foo-version-2.tgz", true), ("foo-version-?.tgz", "foo-version-alpha.tgz", false),
    ("*.tgz", "foo.tgz", true), ("*.tgz", "targets/foo.tgz", false), ("foo.tgz", "foo.tgz", true), ("foo.tgz", "Foo.tgz", false),
    ("*", "a", true), ("*", "a/b", false), ("*/*", "a/b", true), ("**", "a/b", false), ("a?b", "a/b", false), ("a[/]b", "a/b", false),
    ("a[!x]b", "a/b", false), ("", "a", false), ("a/", "a", false), ("/a", "a", false), ("?", "é", true), ("[é]", "é", true),
    ("??", "é", false),
    ("[!]a]x", "bx", true), ("[!]a]x", "]x", false), ("[]]", "]", true), ("[", "[", true), ("[a", "[a", true), ("[b-a]", "b", false),
    ("[!b-a]", "b", true), ("a[", "a[", true), ("[a-]", "-", true), ("*a*b*c", "xaybzc", true), ("*a*b*c", "xaybz", false),
  ]

  @Test(arguments: cases) func `a pattern matches what the specification and the shell say`(pattern: String, path: String, matches: Bool)
    throws
  {
    #expect(PathPattern(ByteString(pattern)).matches(try TargetPath(path)) == matches)
  }

  @Test func `random patterns match what Python's fnmatch matches, segment by segment`() throws {
    var random = SeededGenerator(seed: 20_261_130)
    func text(_ alphabet: String, _ counts: ClosedRange<Int>) -> String {
      String((0..<Int.random(in: counts, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
    }
    var pairs: [[String]] = []
    while pairs.count < 60_000 {
      let path = text("ab-]!é^/", 1...6)
      let pattern = text("ab*?[]!-é^/&~", 0...8)
      // Python first takes a reversed range out of a set, and then a "!" that has come to its beginning for a negation: "[b-a!c]" is
      // "[!c]" to it. Here a "!" negates only where it stands after the bracket.
      let isAmbiguous = pattern.contains("!") && (pattern.count { $0 == "[" } != 1 || !pattern.contains("[!"))
      if (try? TargetPath(path)) != nil, !isAmbiguous { pairs.append([pattern, path]) }
    }
    let input = try JSONEncoder().encode(pairs)
    let peer = try runChild(peerPython(), [peerScript("match_patterns.py")], input: Array(input)).successful()
    let answers = peer.text.split(separator: "\n")
    try #require(answers.count == pairs.count)
    // Otherwise nothing would be compared.
    #expect(answers.count { $0 == "1" } > 500)
    for (pair, answer) in zip(pairs, answers) {
      let matches = PathPattern(ByteString(pair[0])).matches(try TargetPath(pair[1]))
      if matches != (answer == "1") { Issue.record("\(pair[0]) and \(pair[1]): fnmatch says \(answer)") }
    }
  }

  @Test(arguments: [
    String(repeating: "*a", count: 2000), String(repeating: "[", count: 200_000), String(repeating: "[]", count: 100_000),
    String(repeating: "*", count: 200_000), "[" + String(repeating: "a-z", count: 60_000) + "]" + String(repeating: "[!]", count: 60_000),
  ]) func `a hostile pattern that would take hours if it were tried every way ends at once`(pattern: String) throws {
    let path = try TargetPath(String(repeating: "a", count: 254) + "b")
    #expect(!PathPattern(ByteString(pattern + "c")).matches(path))
  }
}
