/// The members of an object, in byte order of their names. Any of them is reached at once.
package struct JSONMembers: RandomAccessCollection, Sendable {
  let storage: JSONStorage
  /// The tape index of the first name.
  let first: Int
  package let count: Int

  private static let fewCount = 8

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(_ position: Int) -> (name: ByteString, value: JSONValue) { (name(at: position), value(at: position)) }

  /// - Parameter position: at least 0, below `count`.
  package func name(at position: Int) -> ByteString { storage.text.string(nameNode(at: position)) }

  /// - Parameter position: at least 0, below `count`.
  package func value(at position: Int) -> JSONValue {
    precondition(indices.contains(position), "no such member")
    return JSONValue(storage: storage, index: first + 2 * position + 1)
  }

  /// Hands out the bytes of a name without allocating.
  /// - Parameter position: at least 0, below `count`.
  package func withNameBytes<Result, Failure: Error>(
    at position: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.text.withString(nameNode(at: position), body)
  }

  /// The number of the member with this name: by its length and its bytes where there are few, else by binary search.
  package func position(named name: Span<UInt8>) -> Int? {
    if count <= Self.fewCount {
      for position in indices where storage.text.equals(nameNode(at: position), name) { return position }
      return nil
    }
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      let order = withNameBytes(at: middle) { candidate in candidate.byteOrder(to: name) }
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The value of the member with this name, by binary search.
  package func value(named name: Span<UInt8>) -> JSONValue? { position(named: name).map(value(at:)) }

  private func nameNode(at position: Int) -> JSONNode {
    precondition(indices.contains(position), "no such member")
    return storage.tape[first + 2 * position]
  }
}
