/// Recognises secret keys by their first bytes, so that none is published among models.
enum SecretKeyTraces {
  /// How many bytes of a file are looked at, and the longest file that is looked at: a key file is never longer.
  static let byteLimit = 16 << 10

  static func isSecretKey(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.starts(with: own) || isPKCS8(bytes) || isMinisign(bytes) || isPEM(bytes)
  }

  private static let own = Array("manifest-sign secret key ".utf8)

  /// An Ed25519 key in PKCS #8, as DER (RFC 8410 §7), of either version, or any key encrypted under PBES2 (RFC 8018 §6.2). What stands between
  /// the outermost tag and the first of these bytes is lengths.
  private static func isPKCS8(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.first == 0x30 else { return false }
    let head = Array(bytes.prefix(12))
    let plain = (2...4).contains { start in
      head.dropFirst(start).starts(with: [0x02, 0x01, 0x00]) || head.dropFirst(start).starts(with: [0x02, 0x01, 0x01])
    }
    let beginning = bytes.prefix(32)
    return plain && contains(ed25519, beginning) || contains(pbes2, beginning)
  }

  private static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04]
  private static let pbes2: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]

  private static func contains(_ part: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }

  /// A comment, then base64 of "Ed", the key derivation ("Sc" or none) and the checksum algorithm "B2". A public key and a signature
  /// have random bytes where "B2" stands.
  private static func isMinisign(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.starts(with: "untrusted comment:".utf8), let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return false }
    let key = bytes[(lineEnd + 1)...]
    return key.starts(with: "RWRTY0Iy".utf8) || key.starts(with: "RWQAAEIy".utf8)
  }

  /// PEM of any kind of private key, also behind certificates and OpenSSH's.
  private static func isPEM(_ bytes: ArraySlice<UInt8>) -> Bool {
    let span = bytes.span
    var index = dashCount - 1
    // Of the five dashes in a row, one stands at every fifth place: four of five bytes need not be looked at.
    while index < span.count {
      if span[index] == UInt8(ascii: "-") {
        for start in index + 1 - dashCount...index where beginsWithPEM(bytes.dropFirst(start)) { return true }
      }
      index += dashCount
    }
    return false
  }

  private static let dashCount = 5
  private static let pemBeginning = Array("-----BEGIN ".utf8)
  private static let pemEnd = Array("PRIVATE KEY-----".utf8)

  private static func beginsWithPEM(_ rest: ArraySlice<UInt8>) -> Bool {
    guard rest.starts(with: pemBeginning) else { return false }
    var label = rest.dropFirst(pemBeginning.count).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    while label.last == UInt8(ascii: " ") { label.removeLast() }
    return label.suffix(pemEnd.count).elementsEqual(pemEnd)
  }
}
