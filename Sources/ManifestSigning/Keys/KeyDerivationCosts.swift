internal import CSodium

/// What opening an encrypted key costs, and so what guessing its passphrase costs: Argon2id as libsodium counts it.
public struct KeyDerivationCosts: Equatable, Sendable {
  /// Passes over the memory. Together with the memory it bounds the time: a hostile file gets some ten seconds, not hours.
  public static let operationBounds: ClosedRange<UInt64> = 1...10
  /// Memory in bytes. A hostile file can ask for 1 GiB and no more.
  public static let memoryBounds: ClosedRange<UInt64> = 8192...1_073_741_824

  /// Three passes over 256 MiB, libsodium's "moderate": about half a second.
  public static let standard = KeyDerivationCosts(uncheckedOperations: 3, memory: 268_435_456)
  /// The cheapest that Argon2id allows. It protects nothing; tests use it.
  public static let least = KeyDerivationCosts(uncheckedOperations: 1, memory: 8192)

  /// `opslimit` of libsodium.
  public let operations: UInt64
  /// `memlimit` of libsodium, in bytes: whole KiB, since Argon2 counts in these and two numbers would else mean one thing.
  public let memory: UInt64

  /// - Throws: `KeyError.costOutOfBounds`.
  public init(operations: UInt64, memory: UInt64) throws(KeyError) {
    guard Self.operationBounds.contains(operations) else {
      throw .costOutOfBounds(field: "opslimit", found: operations, bounds: Self.operationBounds)
    }
    guard Self.memoryBounds.contains(memory), memory.isMultiple(of: 1024) else {
      throw .costOutOfBounds(field: "memlimit", found: memory, bounds: Self.memoryBounds)
    }
    self.operations = operations
    self.memory = memory
  }

  private init(uncheckedOperations: UInt64, memory: UInt64) {
    operations = uncheckedOperations
    self.memory = memory
  }

  /// The 32-byte key that a passphrase and a salt stand for.
  /// - Parameter salt: 16 bytes, random for each file.
  func deriveKey(from passphrase: borrowing Passphrase, salt: [UInt8]) throws(KeyError) -> SecureBytes {
    let byteCount = Int(crypto_aead_xchacha20poly1305_ietf_KEYBYTES)
    guard salt.count == Int(crypto_pwhash_SALTBYTES) else { throw .malformed(.invalidValue(field: "salt"), line: 0) }
    var key = try SecureBytes(capacity: byteCount)
    // libsodium writes 32 bytes and reads 16 of salt and `length` of passphrase.
    unsafe key.append { free, _ in
      let result = unsafe passphrase.bytes.withUnsafeBytes { secret, length in
        unsafe secret.withMemoryRebound(to: CChar.self, capacity: length) { text in
          unsafe crypto_pwhash(
            free, UInt64(byteCount), text, UInt64(length), salt, operations, Int(memory), crypto_pwhash_ALG_ARGON2ID13)
        }
      }
      return result == 0 ? byteCount : 0
    }
    // The bounds are checked, so the only failure left is memory.
    guard key.count == byteCount else { throw .memoryUnavailable(byteCount: Int(memory)) }
    return key
  }
}
