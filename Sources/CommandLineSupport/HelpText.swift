/// Help texts, made from a command's table, at most 80 columns wide.
struct HelpText {
  private static let width = 80
  private(set) var lines: [(text: EscapedText, style: Output.Style)] = []

  /// Help on the whole command, on the verbs that begin with a word, or on one verb.
  init(_ command: Command, topic: [String]) {
    if let verb = command.verbs.first(where: { $0.words == topic }) {
      describe(verb, of: command)
    } else {
      describe(command, group: topic.first)
    }
  }

  private mutating func describe(_ command: Command, group: String?) {
    let verbs = command.verbs.filter { group == nil || $0.words.first == group }
    add("\(command.name)\(group.map { " " + $0 } ?? "") — \(command.summary)", .heading)
    section("Usage")
    add("  \(command.name) \(group.map { $0 + " " } ?? "")VERB [options] [arguments]")
    section("Verbs")
    list(verbs.map { ($0.name, $0.summary) })
    section("Options of every verb")
    list(globals)
    section("More")
    list([
      ("\(command.name) help VERB", "What a verb does, its options, exit codes and examples.")
    ])
    if group != nil { return }
    section("Exit codes")
    list(ExitCode.allCases.map { (String($0.rawValue), $0.summary) })
  }

  private mutating func describe(_ verb: Verb, of command: Command) {
    add("\(command.name) \(verb.name) — \(verb.summary)", .heading)
    section("Usage")
    let required = verb.options.filter(\.isRequired).map(\.usage)
    let words = [command.name, verb.name] + required + ["[options]"] + verb.arguments.map(\.usage)
    wrap(words.joined(separator: " "), first: 2, rest: 6)
    for paragraph in verb.discussion {
      add("")
      wrap(paragraph, first: 0, rest: 0)
    }
    if !verb.arguments.isEmpty {
      section("Arguments")
      list(verb.arguments.map { ($0.usage, sentence($0.summary, kind: $0.kind, defaultValue: nil, isRepeated: false)) })
    }
    section("Options")
    list(
      verb.options.map { ($0.usage, sentence($0.summary, kind: $0.kind, defaultValue: $0.defaultValue, isRepeated: $0.form == .repeated)) }
        + globals)
    section("Exit codes")
    let codes = Set(verb.exitCodes).union([.done, .failure, .usage, .interrupted])
    list(ExitCode.allCases.filter(codes.contains).map { (String($0.rawValue), $0.summary) })
    if !verb.examples.isEmpty {
      section("Examples")
      for example in verb.examples {
        add("  \(example.line)")
        wrap(example.meaning, first: 6, rest: 6)
      }
    }
  }

  private var globals: [(String, String)] {
    Option.global.map { ($0.usage, $0.summary) } + [("-h, --help", "Print this help."), ("--version", "Print the version.")]
  }

  private func sentence(_ summary: String, kind: ValueKind, defaultValue: String?, isRepeated: Bool) -> String {
    var facts: [String] = []
    switch kind {
    case .text: break
    case .integer(let range): facts.append("\(range.lowerBound) to \(range.upperBound)")
    case .choice(let choices): facts.append(choices.joined(separator: ", "))
    }
    if let defaultValue { facts.append("default: \(defaultValue)") }
    if isRepeated { facts.append("may be repeated") }
    return facts.isEmpty ? summary : "\(summary) (\(facts.joined(separator: "; ")))"
  }

  private mutating func add(_ text: EscapedText, _ style: Output.Style = .plain) { lines.append((text, style)) }

  private mutating func section(_ title: String) {
    add("")
    add("\(title):", .heading)
  }

  /// Names on the left, what they mean on the right; a name that is too long has a line of its own.
  private mutating func list(_ entries: [(name: String, meaning: String)]) {
    let widest = entries.map { EscapedText($0.name).columns }.filter { $0 <= 26 }.max() ?? 0
    for entry in entries {
      let name = EscapedText("  " + entry.name)
      let fits = name.columns - 2 <= widest
      if !fits { add(name) }
      let start = widest + 4
      for (index, line) in wrapped(entry.meaning, width: Self.width - start).enumerated() {
        let left: EscapedText = index == 0 && fits ? name + .spaces(start - name.columns) : .spaces(start)
        add(left + line)
      }
    }
  }

  private mutating func wrap(_ text: String, first: Int, rest: Int) {
    for (index, line) in wrapped(text, width: Self.width - rest).enumerated() { add(.spaces(index == 0 ? first : rest) + line) }
  }

  private func wrapped(_ text: String, width: Int) -> [EscapedText] {
    var lines: [EscapedText] = []
    var line: EscapedText = ""
    for word in text.split(separator: " ") {
      let word = EscapedText(String(word))
      if line.columns > 0, line.columns + 1 + word.columns > width {
        lines.append(line)
        line = word
      } else {
        line = line.columns == 0 ? word : line + " " + word
      }
    }
    return lines + [line]
  }
}
