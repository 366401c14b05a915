internal import CSodium
public import TUFMetadata

/// The secret half of an Ed25519 key. It never leaves `SecureBytes`, and there is exactly one of it.
public struct SecretKey: ~Copyable, Sendable {
  /// The number of bytes in a seed (RFC 8032 §5.1.5 calls it the private key).
  public static let seedByteCount = 32

  /// The public half, computed from the seed.
  public let publicKey: Ed25519PublicKey
  /// Where the key was read from, for messages; empty where it was just made.
  public let origin: String
  // libsodium's form: the seed, then the public half.
  private let expanded: SecureBytes

  /// A new key from the system's random numbers.
  public static func generate() throws(SigningError) -> SecretKey {
    do throws(KeyError) {
      return try SecretKey(seed: SecureBytes(randomCount: seedByteCount))
    } catch { throw .key(error, path: "") }
  }

  /// The key that a seed stands for.
  /// - Parameters:
  ///   - seed: exactly 32 bytes.
  ///   - origin: where it came from, for messages.
  /// - Throws: `KeyError.malformed` where the length is another, or what `SecureBytes` throws.
  public init(seed: consuming SecureBytes, origin: String = "") throws(KeyError) {
    try Sodium.prepare()
    guard seed.count == Self.seedByteCount else { throw .malformed(.invalidValue(field: "seed"), line: 0) }
    var publicBytes = [UInt8](repeating: 0, count: Ed25519PublicKey.byteCount)
    var secret = try SecureBytes(capacity: 2 * Self.seedByteCount)
    // libsodium writes 32 and 64 bytes and reads 32; each buffer has them.
    unsafe secret.append { free, _ in
      unsafe seed.withUnsafeBytes { seedBytes, _ in
        _ = unsafe crypto_sign_seed_keypair(&publicBytes, free, seedBytes)
      }
      return 2 * Self.seedByteCount
    }
    do {
      publicKey = try Ed25519PublicKey(bytes: publicBytes)
    } catch { throw .publicKeyMismatch }
    expanded = secret
    self.origin = origin
  }

  /// Signs a message, and verifies the signature before it is handed out.
  /// - Throws: `SigningError.key(.signatureNotVerified)` where the hardware or the memory is at fault.
  public borrowing func sign(_ message: [UInt8]) throws(SigningError) -> Ed25519Signature {
    var signature = [UInt8](repeating: 0, count: Ed25519Signature.byteCount)
    // libsodium writes 64 bytes and reads the 64 of the secret; the message is as long as its count says.
    let signed = unsafe expanded.withUnsafeBytes { secret, _ in
      unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret)
    }
    // The arrays hold the 64 and 32 bytes that libsodium reads.
    let verified = unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey.bytes)
    guard signed == 0, verified == 0, let result = try? Ed25519Signature(bytes: signature) else {
      throw .key(.signatureNotVerified, path: origin)
    }
    return result
  }

  /// Lends the 32 bytes of the seed, to write them to a file.
  borrowing func withSeed<R: ~Copyable, E: Error>(_ body: (UnsafePointer<UInt8>, Int) throws(E) -> R) throws(E) -> R {
    // The seed is the first half of the 64 bytes.
    try unsafe expanded.withUnsafeBytes { (secret, _) throws(E) in try unsafe body(secret, Self.seedByteCount) }
  }
}
