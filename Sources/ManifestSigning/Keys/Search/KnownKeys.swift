internal import CSodium
internal import Digests
internal import Synchronization
internal import TUFMetadata

/// Tells the secret halves of known keys from all other bytes.
struct KnownKeys: Sendable {
  static let seedByteCount = 32

  private let publicKeys: Set<[UInt8]>

  /// Of what might be the secret half of a key that is not known here.
  private final class Collection: Sendable {
    let publicKeys = Mutex<Set<[UInt8]>>([])
  }

  private let others: Collection?

  init(_ keys: some Sequence<Ed25519PublicKey>, collectsOthers: Bool) {
    self.init(Set(keys.map(\.bytes)), collectsOthers)
  }

  private init(_ publicKeys: Set<[UInt8]>, _ collectsOthers: Bool) {
    self.publicKeys = publicKeys
    others = collectsOthers ? Collection() : nil
  }

  /// The same, with a collection of its own.
  var apart: KnownKeys { KnownKeys(publicKeys, others != nil) }

  func contains(_ key: Ed25519PublicKey) -> Bool { publicKeys.contains(key.bytes) }

  /// Empties the collection.
  func takeCollected() -> [Ed25519PublicKey] {
    let taken = others?.publicKeys.withLock { publicKeys in
      defer { publicKeys = [] }
      return publicKeys
    }
    return (taken ?? []).sorted { $0.lexicographicallyPrecedes($1) }.compactMap { try? Ed25519PublicKey(bytes: $0) }
  }

  private func isKnown(_ publicKey: [UInt8]) -> Bool {
    others?.publicKeys.withLock { _ = $0.insert(publicKey) }
    return publicKeys.contains(publicKey)
  }

  /// The same for the same keys, and for no others.
  var fingerprint: SHA256Digest { SHA256.hash(of: publicKeys.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)) }

  /// Whether bytes are a seed, with a line end or not, a seed and public key, or an expanded key with its public half or without.
  func isSecretHalf(_ bytes: Span<UInt8>) -> Bool {
    guard !publicKeys.isEmpty || others != nil else { return false }
    switch bytes.count {
    case 32: return isSeed(bytes)
    case 33 where bytes[32] == 0x0A, 34 where bytes[32] == 0x0D && bytes[33] == 0x0A: return isSeed(bytes)
    // Sparkle's older form of 96 bytes begins with an expanded key, which alone has 64.
    case 64, 96: return isSeed(bytes) || isScalar(bytes)
    default: return false
    }
  }

  private func isSeed(_ bytes: Span<UInt8>) -> Bool {
    var seed = (0..<32).map { bytes[$0] }
    var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
    var secret = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
    // libsodium writes 32 and 64 bytes and reads 32; the arrays have them, and are wiped.
    _ = unsafe crypto_sign_seed_keypair(&publicKey, &secret, seed)
    unsafe sodium_memzero(&secret, secret.count)
    unsafe sodium_memzero(&seed, seed.count)
    return isKnown(publicKey)
  }

  private func isScalar(_ bytes: Span<UInt8>) -> Bool {
    var scalar = (0..<32).map { bytes[$0] }
    var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
    // libsodium writes 32 bytes and reads 32.
    let result = unsafe crypto_scalarmult_ed25519_base(&publicKey, scalar)
    unsafe sodium_memzero(&scalar, scalar.count)
    return result == 0 && isKnown(publicKey)
  }
}
