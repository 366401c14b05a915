internal import Digests

extension DelegatedRole {
  /// Whether the role is trusted with a path (TUF 1.0.34 §4.5).
  package func isTrusted(with path: TargetPath) -> Bool {
    switch scope {
    case .paths(let patterns): patterns.contains { $0.matches(path) }
    case .pathHashPrefixes(let prefixes):
      {
        let digits = SHA256.hash(of: path.name.bytes).hexadecimal
        return prefixes.contains { digits.starts(with: $0.bytes) }
      }()
    }
  }
}
