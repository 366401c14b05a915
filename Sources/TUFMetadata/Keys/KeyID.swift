public import Digests

/// The id of a key: the SHA-256 of its canonical JSON, computed and never believed (TUF 1.0.34 §4.3).
public struct KeyID: Hashable, Sendable {
  /// The digest that is the id.
  public let digest: SHA256Digest

  package init(digest: SHA256Digest) { self.digest = digest }
}

extension KeyID: Comparable {
  public static func < (left: Self, right: Self) -> Bool { left.digest < right.digest }
}

extension KeyID: CustomStringConvertible {
  public var description: String { digest.description }
}
