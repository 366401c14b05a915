internal import CSodium
internal import Digests
internal import TUFMetadata

/// The text of a secret key file: what Documentation/secret-key-format.md specifies. No I/O.
///
/// Nothing that follows the label of a secret line is copied, other than into `SecureBytes`.
struct SecretKeyText {
  /// The longest file, in bytes; keeps a hostile file from filling locked memory.
  static let fileByteLimit = 1024
  /// The longest line, in bytes, without its line feed.
  static let lineByteLimit = 128
  /// The longest name, in bytes of UTF-8.
  static let nameByteLimit = 100

  static let saltByteCount = Int(crypto_pwhash_SALTBYTES)
  static let nonceByteCount = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
  static let ciphertextByteCount = SecretKey.seedByteCount + Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

  /// How the seed is kept.
  enum Payload: Equatable {
    /// In clear; `seed` is where its hexadecimal digits stand in the text.
    case clear(seed: Range<Int>)
    /// Argon2id, then XChaCha20-Poly1305; `authenticated` is how many bytes from the start of the text are associated data.
    case encrypted(KeyDerivationCosts, salt: [UInt8], nonce: [UInt8], ciphertext: [UInt8], authenticated: Int)
  }

  let name: String
  let publicKey: Ed25519PublicKey
  let payload: Payload

  private static let prefix = "manifest-sign secret key "
  private static let firstLine = prefix + "1"

  /// Reads the text of a file.
  /// - Throws: `KeyError.malformed` with the line, `KeyError.costOutOfBounds`, `KeyError.invalidName`.
  init(_ text: Span<UInt8>) throws(KeyError) {
    let lines = try Self.lines(of: text)
    guard Self.matches(text, lines[0], Self.firstLine) else {
      throw .malformed(Self.hasPrefix(text, lines[0], Self.prefix) ? .unsupportedVersion : .notSecretKeyFile, line: 1)
    }
    guard lines.count >= 4 else { throw .malformed(.lineCount(expected: 5, found: lines.count), line: lines.count) }
    let nameRange = try Self.value("name", in: text, lines, 1)
    let publicKeyRange = try Self.value("public-key", in: text, lines, 2)
    do {
      publicKey = try Ed25519PublicKey(hexadecimal: text.extracting(publicKeyRange))
    } catch { throw .malformed(.invalidValue(field: "public-key"), line: 3) }
    let derivation = try Self.value("kdf", in: text, lines, 3)
    if Self.matches(text, derivation, "none") {
      guard lines.count == 5 else { throw .malformed(.lineCount(expected: 5, found: lines.count), line: min(lines.count, 6)) }
      payload = .clear(seed: try Self.value("seed", in: text, lines, 4))
    } else if Self.matches(text, derivation, "argon2id13") {
      guard lines.count == 9 else { throw .malformed(.lineCount(expected: 9, found: lines.count), line: min(lines.count, 10)) }
      let costs = try KeyDerivationCosts(
        operations: Self.number("opslimit", in: text, lines, 4), memory: Self.number("memlimit", in: text, lines, 5))
      payload = .encrypted(
        costs, salt: try Self.bytes("salt", Self.saltByteCount, in: text, lines, 6),
        nonce: try Self.bytes("nonce", Self.nonceByteCount, in: text, lines, 7),
        ciphertext: try Self.bytes("ciphertext", Self.ciphertextByteCount, in: text, lines, 8), authenticated: lines[8].lowerBound)
    } else {
      throw .malformed(.unsupportedKeyDerivation, line: 4)
    }
    // Only now that every line is what it should be is anything copied from the one line of free text.
    name = try Self.name(text.extracting(nameRange))
  }

  /// The lines of the file from the first to the one before the secret line.
  /// - Parameter encryption: nil for a seed in clear.
  static func header(
    name: String, publicKey: Ed25519PublicKey, encryption: (costs: KeyDerivationCosts, salt: [UInt8], nonce: [UInt8])?
  ) -> [UInt8] {
    var text = "\(firstLine)\nname: \(name)\npublic-key: \(hexadecimal(publicKey.bytes))\n"
    if let encryption {
      text += "kdf: argon2id13\nopslimit: \(encryption.costs.operations)\nmemlimit: \(encryption.costs.memory)\n"
      text += "salt: \(hexadecimal(encryption.salt))\nnonce: \(hexadecimal(encryption.nonce))\n"
    } else {
      text += "kdf: none\n"
    }
    return Array(text.utf8)
  }

  /// Whether a name can stand in a file, and on a terminal.
  static func isName(_ name: String) -> Bool {
    guard (1...nameByteLimit).contains(name.utf8.count), name.utf8.first != UInt8(ascii: " "), name.utf8.last != UInt8(ascii: " ") else {
      return false
    }
    return name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
      case .spaceSeparator: scalar == " "
      default: true
      }
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String { String(decoding: Hexadecimal.encode(bytes.span), as: UTF8.self) }

  /// Decodes the seed, in a time that does not depend on it.
  static func seed(in text: borrowing SecureBytes, at range: Range<Int>) throws(KeyError) -> SecureBytes {
    let byteCount = SecretKey.seedByteCount
    var seed = try SecureBytes(capacity: byteCount)
    // Whatever is read lies within the range, which lies within the text.
    unsafe text.withUnsafeBytes { bytes, length in
      guard range.count == 2 * byteCount, range.lowerBound >= 0, range.upperBound <= length else { return }
      // libsodium takes upper case as well; one seed has one spelling. Every digit is looked at, whatever the others are.
      var upperCase: UInt8 = 0
      for index in range { upperCase |= unsafe (bytes[index] & 0x60) == 0x40 ? 1 : 0 }
      guard upperCase == 0 else { return }
      // libsodium writes no more than 32 bytes, for which there is room.
      unsafe seed.append { free, _ in
        var decoded = 0
        let result = unsafe (bytes + range.lowerBound).withMemoryRebound(to: CChar.self, capacity: range.count) { digits in
          unsafe sodium_hex2bin(free, byteCount, digits, range.count, nil, &decoded, nil)
        }
        return result == 0 ? decoded : 0
      }
    }
    guard seed.count == byteCount else { throw .malformed(.invalidValue(field: "seed"), line: 5) }
    return seed
  }

  // MARK: Lines and fields

  /// Cuts the text into lines and refuses everything that no valid file has, whatever its fields are.
  private static func lines(of text: Span<UInt8>) throws(KeyError) -> [Range<Int>] {
    guard !text.isEmpty else { throw .malformed(.empty, line: 1) }
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { throw .malformed(.byteOrderMark, line: 1) }
    var result: [Range<Int>] = []
    var start = 0
    for index in text.indices {
      let line = result.count + 1
      guard text[index] != UInt8(ascii: "\r") else { throw .malformed(.carriageReturn, line: line) }
      guard index - start <= lineByteLimit else { throw .malformed(.lineTooLong(limit: lineByteLimit), line: line) }
      guard text[index] == UInt8(ascii: "\n") else { continue }
      if index > start, text[index - 1] == UInt8(ascii: " ") || text[index - 1] == UInt8(ascii: "\t") {
        throw .malformed(.trailingBlank, line: line)
      }
      result.append(start..<index)
      start = index + 1
    }
    guard start == text.count else { throw .malformed(.missingLastLineFeed, line: result.count + 1) }
    return result
  }

  private static func hasPrefix(_ text: Span<UInt8>, _ range: Range<Int>, _ prefix: String) -> Bool {
    guard range.count >= prefix.utf8.count else { return false }
    for (offset, byte) in prefix.utf8.enumerated() where text[range.lowerBound + offset] != byte { return false }
    return true
  }

  private static func matches(_ text: Span<UInt8>, _ range: Range<Int>, _ expected: String) -> Bool {
    range.count == expected.utf8.count && hasPrefix(text, range, expected)
  }

  /// Where the value of the field that must stand on a line begins and ends.
  private static func value(_ field: String, in text: Span<UInt8>, _ lines: [Range<Int>], _ index: Int) throws(KeyError) -> Range<Int> {
    guard hasPrefix(text, lines[index], field + ": ") else { throw .malformed(.expectedField(field), line: index + 1) }
    return lines[index].lowerBound + field.utf8.count + 2..<lines[index].upperBound
  }

  private static func bytes(
    _ field: String, _ byteCount: Int, in text: Span<UInt8>, _ lines: [Range<Int>], _ index: Int
  ) throws(KeyError) -> [UInt8] {
    let range = try value(field, in: text, lines, index)
    do {
      return try Hexadecimal.decode(text.extracting(range), byteCount: byteCount)
    } catch { throw .malformed(.invalidValue(field: field), line: index + 1) }
  }

  private static func number(_ field: String, in text: Span<UInt8>, _ lines: [Range<Int>], _ index: Int) throws(KeyError) -> UInt64 {
    let range = try value(field, in: text, lines, index)
    // 19 digits always fit in 64 bits.
    guard (1...19).contains(range.count), text[range.lowerBound] != UInt8(ascii: "0") else {
      throw .malformed(.invalidValue(field: field), line: index + 1)
    }
    var result: UInt64 = 0
    for position in range {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) else {
        throw .malformed(.invalidValue(field: field), line: index + 1)
      }
      result = result * 10 + UInt64(text[position] - UInt8(ascii: "0"))
    }
    return result
  }

  private static func name(_ text: Span<UInt8>) throws(KeyError) -> String {
    var bytes: [UInt8] = []
    for index in text.indices { bytes.append(text[index]) }
    guard let name = String(validating: bytes, as: UTF8.self), isName(name) else { throw .invalidName }
    return name
  }
}
