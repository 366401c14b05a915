internal import TUFMetadata

/// A secret key as another program keeps it, read and not yet opened. Documentation/keys.md lists the forms.
public struct ForeignKeyFile: ~Copyable {
  /// The forms that can be imported.
  public enum Form: String, Equatable, Sendable {
    case pkcs8 = "PKCS #8"
    case encryptedPKCS8 = "encrypted PKCS #8"
    case minisign = "minisign"
    case encryptedMinisign = "encrypted minisign"
    case seed = "seed of 32 bytes"
    case seedAndPublicKey = "seed and public key of 64 bytes"
  }

  private enum Parsed: Equatable {
    case pkcs8(PKCS8.Parts)
    case encryptedPKCS8(EncryptedPKCS8)
    case minisign(MinisignSecretKey)
    case seed
    case seedAndPublicKey
  }

  /// What a key was and, where minisign made it, the number by which minisign calls it.
  public struct Opened: ~Copyable {
    public let key: SecretKey
    public let minisignKeyNumber: [UInt8]?

    /// The key alone.
    public consuming func takeKey() -> SecretKey { key }
  }

  /// The longest file that is looked at, in bytes.
  public static let byteLimit = 4096

  public let path: String
  /// The file, or what its base64 stands for.
  private let content: SecureBytes
  private let parsed: Parsed

  /// Reads a file. Its mode is that which the other program gave it.
  /// - Throws: `KeyError.notImportable`, `KeyError.costOutOfBounds`, `KeyError.fileTooLong`.
  public static func read(path: String) throws(SigningError) -> ForeignKeyFile {
    try ForeignKeyFile(content: KeyFileAccess.readPublic(path: path, limit: byteLimit), path: path)
  }

  /// Whether the content of a file is a secret key file of manifest-sign.
  public static func isOwnFormat(path: String) throws(SigningError) -> Bool {
    try KeyFileAccess.readPublic(path: path, limit: byteLimit).withBytes { SecretText.hasPrefix("manifest-sign secret key ", in: $0) }
  }

  package init(content: consuming SecureBytes, path: String) throws(SigningError) {
    self.path = path
    do throws(KeyError) {
      let decoded = try Self.decode(content)
      parsed = try Self.parse(decoded)
      self.content = decoded.bytes
    } catch { throw .key(error, path: path) }
  }

  public var form: Form {
    switch parsed {
    case .pkcs8: .pkcs8
    case .encryptedPKCS8: .encryptedPKCS8
    case .minisign(let key): key.isEncrypted ? .encryptedMinisign : .minisign
    case .seed: .seed
    case .seedAndPublicKey: .seedAndPublicKey
    }
  }

  /// Whether a passphrase is needed.
  public var isEncrypted: Bool { form == .encryptedPKCS8 || form == .encryptedMinisign }

  /// Opens a key that is not encrypted.
  /// - Throws: `KeyError.protectionDiffers`, `KeyError.publicKeyMismatch`, `KeyError.notImportable`.
  public borrowing func openUnencrypted() throws(SigningError) -> Opened {
    guard !isEncrypted else { throw .key(.protectionDiffers(encrypted: true), path: path) }
    let none: Passphrase
    do throws(KeyError) { none = try Passphrase(SecureBytes(capacity: 1)) } catch { throw .key(error, path: path) }
    return try open(with: none)
  }

  /// Opens a key; the passphrase is looked at only where it is encrypted.
  /// - Throws: `KeyError.wrongPassphrase`, also where an encrypted file was changed, and as `openUnencrypted`.
  public borrowing func open(with passphrase: borrowing Passphrase) throws(SigningError) -> Opened {
    do throws(KeyError) {
      switch parsed {
      case .pkcs8(let parts): return Opened(key: try Self.key(content, parts, path), minisignKeyNumber: nil)
      case .encryptedPKCS8(let encrypted):
        let plain = try encrypted.decrypt(content, with: passphrase)
        let parts: PKCS8.Parts
        // The padding of the last block fits one wrong passphrase in 256.
        do throws(KeyError) { parts = try plain.withBytes { (bytes) throws(KeyError) in try PKCS8.parse(bytes) } } catch {
          throw error == .notImportable(.otherAlgorithm) ? error : .wrongPassphrase
        }
        return Opened(key: try Self.key(plain, parts, path), minisignKeyNumber: nil)
      case .minisign(let minisign):
        let opened = try minisign.open(content, with: passphrase)
        let number = opened.keyNumber
        return Opened(key: try Self.key(opened.seed, opened.publicKey, path, .publicKeyMismatch), minisignKeyNumber: number)
      case .seed: return Opened(key: try SecretKey(seed: content.slice(0..<32), origin: path), minisignKeyNumber: nil)
      case .seedAndPublicKey:
        let publicKey = content.withBytes { bytes in (32..<64).map { bytes[$0] } }
        let key = try Self.key(content.slice(0..<32), publicKey, path, .notImportable(.unpairedHalves))
        return Opened(key: key, minisignKeyNumber: nil)
      }
    } catch { throw .key(error, path: path) }
  }

  private static func key(_ der: borrowing SecureBytes, _ parts: PKCS8.Parts, _ path: String) throws(KeyError) -> SecretKey {
    try key(der.slice(parts.seed), parts.publicKey, path, .publicKeyMismatch)
  }

  private static func key(
    _ seed: consuming SecureBytes, _ publicKey: [UInt8]?, _ path: String, _ mismatch: KeyError
  ) throws(KeyError) -> SecretKey {
    let key = try SecretKey(seed: seed, origin: path)
    guard let publicKey else { return key }
    guard key.publicKey.bytes == publicKey else { throw mismatch }
    return key
  }

  // MARK: Telling the forms apart

  private enum Kind: Equatable { case pkcs8, encryptedPKCS8, minisign, bytes }

  private struct Decoded: ~Copyable {
    let kind: Kind
    let bytes: SecureBytes
  }

  /// What kind of file it is, by its first bytes and then by its length; base64 is taken off.
  private static func decode(_ file: consuming SecureBytes) throws(KeyError) -> Decoded {
    let count = file.count
    if count == 32 || count == 64 || count == 96, file.withBytes({ !SecretText.isText($0) && !PKCS8.isBeginning($0) }) {
      return Decoded(kind: .bytes, bytes: file)
    }
    let (text, start) = file.withBytes { bytes in
      let first: TextForm =
        SecretText.hasPrefix("manifest-sign secret key ", in: bytes)
        ? .own
        : SecretText.hasPrefix("untrusted comment:", in: bytes)
          ? .minisign
          : SecretText.hasPrefix("-----BEGIN ", in: bytes)
            // A digit 0, as which base64 can begin, is the byte that a DER sequence begins with.
            ? .pem : count > 0 && bytes[0] == 0x30 && !SecretText.isText(bytes) ? .der : .other
      return (first, SecretText.position(of: "\n", in: bytes, from: 0).map { $0 + 1 } ?? count)
    }
    switch text {
    case .own: throw .notImportable(.ownFormat)
    case .minisign:
      let range = file.withBytes { SecretText.withoutLineEnd(start..<count, in: $0) }
      // 212 characters; a public key has 56, and a signature further lines.
      guard range.count == 212 else { throw .notImportable(range.count == 56 || range.count > 212 ? .notSecret : .malformed("minisign")) }
      return Decoded(kind: .minisign, bytes: try SecretText.decodeBase64(file, range, form: "minisign"))
    case .pem:
      let pem = try file.withBytes { (bytes) throws(KeyError) in try PEMBlock(bytes) }
      let der = try SecretText.decodeBase64(file, pem.body, form: "PEM")
      return Decoded(kind: pem.isEncrypted ? .encryptedPKCS8 : .pkcs8, bytes: der)
    case .der:
      let isEncrypted = file.withBytes { EncryptedPKCS8.isLikely($0) }
      return Decoded(kind: isEncrypted ? .encryptedPKCS8 : .pkcs8, bytes: file)
    case .other:
      let range = file.withBytes { SecretText.withoutLineEnd(0..<count, in: $0) }
      // 32, 64 and 96 bytes in base64.
      guard range.count == 44 || range.count == 88 || range.count == 128 else { throw .notImportable(.unknownForm) }
      return Decoded(kind: .bytes, bytes: try SecretText.decodeBase64(file, range, form: "base64"))
    }
  }

  private enum TextForm { case own, minisign, pem, der, other }

  private static func parse(_ decoded: borrowing Decoded) throws(KeyError) -> Parsed {
    let kind = decoded.kind
    return try decoded.bytes.withBytes { (bytes) throws(KeyError) in
      switch kind {
      case .pkcs8: return .pkcs8(try PKCS8.parse(bytes))
      case .encryptedPKCS8: return .encryptedPKCS8(try EncryptedPKCS8(bytes))
      case .minisign: return .minisign(try MinisignSecretKey(bytes))
      case .bytes:
        switch bytes.count {
        case 32: return .seed
        case 64: return .seedAndPublicKey
        case 96: throw .notImportable(.expandedKey)
        default: throw .notImportable(.unknownForm)
        }
      }
    }
  }
}
