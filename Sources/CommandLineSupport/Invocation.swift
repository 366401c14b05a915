/// What a command line asked a verb to do. Every value has passed the checks of its declaration.
///
/// Options are asked for with their dashes, arguments in capitals, as they were declared. To ask for a name that the verb does not
/// declare, or in a form that it does not have, is a mistake of the programmer and traps.
package struct Invocation: Sendable {
  /// The command's name.
  package let program: String
  /// The verb's name.
  package let verb: String
  private let declared: [String: Declaration]
  private let given: [String: [String]]

  private enum Declaration {
    case flag
    case single(defaultValue: String?)
    case repeated
  }

  init(program: String, verb: Verb, given: [String: [String]]) {
    self.program = program
    self.verb = verb.name
    self.given = given
    var declared: [String: Declaration] = [:]
    for option in verb.options + Option.global {
      switch option.form {
      case .flag: declared[option.name] = .flag
      case .value: declared[option.name] = .single(defaultValue: option.defaultValue)
      case .repeated: declared[option.name] = .repeated
      }
    }
    for argument in verb.arguments { declared[argument.name] = argument.isRepeated ? .repeated : .single(defaultValue: nil) }
    self.declared = declared
  }

  /// Whether a flag stands on the command line.
  package func flag(_ name: String) -> Bool {
    guard case .flag = declared[name] else { preconditionFailure("\(verb) has no flag \(name)") }
    return given[name] != nil
  }

  /// Whether an option or argument stands on the command line, whatever its default.
  package func isGiven(_ name: String) -> Bool {
    precondition(declared[name] != nil, "\(verb) has no \(name)")
    return given[name] != nil
  }

  /// The value of an option or argument: as given, else its default, else nothing.
  package func value(_ name: String) -> String? {
    guard case .single(let defaultValue) = declared[name] else { preconditionFailure("\(verb) has no single \(name)") }
    return given[name]?.first ?? defaultValue
  }

  /// All values of an option or argument that may stand several times, in their order.
  package func values(_ name: String) -> [String] {
    guard case .repeated = declared[name] else { preconditionFailure("\(verb) has no repeated \(name)") }
    return given[name] ?? []
  }

  /// What stands on the command line for an option, which the verb need not have.
  package func given(_ option: Option) -> [String] { given[option.name] ?? [] }

  /// The value of an option or argument that is required or has a default.
  package func required(_ name: String) -> String {
    guard let value = value(name) else { preconditionFailure("\(name) of \(verb) is neither required nor has a default") }
    return value
  }

  /// The integer of an option or argument that was declared as one.
  package func integer(_ name: String) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text) else { preconditionFailure("\(name) of \(verb) is not declared as an integer") }
    return number
  }

  /// The integer of an option or argument that is required or has a default.
  package func requiredInteger(_ name: String) -> Int {
    guard let number = integer(name) else { preconditionFailure("\(name) of \(verb) is neither required nor has a default") }
    return number
  }
}
