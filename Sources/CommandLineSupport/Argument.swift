/// What the text of a value must be.
package enum ValueKind: Hashable, Sendable {
  /// Any text but an empty one.
  case text
  /// A decimal integer within the range.
  case integer(ClosedRange<Int>)
  /// One of these words.
  case choice([String])
}

/// A positional argument of a verb.
package struct Argument: Hashable, Sendable {
  /// How often the argument stands.
  package enum Arity: Hashable, Sendable {
    case once, optional, oneOrMore, any
  }

  /// As help shows it and `Invocation` asks for it, in capitals: `DIR`.
  package let name: String
  package let summary: String
  package let arity: Arity
  package let kind: ValueKind

  package init(_ name: String, _ summary: String, _ arity: Arity = .once, kind: ValueKind = .text) {
    self.name = name
    self.summary = summary
    self.arity = arity
    self.kind = kind
  }

  var isRequired: Bool { arity == .once || arity == .oneOrMore }
  var isRepeated: Bool { arity == .oneOrMore || arity == .any }

  /// As a usage line shows it.
  var usage: String {
    switch arity {
    case .once: name
    case .optional: "[\(name)]"
    case .oneOrMore: "\(name)…"
    case .any: "[\(name)…]"
    }
  }
}
