internal import CSodium
public import TUFMetadata

/// A secret key at rest, read and not yet opened. The format is Documentation/secret-key-format.md.
public struct SecretKeyFile: ~Copyable {
  /// Where the file is.
  public let path: String
  /// What people call the key.
  public let name: String
  /// The public half, as the file states it. It is proved only when the key is opened.
  public let publicKey: Ed25519PublicKey
  private let content: SecureBytes
  private let payload: SecretKeyText.Payload

  /// Reads a file that nobody but its owner can use, and that nobody could have redirected.
  /// - Parameter path: a regular file with mode 0600 or stricter, in a folder with mode 0700 or stricter, both of this user.
  /// - Throws: `SigningError.key` with the reason, `SigningError.system`.
  public static func read(path: String) throws(SigningError) -> SecretKeyFile {
    let content = try KeyFileAccess.readSecret(path: path, limit: SecretKeyText.fileByteLimit)
    return try SecretKeyFile(content: content, path: path)
  }

  /// Reads a copy, whatever its mode and its owner are: to see whether it is good, never to sign with it.
  static func readBackup(path: String) throws(SigningError) -> SecretKeyFile {
    let content = try KeyFileAccess.readPublic(path: path, limit: SecretKeyText.fileByteLimit)
    return try SecretKeyFile(content: content, path: path)
  }

  /// The file that some text is.
  /// - Parameter path: for messages.
  package init(content: consuming SecureBytes, path: String) throws(SigningError) {
    let text: SecretKeyText
    do throws(KeyError) {
      text = try content.withBytes { (bytes) throws(KeyError) in try SecretKeyText(bytes) }
    } catch { throw .key(error, path: path) }
    self.path = path
    name = text.name
    publicKey = text.publicKey
    payload = text.payload
    self.content = content
  }

  /// Whether a passphrase is needed. Each use of a key without one must be reported to the person.
  public var isEncrypted: Bool {
    if case .encrypted = payload { true } else { false }
  }

  /// What opening costs; nil where the key is not encrypted.
  public var costs: KeyDerivationCosts? {
    if case .encrypted(let costs, _, _, _, _) = payload { costs } else { nil }
  }

  /// Opens an encrypted key.
  /// - Throws: `KeyError.wrongPassphrase` also where the file was changed: the two look alike by design.
  public borrowing func open(with passphrase: borrowing Passphrase) throws(SigningError) -> SecretKey {
    do throws(KeyError) {
      guard case .encrypted(let costs, let salt, let nonce, let ciphertext, let authenticated) = payload else {
        throw .protectionDiffers(encrypted: false)
      }
      let key = try costs.deriveKey(from: passphrase, salt: salt)
      var seed = try SecureBytes(capacity: SecretKey.seedByteCount)
      // The parser checked the lengths of nonce, ciphertext and header; libsodium writes 32 bytes, for which there is room.
      unsafe seed.append { free, _ in
        var length: UInt64 = 0
        let result = unsafe content.withUnsafeBytes { text, _ in
          unsafe key.withUnsafeBytes { keyBytes, _ in
            unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
              free, &length, nil, ciphertext, UInt64(ciphertext.count), text, UInt64(authenticated), nonce, keyBytes)
          }
        }
        return result == 0 ? SecretKey.seedByteCount : 0
      }
      guard seed.count == SecretKey.seedByteCount else { throw .wrongPassphrase }
      return try secretKey(seed)
    } catch { throw .key(error, path: path) }
  }

  /// Opens a key that is not encrypted.
  public borrowing func openUnencrypted() throws(SigningError) -> SecretKey {
    do throws(KeyError) {
      guard case .clear(let range) = payload else { throw .protectionDiffers(encrypted: true) }
      return try secretKey(SecretKeyText.seed(in: content, at: range))
    } catch { throw .key(error, path: path) }
  }

  private borrowing func secretKey(_ seed: consuming SecureBytes) throws(KeyError) -> SecretKey {
    let key = try SecretKey(seed: seed, origin: path)
    guard key.publicKey == publicKey else { throw .publicKeyMismatch }
    return key
  }

  // MARK: Writing

  /// Writes a new encrypted file, mode 0600, and its folder, mode 0700, where that is missing. Never overwrites.
  /// - Parameters:
  ///   - path: must not exist.
  ///   - name: what people call the key: 1 to 100 bytes of visible characters.
  public static func write(
    _ key: borrowing SecretKey, name: String, passphrase: borrowing Passphrase, costs: KeyDerivationCosts = .standard, path: String
  ) throws(SigningError) {
    let content: SecureBytes
    do throws(KeyError) {
      content = try encrypt(key, name: name, passphrase: passphrase, costs: costs)
    } catch { throw .key(error, path: path) }
    try KeyFileAccess.writeNew(path: path, content: content, isSecret: true)
  }

  /// Writes a new file with the seed in clear. Whoever reads it can sign, so this needs an explicit wish of the person.
  public static func writeUnencrypted(_ key: borrowing SecretKey, name: String, path: String) throws(SigningError) {
    let content: SecureBytes
    do throws(KeyError) {
      content = try clearText(key, name: name)
    } catch { throw .key(error, path: path) }
    try KeyFileAccess.writeNew(path: path, content: content, isSecret: true)
  }

  /// The text of an encrypted file.
  package static func encrypt(
    _ key: borrowing SecretKey, name: String, passphrase: borrowing Passphrase, costs: KeyDerivationCosts
  ) throws(KeyError) -> SecureBytes {
    guard SecretKeyText.isName(name) else { throw .invalidName }
    let salt = try randomBytes(SecretKeyText.saltByteCount)
    let nonce = try randomBytes(SecretKeyText.nonceByteCount)
    let header = SecretKeyText.header(name: name, publicKey: key.publicKey, encryption: (costs, salt, nonce))
    let encryptionKey = try costs.deriveKey(from: passphrase, salt: salt)
    var ciphertext = [UInt8](repeating: 0, count: SecretKeyText.ciphertextByteCount)
    // libsodium writes 16 bytes more than the seed has, for which there is room; every other length is passed along or fixed.
    unsafe key.withSeed { seed, length in
      unsafe encryptionKey.withUnsafeBytes { keyBytes, _ in
        _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
          &ciphertext, nil, seed, UInt64(length), header, UInt64(header.count), nil, nonce, keyBytes)
      }
    }
    var content = try SecureBytes(capacity: SecretKeyText.fileByteLimit)
    content.append(header)
    content.append("ciphertext: \(SecretKeyText.hexadecimal(ciphertext))\n".utf8)
    return content
  }

  /// The text of a file that is not encrypted.
  package static func clearText(_ key: borrowing SecretKey, name: String) throws(KeyError) -> SecureBytes {
    guard SecretKeyText.isName(name) else { throw .invalidName }
    var content = try SecureBytes(capacity: SecretKeyText.fileByteLimit)
    content.append(SecretKeyText.header(name: name, publicKey: key.publicKey, encryption: nil))
    content.append("seed: ".utf8)
    // There is room for 64 digits and the NUL that libsodium adds, which the line feed then replaces.
    unsafe key.withSeed { seed, length in
      unsafe content.append { free, room in
        unsafe free.withMemoryRebound(to: CChar.self, capacity: room) { text in
          unsafe sodium_bin2hex(text, room, seed, length)
          return 2 * length
        }
      }
    }
    content.append("\n".utf8)
    return content
  }

  private static func randomBytes(_ count: Int) throws(KeyError) -> [UInt8] {
    try Sodium.prepare()
    var bytes = [UInt8](repeating: 0, count: count)
    // The array has `count` bytes.
    unsafe randombytes_buf(&bytes, count)
    return bytes
  }
}
