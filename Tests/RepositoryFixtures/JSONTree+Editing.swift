package import TUFMetadata

extension JSONTree {
  /// A member, found through the members of one object after another; nil where there is none. Setting nil removes it.
  package subscript(_ path: ByteString...) -> JSONTree? {
    get { self[path[...]] }
    set { self[path[...]] = newValue }
  }

  private subscript(_ path: ArraySlice<ByteString>) -> JSONTree? {
    get {
      guard let name = path.first else { return self }
      guard case .object(let members) = self else { return nil }
      return members[name]?[path.dropFirst()]
    }
    set {
      guard let name = path.first else { return }
      guard case .object(var members) = self else { preconditionFailure("\(name) is set in something that is no object") }
      if path.count == 1 {
        members[name] = newValue
      } else {
        var member = members[name] ?? .object([:])
        member[path.dropFirst()] = newValue
        members[name] = member
      }
      self = .object(members)
    }
  }

  /// The elements of an array; none where it is no array.
  package var elements: [JSONTree] {
    get { if case .array(let elements) = self { elements } else { [] } }
    set { self = .array(newValue) }
  }

  package static func text(_ text: String) -> JSONTree { .string(ByteString(text)) }
}

extension UTCTime {
  /// A time of the tests, from a text that is known to be right.
  package init(known text: String) {
    do { try self.init(text: Array(text.utf8).span) } catch { preconditionFailure("\(error)") }
  }
}

extension Version {
  /// A version of the tests, from a number that is known to be right.
  package init(known number: Int64) {
    guard let version = Version(number) else { preconditionFailure("no version: \(number)") }
    self = version
  }
}
