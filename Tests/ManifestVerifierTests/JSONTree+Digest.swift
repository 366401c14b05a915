import Digests
import TUFMetadata

extension JSONTree {
  /// The SHA-256 of the canonical form, in digits.
  var canonicalDigest: String { SHA256.hash(of: canonicalBytes).description }
}
