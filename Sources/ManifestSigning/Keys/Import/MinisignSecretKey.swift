internal import CSodium

/// A secret key of minisign: 158 bytes in base64 below a comment.
///
/// ```
/// "Ed"  "Sc" or 00 00  "B2"  salt[32]  opslimit[8]  memlimit[8]  { key number[8]  seed[32]  public key[32]  checksum[32] }
/// ```
/// The numbers are little-endian. Under "Sc" the part in braces is combined by XOR with as many bytes of scrypt. The checksum is the BLAKE2b-256 of
/// "Ed", the key number, the seed and the public key; `minisign -W` leaves it, and all of the head that encryption needs, zero.
struct MinisignSecretKey: Equatable {
  static let byteCount = 158
  /// What minisign itself asks for at most: about 1 GiB of memory and some seconds. A file that asks for more is refused.
  static let operationBounds = UInt64(crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_MIN)...33_554_432
  static let memoryBounds = UInt64(crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_MIN)...1_073_741_824

  private static let saltRange = 6..<38
  private static let bodyRange = 54..<158
  /// Within the part that may be encrypted.
  private static let keyNumberByteCount = 8
  private static let checksummedByteCount = 72

  let isEncrypted: Bool
  private let salt: [UInt8]
  private let operations: UInt64
  private let memory: UInt64

  /// - Throws: `notImportable`, `costOutOfBounds`.
  init(_ bytes: Span<UInt8>) throws(KeyError) {
    guard bytes.count == Self.byteCount, bytes[0] == UInt8(ascii: "E"), bytes[1] == UInt8(ascii: "d") else {
      throw .notImportable(.malformed("minisign"))
    }
    guard bytes[4] == UInt8(ascii: "B"), bytes[5] == UInt8(ascii: "2") else { throw .notImportable(.unsupportedEncryption) }
    switch (bytes[2], bytes[3]) {
    case (UInt8(ascii: "S"), UInt8(ascii: "c")): isEncrypted = true
    case (0, 0): isEncrypted = false
    default: throw .notImportable(.unsupportedEncryption)
    }
    salt = Self.saltRange.map { bytes[$0] }
    operations = Self.number(bytes, at: 38)
    memory = Self.number(bytes, at: 46)
    guard isEncrypted else { return }
    guard Self.operationBounds.contains(operations) else {
      throw .costOutOfBounds(field: "opslimit", found: operations, bounds: Self.operationBounds)
    }
    guard Self.memoryBounds.contains(memory) else { throw .costOutOfBounds(field: "memlimit", found: memory, bounds: Self.memoryBounds) }
  }

  private static func number(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in (0..<8).reversed() { value = value << 8 | UInt64(bytes[offset + index]) }
    return value
  }

  /// What is told apart in an opened key.
  struct Opened: ~Copyable {
    let seed: SecureBytes
    let publicKey: [UInt8]
    let keyNumber: [UInt8]
  }

  /// - Parameter passphrase: not looked at where the key is not encrypted.
  /// - Throws: `wrongPassphrase`, `notImportable(.checksum)`, `memoryUnavailable`.
  func open(_ file: borrowing SecureBytes, with passphrase: borrowing Passphrase) throws(KeyError) -> Opened {
    let count = Self.bodyRange.count
    var body = try SecureBytes(capacity: count)
    var isDerived = true
    // The file has 158 bytes, as the parser saw; libsodium writes 104, for which there is room, and reads 32 of salt.
    unsafe body.append { free, _ in
      if isEncrypted {
        let result = unsafe passphrase.bytes.withUnsafeBytes { secret, length in
          unsafe secret.withMemoryRebound(to: CChar.self, capacity: length) { text in
            unsafe crypto_pwhash_scryptsalsa208sha256(free, UInt64(count), text, UInt64(length), salt, operations, Int(memory))
          }
        }
        isDerived = result == 0
      } else {
        unsafe sodium_memzero(free, count)
      }
      unsafe file.withUnsafeBytes { bytes, _ in
        for index in 0..<count { unsafe free[index] ^= bytes[Self.bodyRange.lowerBound + index] }
      }
      return count
    }
    guard isDerived else { throw .memoryUnavailable(byteCount: Int(memory)) }
    guard try hasRightChecksum(body) else { throw isEncrypted ? .wrongPassphrase : .notImportable(.checksum) }
    let seed = try body.slice(Self.keyNumberByteCount..<Self.keyNumberByteCount + SecretKey.seedByteCount)
    let (publicKey, keyNumber) = body.withBytes { bytes in ((40..<72).map { bytes[$0] }, (0..<8).map { bytes[$0] }) }
    return Opened(seed: seed, publicKey: publicKey, keyNumber: keyNumber)
  }

  private func hasRightChecksum(_ body: borrowing SecureBytes) throws(KeyError) -> Bool {
    var message = try SecureBytes(capacity: 2 + Self.checksummedByteCount)
    message.append("Ed".utf8)
    var checksum = try SecureBytes(capacity: 32)
    // Lengths are those of the format; each buffer has room.
    unsafe body.withUnsafeBytes { bytes, _ in
      unsafe message.append { free, _ in
        unsafe free.update(from: bytes, count: Self.checksummedByteCount)
        return Self.checksummedByteCount
      }
    }
    unsafe checksum.append { free, room in
      unsafe message.withUnsafeBytes { text, length in unsafe crypto_generichash(free, room, text, UInt64(length), nil, 0) == 0 ? room : 0 }
    }
    let stored = try body.slice(Self.checksummedByteCount..<Self.checksummedByteCount + 32)
    // Without encryption the public half, which is compared by whoever opens the key, shows damage as well.
    let isLeftOut = unsafe !isEncrypted && stored.withUnsafeBytes { bytes, count in unsafe sodium_is_zero(bytes, count) == 1 }
    return isLeftOut || checksum.isEqual(to: stored)
  }
}
