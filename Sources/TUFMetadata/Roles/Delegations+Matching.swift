internal import Digests

extension Delegations {
  /// The roles that are trusted with a path, in the order in which a search visits them (TUF 1.0.34 §4.5).
  ///
  /// The path is hashed once, however many roles share the paths out by their hashes: sixteen thousand bins are nothing unusual.
  package func roles(trustedWith path: TargetPath) -> [DelegatedRole] {
    var numbers = hashPrefixes.patterned.filter { roles[$0].scope.contains(path, hashDigits: []) }
    if !hashPrefixes.isEmpty { numbers += hashPrefixes.roles(trustedWith: path.hashDigits) }
    return numbers.sorted().map { roles[$0] }
  }
}

extension DelegatedRole {
  /// Whether the role is trusted with a path (TUF 1.0.34 §4.5).
  package func isTrusted(with path: TargetPath) -> Bool { scope.contains(path, hashDigits: path.hashDigits) }
}

extension DelegatedRole.Scope {
  /// - Parameter hashDigits: the path's.
  package func contains(_ path: TargetPath, hashDigits: [UInt8]) -> Bool {
    switch self {
    case .paths(let patterns): patterns.contains { $0.matches(path) }
    case .pathHashPrefixes(let prefixes): prefixes.contains { hashDigits.starts(with: $0.bytes) }
    }
  }
}

extension TargetPath {
  /// The SHA-256 of the path in hexadecimal digits, by which bins share paths out.
  package var hashDigits: [UInt8] { Array(SHA256.hash(of: name.bytes).hexadecimal) }
}
