/// An Ed25519 key as PKCS #8: RFC 5958 OneAsymmetricKey with the algorithm of RFC 8410, as `openssl genpkey -algorithm ed25519` writes it.
enum PKCS8 {
  /// Where the parts of a key stand in its DER.
  struct Parts: Equatable {
    let seed: Range<Int>
    /// What version 2 adds; not secret.
    let publicKey: [UInt8]?
  }

  /// id-Ed25519, 1.3.101.112.
  static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]

  /// Whether bytes begin as a key of this kind does, plain or under PBES2: then they are no raw key, whatever their number.
  static func isBeginning(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count >= 32, bytes[0] == DERCursor.Tag.sequence else { return false }
    let identifiers: [[UInt8]] = [[0x06, 0x03] + ed25519, [0x06, 0x09] + EncryptedPKCS8.pbes2]
    return identifiers.contains { identifier in
      (2...32 - identifier.count).contains { start in identifier.indices.allSatisfy { bytes[start + $0] == identifier[$0] } }
    }
  }

  /// - Throws: `notImportable`.
  static func parse(_ der: Span<UInt8>) throws(KeyError) -> Parts {
    var outer = DERCursor(0..<der.count)
    var key = DERCursor(try outer.read(DERCursor.Tag.sequence, in: der))
    try outer.requireEnd()
    let version = try key.readNumber(in: der)
    guard version <= 1 else { throw .notImportable(.malformed("PKCS #8")) }
    var algorithm = DERCursor(try key.read(DERCursor.Tag.sequence, in: der))
    guard try algorithm.readIdentifier(in: der) == ed25519 else { throw .notImportable(.otherAlgorithm) }
    // RFC 8410 §3: there are no parameters, not even NULL.
    try algorithm.requireEnd()
    var wrapped = DERCursor(try key.read(DERCursor.Tag.octetString, in: der))
    let seed = try wrapped.read(DERCursor.Tag.octetString, in: der)
    try wrapped.requireEnd()
    guard seed.count == SecretKey.seedByteCount else { throw .notImportable(.malformed("PKCS #8")) }
    // Attributes say nothing about the key itself.
    if key.isNext(DERCursor.Tag.attributes, in: der) { _ = try key.read(DERCursor.Tag.attributes, in: der) }
    var publicKey: [UInt8]?
    if version == 1, key.isNext(DERCursor.Tag.publicKey, in: der) {
      let bits = try key.read(DERCursor.Tag.publicKey, in: der)
      // The number of unused bits, then the key.
      guard bits.count == 33, der[bits.lowerBound] == 0 else { throw .notImportable(.malformed("PKCS #8")) }
      publicKey = bits.dropFirst().map { der[$0] }
    }
    try key.requireEnd()
    return Parts(seed: seed, publicKey: publicKey)
  }
}
