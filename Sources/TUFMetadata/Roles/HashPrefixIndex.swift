/// The delegated roles by the beginnings of the hashes that they are trusted with, so that the one bin of a path is found without looking at
/// the thousands beside it.
struct HashPrefixIndex: Sendable {
  /// The numbers of the roles that are trusted with paths by patterns.
  private(set) var patterned: [Int] = []
  private var roles: [ByteString: [Int]] = [:]
  /// The lengths that prefixes have.
  private var lengths: Set<Int> = []

  init(_ roles: [DelegatedRole]) {
    for (number, role) in roles.enumerated() {
      switch role.scope {
      case .paths: patterned.append(number)
      case .pathHashPrefixes(let prefixes):
        for prefix in prefixes {
          self.roles[prefix, default: []].append(number)
          lengths.insert(prefix.bytes.count)
        }
      }
    }
  }

  var isEmpty: Bool { roles.isEmpty }

  /// The numbers of the roles that are trusted with a path by its hash, each once, in no order.
  func roles(trustedWith hashDigits: [UInt8]) -> Set<Int> {
    var numbers: Set<Int> = []
    for length in lengths { numbers.formUnion(roles[ByteString(Array(hashDigits.prefix(length)))] ?? []) }
    return numbers
  }
}
