/// What is wrong with a command line.
package enum UsageError: Error, Hashable, Sendable {
  case missingVerb
  case unknownVerb(String, nearest: String?)
  /// The first word of verbs that have two.
  case incompleteVerb(String, verbs: [String])
  case optionBeforeVerb(String)
  case unknownOption(String, nearest: String?)
  case missingValue(option: String, placeholder: String)
  case unexpectedValue(option: String, value: String)
  case emptyValue(of: String)
  case missingOption(String)
  case missingArgument(String)
  case unexpectedArgument(String)
  case notAnInteger(name: String, found: String, range: ClosedRange<Int>)
  case notAChoice(name: String, found: String, choices: [String])
  case optionGivenTwice(String)
  case conflictingOptions(String, String)
  /// The number of the word that is not UTF-8, the first after the program's name being 1.
  case notUTF8(word: Int)
}

extension UsageError: CustomStringConvertible {
  package var description: String {
    let (message, expected, found) = parts
    return ([message] + [expected.map { "expected: " + $0 }, found.map { "found: " + $0 }].compactMap { $0 }).joined(separator: "; ")
  }

  /// As it is shown for a program and, where it got that far, a verb.
  package func failure(program: String, verb: String?) -> Failure {
    let (message, expected, found) = parts
    let help = "run “\(program) \(verb.map { $0 + " " } ?? "")--help” to see what it accepts"
    let hint =
      switch self {
      case .unknownVerb(_, .some(let nearest)): "did you mean “\(program) \(nearest)”? Otherwise \(help)"
      case .unknownOption(_, .some(let nearest)): "did you mean \(nearest)? Otherwise \(help)"
      case .missingValue(let option, let placeholder): "a value that begins with a dash is written \(option)=\(placeholder); \(help)"
      default: help
      }
    return Failure(.usage, message, expected: expected, found: found, hint: hint)
  }

  private var parts: (message: String, expected: String?, found: String?) {
    switch self {
    case .missingVerb:
      ("no verb is given", "a verb", "nothing")
    case .unknownVerb(let verb, _):
      ("there is no verb “\(verb)”", "a verb", "“\(verb)”")
    case .incompleteVerb(let word, let verbs):
      ("“\(word)” needs a second word", verbs.joined(separator: ", "), "“\(word)” alone")
    case .optionBeforeVerb(let option):
      ("\(option) stands before the verb", "the verb first, then its options", option)
    case .unknownOption(let option, _):
      ("there is no option \(option) here", "an option of this verb", option)
    case .missingValue(let option, let placeholder):
      ("\(option) has no value", "\(option) \(placeholder)", "\(option) alone")
    case .unexpectedValue(let option, let value):
      ("\(option) takes no value", option, "\(option)=\(value)")
    case .emptyValue(let name):
      ("the value of \(name) is empty", "a value of at least one character", "an empty text")
    case .missingOption(let option):
      ("\(option) is missing", option, "nothing")
    case .missingArgument(let argument):
      ("\(argument) is missing", argument, "nothing")
    case .unexpectedArgument(let argument):
      ("there is one argument too many", "no further argument", "“\(argument)”")
    case .notAnInteger(let name, let found, let range):
      ("the value of \(name) is not a number in its range", "a whole number from \(range.lowerBound) to \(range.upperBound)", "“\(found)”")
    case .notAChoice(let name, let found, let choices):
      ("the value of \(name) is not one of its choices", choices.joined(separator: ", "), "“\(found)”")
    case .optionGivenTwice(let option):
      ("\(option) is given twice", "\(option) once", "\(option) again")
    case .conflictingOptions(let first, let second):
      ("\(first) and \(second) exclude each other", "one of the two", "both")
    case .notUTF8(let word):
      ("argument \(word) is not UTF-8", "UTF-8", "other bytes")
    }
  }
}
