/// Why a question got no answer.
package enum PromptError: Error, Hashable, Sendable {
  /// There is no terminal to ask on; the option is what to use instead.
  case noTerminal(question: String, option: String)
  /// The answer is longer than the buffer.
  case tooLong(limit: Int)
  /// The terminal was closed, or Control-D pressed, before the answer was complete.
  case noAnswer
  case interrupted
  /// The terminal failed with this error number.
  case terminal(CInt)
}

extension PromptError: CustomStringConvertible {
  package var description: String { failure.description }

  /// As it is shown.
  package var failure: Failure {
    switch self {
    case .noTerminal(let question, let option):
      Failure(.usage, "there is no terminal to ask “\(question)” on", expected: "a terminal, or \(option)", hint: "use \(option)")
    case .tooLong(let limit):
      Failure(.usage, "the answer is too long", expected: "at most \(limit) bytes")
    case .noAnswer:
      Failure(.usage, "no answer was given", expected: "a line that ends with Return", found: "the end of input")
    case .interrupted:
      Failure(.interrupted, "interrupted")
    case .terminal(let code):
      Failure(.failure, "the terminal can't be used: \(SystemCalls.message(code))")
    }
  }
}
