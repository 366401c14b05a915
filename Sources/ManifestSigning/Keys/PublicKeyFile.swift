internal import CSodium
public import TUFMetadata

/// The public half of an Ed25519 key as a file: RFC 8410 SubjectPublicKeyInfo in PEM, byte for byte what `openssl pkey -pubout` writes.
public enum PublicKeyFile {
  /// RFC 8410 §4: SEQUENCE { SEQUENCE { OID 1.3.101.112 } BIT STRING of 32 bytes }, up to the key itself.
  private static let derPrefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
  private static let firstLine = "-----BEGIN PUBLIC KEY-----\n"
  private static let lastLine = "-----END PUBLIC KEY-----\n"
  /// 44 bytes of DER make 60 characters.
  private static let characterCount = 60
  /// The longest file that is looked at, in bytes: enough to tell a larger key of another kind by its name.
  private static let fileByteLimit = 16_384

  /// The text of the file.
  public static func pem(_ key: Ed25519PublicKey) -> [UInt8] {
    let der = derPrefix + key.bytes
    // libsodium adds a NUL.
    var characters = [CChar](repeating: 0, count: characterCount + 1)
    // The array has room for 60 characters and the NUL.
    _ = unsafe sodium_bin2base64(&characters, characters.count, der, der.count, sodium_base64_VARIANT_ORIGINAL)
    let encoded = characters.dropLast().map { UInt8(bitPattern: $0) }
    return Array(firstLine.utf8) + encoded + Array("\n".utf8) + Array(lastLine.utf8)
  }

  /// Reads the text of a file: exactly the bytes that `pem` gives for some key, and nothing else.
  /// - Throws: `KeyError.notPublicKey`.
  public static func parse(_ text: [UInt8]) throws(KeyError) -> Ed25519PublicKey {
    let start = firstLine.utf8.count
    guard text.count == start + characterCount + 1 + lastLine.utf8.count, text.starts(with: firstLine.utf8) else {
      throw .notPublicKey(fault(of: text))
    }
    let characters = text[start..<start + characterCount].map { CChar(bitPattern: $0) }
    var der = [UInt8](repeating: 0, count: derPrefix.count + Ed25519PublicKey.byteCount)
    var length = 0
    // libsodium writes no more than the array holds and reads the 60 characters.
    let result = unsafe sodium_base642bin(
      &der, der.count, characters, characters.count, nil, &length, nil, sodium_base64_VARIANT_ORIGINAL)
    guard result == 0, length == der.count else { throw .notPublicKey(.malformed) }
    guard der.starts(with: derPrefix) else { throw .notPublicKey(.otherAlgorithm) }
    // Writing it again proves that there was one spelling only, the line ends included.
    guard let key = try? Ed25519PublicKey(bytes: Array(der.dropFirst(derPrefix.count))), pem(key) == text else {
      throw .notPublicKey(.malformed)
    }
    return key
  }

  /// Reads a file.
  public static func read(path: String) throws(SigningError) -> Ed25519PublicKey {
    // A secret key may have been named by mistake, so its bytes are treated as secret until it is known.
    let content = try KeyFileAccess.readPublic(path: path, limit: fileByteLimit)
    do throws(KeyError) {
      return try content.withBytes { (bytes) throws(KeyError) in
        guard !contains("PRIVATE", in: bytes), !contains("secret key", in: bytes) else { throw .notPublicKey(.privateKey) }
        var text: [UInt8] = []
        for index in bytes.indices { text.append(bytes[index]) }
        return try parse(text)
      }
    } catch { throw .key(error, path: path) }
  }

  /// Writes a new file, mode 0644. Never overwrites.
  public static func write(_ key: Ed25519PublicKey, path: String) throws(SigningError) {
    let text = pem(key)
    var content = try KeyFileAccess.secureBytes(capacity: text.count)
    content.append(text)
    try KeyFileAccess.writeNew(path: path, content: content, isSecret: false)
  }

  private static func fault(of text: [UInt8]) -> PublicKeyFault {
    if contains("PRIVATE", in: text.span) || contains("secret key", in: text.span) { return .privateKey }
    if text.contains(UInt8(ascii: "\r")) { return .carriageReturn }
    // The 12 bytes before the key are exactly 16 characters of base64.
    let isEd25519 = text.dropFirst(firstLine.utf8.count).starts(with: "MCowBQYDK2VwAyEA".utf8)
    let isPEM = text.starts(with: firstLine.utf8) && text.suffix(lastLine.utf8.count).elementsEqual(lastLine.utf8)
    return isPEM && !isEd25519 ? .otherAlgorithm : .malformed
  }

  private static func contains(_ word: String, in text: Span<UInt8>) -> Bool {
    let word = Array(word.utf8)
    guard text.count >= word.count else { return false }
    return (0...text.count - word.count).contains { start in
      word.indices.allSatisfy { text[start + $0] == word[$0] }
    }
  }
}
