/// A member on its way to its place in byte order.
struct JSONMember {
  let name: JSONNode
  let value: JSONNode
  /// The eight bytes of the name that are compared now, the first one highest; zeros after its end.
  private var key: UInt64 = 0
  /// How many bytes the name has from there on; 9 where there are more than eight.
  private var rest = 0

  init(name: JSONNode, value: JSONNode) {
    self.name = name
    self.value = value
  }

  /// Sorts members by the bytes of their names.
  ///
  /// Paths share long beginnings, which a comparison of whole names would read from memory again and again. So the names are
  /// compared eight bytes at a time, and a run of equal ones is taken up again after all that its names share. Each byte of a name is
  /// looked at a constant number of times, and each eight bytes take part in one sort: no choice of names makes it slow.
  /// - Returns: the name of a member that stands twice; the members are then in no particular order.
  static func sort(_ members: inout [JSONMember], of text: JSONText) -> JSONNode? {
    var waiting = [(range: members.indices, depth: 0)]
    while let (range, depth) = waiting.popLast() {
      let shared = sharedLength(members[range], from: depth, of: text)
      for index in range { members[index].look(at: shared, of: text) }
      members[range].sort { left, right in left.key == right.key ? left.rest < right.rest : left.key < right.key }
      var start = range.lowerBound
      for end in range.lowerBound + 1...range.upperBound {
        if end < range.upperBound, members[end].key == members[start].key, members[end].rest == members[start].rest { continue }
        if end - start > 1 {
          if members[start].rest <= 8 { return members[start].name }
          waiting.append((start..<end, shared + 8))
        }
        start = end
      }
    }
    return nil
  }

  /// How many bytes all the names have in common, at least `depth`.
  private static func sharedLength(_ members: ArraySlice<JSONMember>, from depth: Int, of text: JSONText) -> Int {
    guard let first = members.first else { return depth }
    return text.withString(first.name) { first in
      var shared = first.count
      for member in members.dropFirst() where shared > depth {
        shared = text.withString(member.name) { name in first.sharedLength(with: name, from: depth, upTo: shared) }
      }
      return shared
    }
  }

  private mutating func look(at depth: Int, of text: JSONText) {
    (key, rest) = text.withString(name) { name in
      // `depth` is at most what all the names share, so at most the length of each.
      let rest = name.count - depth
      if rest >= 8 { return (name.word(at: depth).byteSwapped, min(rest, 9)) }
      var key: UInt64 = 0
      for index in 0..<8 { key = key << 8 | (index < rest ? UInt64(name[depth + index]) : 0) }
      return (key, rest)
    }
  }
}
