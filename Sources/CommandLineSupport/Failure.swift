/// Why a command failed, in the words that are shown: what happened, what was expected and found, where, and what to do next.
///
/// The texts may hold untrusted names as they are: they are escaped when they are printed.
package struct Failure: Error, Hashable, Sendable {
  package var code: ExitCode
  /// One sentence without a full stop, beginning in lower case: `targets.json is signed by 1 of 2 keys`.
  package var message: String
  package var expected: String?
  package var found: String?
  /// The file, the URL or the option that it is about.
  package var place: String?
  /// What to do next.
  package var hint: String?
  /// The single faults where there are several, each shown on a line of its own.
  package var items: [String] = []

  package init(
    _ code: ExitCode, _ message: String, expected: String? = nil, found: String? = nil, at place: String? = nil, hint: String? = nil
  ) {
    self.code = code
    self.message = message
    self.expected = expected
    self.found = found
    self.place = place
    self.hint = hint
  }

  /// `{"code":…,"exit":…,"message":…}` and those of `expected`, `found`, `where`, `hint` and `items` that are known.
  package var json: JSONResult {
    var members: [JSONResult.Member] = [
      .init("code", .string(code.name)), .init("exit", .integer(Int64(code.rawValue))), .init("message", .string(message)),
    ]
    for (name, value) in details(placeName: "where") { members.append(.init(name, .string(value))) }
    if !items.isEmpty { members.append(.init("items", .array(items.map(JSONResult.string)))) }
    return .object(members)
  }

  func details(placeName: String) -> [(String, String)] {
    [("expected", expected), ("found", found), (placeName, place), ("hint", hint)].compactMap { name, value in value.map { (name, $0) } }
  }
}

extension Failure: CustomStringConvertible {
  package var description: String {
    ([message] + details(placeName: "where").map { "\($0): \($1)" }).joined(separator: "; ")
  }
}
