/// Reads a command line against a command's table.
struct CommandLineParser {
  /// What a command line asks for.
  enum Request {
    /// Help on a verb, on the verbs that begin with a word, or on everything.
    case help(topic: [String])
    case version
    case run(Verb, Invocation)
  }

  let command: Command
  /// The verb as far as it was recognised, for the hint of an error.
  private(set) var verbName: String?

  init(_ command: Command) { self.command = command }

  mutating func parse(_ words: [String]) throws(UsageError) -> Request {
    // Help wins over anything else that may be wrong with the line.
    let beforeEnd = words.prefix { $0 != "--" }
    if beforeEnd.contains(where: { $0 == "-h" || $0 == "--help" }) {
      return .help(topic: try topic(beforeEnd.filter { !$0.hasPrefix("-") }))
    }
    if beforeEnd.contains("--version") { return .version }

    var rest = words[...]
    var given: [String: [String]] = [:]
    while let word = rest.first, word.hasPrefix("-") {
      rest.removeFirst()
      if word == "--" { break }
      guard Option.global.contains(where: { $0.name == word }) else {
        let isOfSomeVerb = command.verbs.contains { $0.options.contains { $0.name == name(of: word) } }
        throw isOfSomeVerb ? .optionBeforeVerb(word) : .unknownOption(word, nearest: nearest(to: word, among: globalNames))
      }
      guard given.updateValue([], forKey: word) == nil else { throw .optionGivenTwice(word) }
    }
    guard let first = rest.first else { throw .missingVerb }
    if first == "help", !command.verbs.contains(where: { $0.name == "help" }) {
      return .help(topic: try topic(Array(rest.dropFirst())))
    }
    let verb = try findVerb(Array(rest.prefix(2)))
    verbName = verb.name
    return .run(verb, try parse(rest.dropFirst(verb.words.count), of: verb, given: given))
  }

  private var globalNames: [String] { Option.global.map(\.name) + ["--help", "--version"] }

  private func name(of word: String) -> String { String(word.prefix { $0 != "=" }) }

  /// The topic that help is wanted on, as far as its words name one.
  private func topic(_ words: [String]) throws(UsageError) -> [String] {
    guard let first = words.first(where: { $0 != "help" }) else { return [] }
    let rest = words.drop { $0 != first }
    if rest.count == 1, command.verbs.contains(where: { $0.words.count > 1 && $0.words.first == first }) { return [first] }
    return try findVerb(Array(rest.prefix(2))).words
  }

  private func findVerb(_ words: [String]) throws(UsageError) -> Verb {
    let matching = command.verbs.filter { words.starts(with: $0.words) }
    if let verb = matching.max(by: { $0.words.count < $1.words.count }) { return verb }
    let first = words.first ?? ""
    let group = command.verbs.filter { $0.words.count > 1 && $0.words.first == first }
    guard !group.isEmpty else { throw .unknownVerb(first, nearest: nearest(to: first, among: command.verbs.map(\.name))) }
    guard words.count > 1, let second = words.last, !second.hasPrefix("-") else {
      throw .incompleteVerb(first, verbs: group.map(\.name))
    }
    let spelling = words.joined(separator: " ")
    throw .unknownVerb(spelling, nearest: nearest(to: spelling, among: group.map(\.name)))
  }

  private func parse(_ words: ArraySlice<String>, of verb: Verb, given: [String: [String]]) throws(UsageError) -> Invocation {
    let options = verb.options + Option.global
    var given = given
    var positional: [String] = []
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" {
        positional += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        positional.append(word)
        continue
      }
      let name = name(of: word)
      guard let option = options.first(where: { $0.name == name }) else {
        throw .unknownOption(name, nearest: nearest(to: name, among: options.map(\.name) + ["--help", "--version"]))
      }
      if option.form != .repeated, given[name] != nil { throw .optionGivenTwice(name) }
      let attached = name.utf8.count < word.utf8.count ? String(word.dropFirst(name.count + 1)) : nil
      switch option.form {
      case .flag:
        if let attached { throw .unexpectedValue(option: name, value: attached) }
        given[name] = []
      case .value, .repeated:
        let value: String
        if let attached {
          value = attached
        } else if let next = rest.first, isValue(next, of: option.kind) {
          value = next
          rest.removeFirst()
        } else {
          throw .missingValue(option: name, placeholder: option.placeholder)
        }
        try check(value, of: name, kind: option.kind)
        given[name, default: []].append(value)
      }
    }
    for option in verb.options where option.isRequired && given[option.name] == nil { throw .missingOption(option.usage) }
    for names in verb.conflicts {
      let both = names.filter { given[$0] != nil }
      if both.count > 1 { throw .conflictingOptions(both[0], both[1]) }
    }
    try assign(positional, of: verb, to: &given)
    return Invocation(program: command.name, verb: verb, given: given)
  }

  private func assign(_ positional: [String], of verb: Verb, to given: inout [String: [String]]) throws(UsageError) {
    var rest = positional[...]
    for argument in verb.arguments {
      let values = argument.isRepeated ? rest : rest.prefix(1)
      rest = rest.dropFirst(values.count)
      if values.isEmpty {
        if argument.isRequired { throw .missingArgument(argument.name) }
        continue
      }
      for value in values { try check(value, of: argument.name, kind: argument.kind) }
      given[argument.name] = Array(values)
    }
    if let extra = rest.first { throw .unexpectedArgument(extra) }
  }

  /// Whether the word after an option may be its value. One that looks like an option is not taken: it is far more often a forgotten value.
  private func isValue(_ word: String, of kind: ValueKind) -> Bool {
    if !word.hasPrefix("-") || word == "-" { return true }
    if case .integer = kind { return isInteger(word) }
    return false
  }

  private func check(_ value: String, of name: String, kind: ValueKind) throws(UsageError) {
    if value.isEmpty { throw .emptyValue(of: name) }
    switch kind {
    case .text: return
    case .integer(let range):
      guard isInteger(value), let number = Int(value), range.contains(number) else {
        throw .notAnInteger(name: name, found: value, range: range)
      }
    case .choice(let choices):
      guard choices.contains(value) else { throw .notAChoice(name: name, found: value, choices: choices) }
    }
  }

  /// Decimal digits after at most one minus; `Int` alone would also take a plus.
  private func isInteger(_ text: String) -> Bool {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
