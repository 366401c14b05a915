/// A program with verbs, as a table: what it accepts, what its help says, and what runs.
package struct Command: Sendable {
  /// The program's name: `manifest-sign`.
  package let name: String
  package let version: String
  /// One sentence with its full stop.
  package let summary: String
  package let verbs: [Verb]
  /// Puts an error of any module into words, with its hint and exit code.
  package let explain: @Sendable (any Error) -> Failure

  package init(name: String, version: String, summary: String, verbs: [Verb], explain: @escaping @Sendable (any Error) -> Failure) {
    self.name = name
    self.version = version
    self.summary = summary
    self.verbs = verbs
    self.explain = explain
  }
}

/// One verb of a command.
package struct Verb: Sendable {
  /// A command line to copy, and what it does.
  package struct Example: Hashable, Sendable {
    package let line: String
    package let meaning: String

    package init(_ line: String, _ meaning: String) {
      self.line = line
      self.meaning = meaning
    }
  }

  /// What the verb does. It prints through the output, and throws a `Failure` or whatever the command's `explain` can explain.
  package typealias Run = @Sendable (Invocation, Output) throws -> ExitCode

  /// One word or two: `publish`, `key generate`.
  package let name: String
  /// One sentence with its full stop.
  package let summary: String
  package let arguments: [Argument]
  package let options: [Option]
  /// Sets of options of which at most one may be given.
  package let conflicts: [[String]]
  /// Paragraphs of the help text.
  package let discussion: [String]
  /// The exit codes that the verb has beside done, failure, usage and interrupted.
  package let exitCodes: [ExitCode]
  package let examples: [Example]
  /// Whether `--json` prints events, one a line: then all that it prints is lines.
  package let hasEvents: Bool
  package let run: Run

  package init(
    _ name: String, _ summary: String, arguments: [Argument] = [], options: [Option] = [], conflicts: [[String]] = [],
    discussion: [String] = [], exitCodes: [ExitCode] = [], examples: [Example] = [], hasEvents: Bool = false, run: @escaping Run
  ) {
    self.name = name
    self.summary = summary
    self.arguments = arguments
    self.options = options
    self.conflicts = conflicts
    self.discussion = discussion
    self.exitCodes = exitCodes
    self.examples = examples
    self.hasEvents = hasEvents
    self.run = run
  }

  var words: [String] { name.split(separator: " ").map(String.init) }
}
