import CommandLineSupport
import Foundation
import Testing

@Suite("A command line is understood whole or refused by name")
struct ParserTests {
  @Test(
    "options and arguments arrive as given",
    arguments: [
      ["publish", "--key", "a", "--key=b", "--threshold", "3", "--stage", "models", "--format=gguf"],
      ["--json", "publish", "models", "--format", "gguf", "--key", "a", "--stage", "--threshold=3", "--key", "b"],
    ])
  func everythingArrives(words: [String]) throws {
    let run = try Sample.run(words)
    #expect(run.code == .done, "\(run.error)")
    let invocation = try #require(run.invocation)
    #expect(invocation.values("--key") == ["a", "b"])
    #expect(invocation.integer("--threshold") == 3)
    #expect(invocation.flag("--stage"))
    #expect(invocation.value("--format") == "gguf")
    #expect(invocation.value("DIR") == "models")
    #expect(invocation.flag("--json") == words.contains("--json"))
  }

  @Test func defaultsHoldWhereNothingIsGiven() throws {
    let invocation = try #require(try Sample.run(["publish", "--key", "k"]).invocation)
    #expect(invocation.requiredInteger("--threshold") == 1)
    #expect(!invocation.isGiven("--threshold"))
    #expect(!invocation.flag("--stage"))
    #expect(invocation.value("DIR") == nil)
    #expect(invocation.value("--format") == nil)
  }

  @Test func twoDashesEndTheOptions() throws {
    let invocation = try #require(try Sample.run(["check", "--", "--all", "-h", "--json"]).invocation)
    #expect(invocation.values("PATH") == ["--all", "-h", "--json"])
    #expect(!invocation.flag("--json"))
  }

  @Test func aVerbMayHaveTwoWords() throws {
    let invocation = try #require(try Sample.run(["key", "generate", "NAME"]).invocation)
    #expect(invocation.verb == "key generate")
    #expect(invocation.value("NAME") == "NAME")
  }

  @Test func aNegativeNumberIsAValue() throws {
    #expect(try Sample.run(["check", "--offset", "-5", "p"]).invocation?.integer("--offset") == -5)
  }

  static let refusals: [(words: [String], says: [String])] = [
    ([], ["no verb is given"]),
    (["publsh"], ["there is no verb “publsh”", "did you mean “sample publish”?"]),
    (["key"], ["“key” needs a second word", "key generate, key list"]),
    (["key", "genrate"], ["there is no verb “key genrate”", "did you mean “sample key generate”?"]),
    (["--threshold", "publish"], ["--threshold stands before the verb"]),
    (["publish", "--treshold=2"], ["there is no option --treshold here", "did you mean --threshold?", "sample publish --help"]),
    (["publish", "--thresh", "2"], ["there is no option --thresh here"]),
    (["publish", "-s"], ["there is no option -s here"]),
    (["publish", "--key"], ["--key has no value", "--key FILE"]),
    (["publish", "--key", "--stage"], ["--key has no value", "--key=FILE"]),
    (["publish", "--key="], ["the value of --key is empty"]),
    (["publish", "--key", ""], ["the value of --key is empty"]),
    (["publish", "--stage=yes"], ["--stage takes no value"]),
    (["publish"], ["--key FILE is missing"]),
    (["publish", "--key", "k", "a", "b"], ["there is one argument too many", "“b”"]),
    (["publish", "--key", "k", "--threshold", "0"], ["--threshold is not a number in its range", "from 1 to 16", "“0”"]),
    (["publish", "--key", "k", "--threshold", "+3"], ["--threshold is not a number", "“+3”"]),
    (["publish", "--key", "k", "--threshold", "99999999999999999999"], ["--threshold is not a number"]),
    (["publish", "--key", "k", "--threshold", "3x"], ["--threshold is not a number"]),
    (["publish", "--key", "k", "--format", "zip"], ["--format is not one of its choices", "gguf, safetensors"]),
    (["publish", "--key", "k", "--threshold", "2", "--threshold", "2"], ["--threshold is given twice"]),
    (["--json", "publish", "--json", "--key", "k"], ["--json is given twice"]),
    (["check", "p", "--all", "--fresh"], ["--all and --fresh exclude each other"]),
    (["check"], ["PATH is missing"]),
    (["help", "nothing"], ["there is no verb “nothing”"]),
  ]

  @Test("each mistake is named, with what to run next", arguments: refusals)
  func eachMistakeIsNamed(words: [String], says: [String]) throws {
    let run = try Sample.run(words)
    #expect(run.code == .usage)
    #expect(run.invocation == nil)
    for text in says { #expect(run.error.contains(text)) }
    #expect(run.error.hasPrefix("sample: error: "))
    #expect(run.error.contains("--help”"))
    let json = words.contains("--json")
    #expect(run.output.isEmpty == !json)
  }

  @Test(
    "help is given wherever it is asked for, whatever else is wrong",
    arguments: [
      ["publish", "--help"], ["--help", "publish"], ["-h", "publish"], ["publish", "-h", "--nonsense"], ["help", "publish"],
      ["publish", "--key", "--help"],
    ])
  func helpWins(words: [String]) throws {
    let run = try Sample.run(words)
    #expect(run.code == .done)
    #expect(run.error.isEmpty)
    #expect(run.output == Sample.publishHelp)
  }

  @Test func helpOnEverythingNamesEveryVerb() throws {
    let run = try Sample.run(["help"])
    #expect(run.output == Sample.help)
    #expect(try Sample.run(["--help"]).output == run.output)
    let group = try Sample.run(["key", "--help"]).output
    #expect(group.contains("key generate") && group.contains("key list") && !group.contains("publish"))
  }

  @Test func noHelpLineIsWiderThanATerminal() throws {
    for words in [["help"], ["help", "publish"], ["help", "check"], ["help", "key", "generate"], ["help", "key"]] {
      for line in try Sample.run(words).output.split(separator: "\n") { #expect(line.count <= 80) }
    }
  }

  @Test func versionIsPrinted() throws {
    #expect(try Sample.run(["--version"]).output == "sample 4.5.6\n")
    let json = try Sample.run(["--version", "--json"]).output
    #expect(json == "{\n  \"name\": \"sample\",\n  \"version\": \"4.5.6\"\n}\n")
  }

  @Test func aMistypedWordOfAnyLengthIsAnsweredAtOnce() throws {
    let run = try Sample.run(["publish", "--" + String(repeating: "x", count: 1_000_000)])
    #expect(run.code == .usage)
  }
}
