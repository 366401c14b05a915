/// Recognises secret keys by their first bytes, so that none is published among models.
enum SecretKeyTraces {
  /// How many bytes of a file are looked at, and the longest file that is looked at: a key file is never longer.
  static let byteLimit = 16 << 10

  static func isSecretKey(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.starts(with: own) || bytes.starts(with: pkcs8) || isMinisign(bytes) || isPEM(bytes)
  }

  private static let own = Array("manifest-sign secret key ".utf8)

  /// An Ed25519 key in PKCS #8, as DER (RFC 8410 §7): all but the key itself.
  private static let pkcs8: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]

  /// A comment, then base64 of "Ed", the key derivation ("Sc" or none) and the checksum algorithm "B2". A public key and a signature
  /// have random bytes where "B2" stands.
  private static func isMinisign(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.starts(with: "untrusted comment:".utf8), let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return false }
    let key = bytes[(lineEnd + 1)...]
    return key.starts(with: "RWRTY0Iy".utf8) || key.starts(with: "RWQAAEIy".utf8)
  }

  /// PEM of any kind of private key, also behind certificates and OpenSSH's.
  private static func isPEM(_ bytes: ArraySlice<UInt8>) -> Bool {
    let (begin, end) = (Array("-----BEGIN ".utf8), Array("PRIVATE KEY-----".utf8))
    var rest = bytes
    while let dash = rest.firstIndex(of: UInt8(ascii: "-")) {
      rest = rest[dash...]
      if rest.starts(with: begin) {
        let label = rest.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        var trimmed = label
        while trimmed.last == UInt8(ascii: " ") { trimmed.removeLast() }
        if trimmed.suffix(end.count).elementsEqual(end) { return true }
      }
      rest = rest.dropFirst()
    }
    return false
  }
}
