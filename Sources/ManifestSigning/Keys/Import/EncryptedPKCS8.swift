internal import CLibcrypto

/// An encrypted PKCS #8 key (RFC 5958 §3) under PBES2 (RFC 8018 §6.2), as openssl and python's `cryptography` write it.
///
/// What the file asks for is read here and bounded; only then does libcrypto derive and decrypt.
struct EncryptedPKCS8: Equatable {
  /// Passes of PBKDF2: a hostile file gets some ten seconds.
  static let iterationBounds: ClosedRange<UInt64> = 1...10_000_000
  /// The parallel passes of scrypt; its memory is bounded by libcrypto, to 32 MiB.
  static let parallelisationBounds: ClosedRange<UInt64> = 1...16

  static let pbes2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]
  private static let pbkdf2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C]
  private static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]
  /// AES-128, AES-192, AES-256 and triple DES, each in CBC.
  private static let ciphers: [[UInt8]] = [
    [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x02], [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x16],
    [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A], [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x03, 0x07],
  ]

  /// The AlgorithmIdentifier, its header included.
  let algorithm: Range<Int>
  let ciphertext: Range<Int>

  /// Whether some DER is an encrypted key rather than a plain one, which begins with a version.
  static func isLikely(_ der: Span<UInt8>) -> Bool {
    var outer = DERCursor(0..<der.count)
    guard let content = try? outer.read(DERCursor.Tag.sequence, in: der) else { return false }
    return DERCursor(content).isNext(DERCursor.Tag.sequence, in: der)
  }

  /// - Throws: `notImportable`, `costOutOfBounds`.
  init(_ der: Span<UInt8>) throws(KeyError) {
    var outer = DERCursor(0..<der.count)
    var info = DERCursor(try outer.read(DERCursor.Tag.sequence, in: der))
    try outer.requireEnd()
    let start = info.offset
    var identifier = DERCursor(try info.read(DERCursor.Tag.sequence, in: der))
    algorithm = start..<info.offset
    ciphertext = try info.read(DERCursor.Tag.octetString, in: der)
    try info.requireEnd()
    guard try identifier.readIdentifier(in: der) == Self.pbes2 else { throw .notImportable(.unsupportedEncryption) }
    var parameters = DERCursor(try identifier.read(DERCursor.Tag.sequence, in: der))
    try identifier.requireEnd()
    try Self.checkDerivation(try parameters.read(DERCursor.Tag.sequence, in: der), der)
    var cipher = DERCursor(try parameters.read(DERCursor.Tag.sequence, in: der))
    try parameters.requireEnd()
    guard Self.ciphers.contains(try cipher.readIdentifier(in: der)) else { throw .notImportable(.unsupportedEncryption) }
  }

  private static func checkDerivation(_ range: Range<Int>, _ der: Span<UInt8>) throws(KeyError) {
    var derivation = DERCursor(range)
    let function = try derivation.readIdentifier(in: der)
    var parameters = DERCursor(try derivation.read(DERCursor.Tag.sequence, in: der))
    try derivation.requireEnd()
    _ = try parameters.read(DERCursor.Tag.octetString, in: der)
    let first = try parameters.readNumber(in: der)
    switch function {
    case pbkdf2:
      guard iterationBounds.contains(first) else {
        throw .costOutOfBounds(field: "iterationCount", found: first, bounds: iterationBounds)
      }
    case scrypt:
      _ = try parameters.readNumber(in: der)
      let parallelisation = try parameters.readNumber(in: der)
      guard parallelisationBounds.contains(parallelisation) else {
        throw .costOutOfBounds(field: "parallelizationParameter", found: parallelisation, bounds: parallelisationBounds)
      }
    default: throw .notImportable(.unsupportedEncryption)
    }
  }

  /// The DER of the key inside.
  /// - Throws: `wrongPassphrase`.
  func decrypt(_ der: borrowing SecureBytes, with passphrase: borrowing Passphrase) throws(KeyError) -> SecureBytes {
    var plain = try SecureBytes(capacity: max(ciphertext.count, 1))
    // Both ranges lie within the DER, as the parser saw; what libcrypto returns is wiped before it is freed.
    unsafe plain.append { free, room in
      unsafe der.withUnsafeBytes { bytes, _ in
        var start: UnsafePointer<UInt8>? = unsafe bytes + algorithm.lowerBound
        guard let identifier = unsafe d2i_X509_ALGOR(nil, &start, algorithm.count) else { return 0 }
        defer { unsafe X509_ALGOR_free(identifier) }
        var output: UnsafeMutablePointer<UInt8>?
        var length: CInt = 0
        _ = unsafe passphrase.bytes.withUnsafeBytes { secret, count in
          unsafe secret.withMemoryRebound(to: CChar.self, capacity: count) { text in
            unsafe PKCS12_pbe_crypt(
              identifier, text, CInt(count), bytes + ciphertext.lowerBound, CInt(ciphertext.count), &output, &length, 0)
          }
        }
        ERR_clear_error()
        guard let output = unsafe output else { return 0 }
        defer { unsafe CRYPTO_clear_free(output, Int(max(length, 0)), nil, 0) }
        guard length > 0, Int(length) <= room else { return 0 }
        unsafe free.update(from: output, count: Int(length))
        return Int(length)
      }
    }
    guard plain.count > 0 else { throw .wrongPassphrase }
    return plain
  }
}
