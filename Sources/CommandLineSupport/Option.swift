/// An option of a verb. Its name is written with its dashes, here as on the command line, and never abbreviated.
package struct Option: Hashable, Sendable {
  /// What follows the name.
  package enum Form: Hashable, Sendable {
    /// Nothing: the option is there or not.
    case flag
    /// One value.
    case value
    /// One value, and the option may stand several times.
    case repeated
  }

  /// With its dashes: `--state`.
  package let name: String
  package let form: Form
  /// What help calls the value: `DIR`. Empty for a flag.
  package let placeholder: String
  package let summary: String
  package let kind: ValueKind
  /// The value that holds where the option is not given.
  package let defaultValue: String?
  package let isRequired: Bool

  /// An option without a value.
  package static func flag(_ name: String, _ summary: String) -> Option {
    Option(name: name, form: .flag, placeholder: "", summary: summary, kind: .text, defaultValue: nil, isRequired: false)
  }

  /// An option with one value.
  package static func value(
    _ name: String, _ placeholder: String, _ summary: String, kind: ValueKind = .text, default: String? = nil, required: Bool = false
  ) -> Option {
    Option(
      name: name, form: .value, placeholder: placeholder, summary: summary, kind: kind, defaultValue: `default`, isRequired: required)
  }

  /// An option with one decimal integer.
  package static func integer(
    _ name: String, _ placeholder: String, _ summary: String, in range: ClosedRange<Int>, default: Int? = nil, required: Bool = false
  ) -> Option {
    .value(name, placeholder, summary, kind: .integer(range), default: `default`.map(String.init), required: required)
  }

  /// An option that may stand several times, each time with a value.
  package static func repeated(
    _ name: String, _ placeholder: String, _ summary: String, kind: ValueKind = .text, required: Bool = false
  ) -> Option {
    Option(
      name: name, form: .repeated, placeholder: placeholder, summary: summary, kind: kind, defaultValue: nil, isRequired: required)
  }

  /// `--json`: every verb has it.
  package static let json = Option.flag("--json", "Print the result as one JSON object.")
  /// `--quiet`: every verb has it.
  package static let quiet = Option.flag("--quiet", "No progress and no notes: only results, warnings and errors.")

  /// `--jobs`: of the verbs that hash files.
  package static let jobs = Option.integer(
    "--jobs", "N", "The most threads that hash; as many as there are cores where it is not given.", in: 1...64)

  /// The options that every verb has.
  static let global = [json, quiet]

  /// As a usage line and the list of options show it.
  var usage: String { form == .flag ? name : "\(name) \(placeholder)" }
}
