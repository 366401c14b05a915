internal import CSodium
package import TUFMetadata

extension Ed25519PublicKey {
  /// Whether a signature over a message is this key's: the one place where signatures are verified.
  ///
  /// libsodium refuses a public key or `R` of small order, a public key that is not in canonical form, and `S` that is not reduced
  /// (RFC 8032 §5.1.7), so that no signature can be altered into another valid one.
  package func isValid(_ signature: Ed25519Signature, over message: Span<UInt8>) -> Bool {
    guard Sodium.isReady else { return false }
    // The sizes of key and signature are held by their types; all three buffers outlive the call.
    return unsafe message.withUnsafeBufferPointer { message in
      unsafe crypto_sign_verify_detached(signature.bytes, message.baseAddress, UInt64(message.count), bytes) == 0
    }
  }
}
