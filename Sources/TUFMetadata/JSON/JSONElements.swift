/// The elements of an array. Any of them is reached at once.
package struct JSONElements: RandomAccessCollection, Sendable {
  let storage: JSONStorage
  /// The tape index of the first element.
  let first: Int
  package let count: Int

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(_ position: Int) -> JSONValue {
    precondition(indices.contains(position), "no such element")
    return JSONValue(storage: storage, index: first + position)
  }
}
