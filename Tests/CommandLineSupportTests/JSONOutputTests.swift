import CommandLineSupport
import Foundation
import TestSupport
import Testing

@Suite("JSON output is one object that any parser reads")
struct JSONOutputTests {
  @Test func memberOrderAndLayoutAreKept() {
    let value: JSONResult = ["z": 1, "a": [true, nil, "x"], "empty": [], "none": [:], "f": .number(0.5), "nan": .number(.nan)]
    #expect(
      value.text == """
        {
          "z": 1,
          "a": [
            true,
            null,
            "x"
          ],
          "empty": [],
          "none": {},
          "f": 0.5,
          "nan": null
        }
        """)
    #expect(value.compactText == #"{"z":1,"a":[true,null,"x"],"empty":[],"none":{},"f":0.5,"nan":null}"#)
    #expect(JSONResult.count(UInt64.max).text == "\"18446744073709551615\"")
  }

  @Test func whatCouldActOnATerminalIsEscaped() {
    #expect(JSONResult.string("a\"\\\n\u{1B}\u{202E}\u{E0041}é").text == #""a\"\\\n\u001B\u202E\uDB40\uDC41é""#)
  }

  @Test func pythonReadsBackWhatWasWritten() throws {
    var generator = SeededGenerator(seed: 11)
    let strings = (0..<500).map { _ in
      String(
        String.UnicodeScalarView(
          (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
            Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &generator) ? 0x300 : 0x10FFFF), using: &generator))
          }))
    }
    let document = JSONResult.array(strings.map { .object([.init($0, .string($0))]) })
    let program = """
      import sys, json
      for o in json.loads(sys.stdin.buffer.read().decode('utf-8')):
          (k, v), = o.items()
          assert k == v
          print(v.encode('utf-8').hex())
      """
    for text in [document.text, document.compactText] {
      #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value == 0x202E })
      let result = try Peer.python(program, input: Array(text.utf8))
      let expected = strings.map { $0.utf8.map { String(format: "%02x", $0) }.joined() }
      #expect(result.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) == expected)
    }
  }

  @Test func aResultAndAFailureMakeOneObject() throws {
    let run = try Sample.run(["--json", "key", "list"]) { _, output in
      output.line("not shown")
      output.note("noted")
      output.report("keys", ["a"])
      throw Failure(.signature, "bad \u{1B}", expected: "2", found: "1", at: "f", hint: "sign")
    }
    #expect(run.code == .signature)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect(object["keys"] as? [String] == ["a"])
    let error = try #require(object["error"] as? [String: Any])
    #expect(error["code"] as? String == "signature")
    #expect(error["exit"] as? Int == 10)
    #expect(error["message"] as? String == "bad \u{1B}")
    #expect(error["expected"] as? String == "2" && error["found"] as? String == "1")
    #expect(error["where"] as? String == "f" && error["hint"] as? String == "sign")
    #expect(run.error.contains("sample: error: bad \\u{1B}\n  expected: 2\n  found:    1\n  where:    f\n  hint:     sign\n"))
  }

  @Test func withoutJSONResultsAreLinesAndErrorsWords() throws {
    let run = try Sample.run(["--quiet", "key", "list"]) { _, output in
      output.line("a\nb")
      output.report("keys", ["a"])
      output.note("noted")
      output.warning("beware")
      throw Interrupted()
    }
    #expect(run.code == .interrupted)
    #expect(run.output == "a\\u{A}b\n")
    #expect(run.error.hasPrefix("sample: warning: beware\nsample: error: interrupted\n"))
  }

  @Test func anyOtherErrorIsExplainedByTheCommand() throws {
    struct Odd: Error {}
    let run = try Sample.run(["key", "list"]) { _, _ in throw Odd() }
    #expect(run.code == .failure)
    #expect(run.error == "sample: error: explained: Odd()\n")
  }
}
