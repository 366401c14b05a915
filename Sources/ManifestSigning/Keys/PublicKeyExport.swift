internal import CSodium
internal import Digests
public import TUFMetadata

/// A public key in the forms that other programs take.
public enum PublicKeyExport {
  public enum Form: String, CaseIterable, Sendable {
    /// SubjectPublicKeyInfo, as `openssl pkey -pubout` writes it.
    case pem
    /// The public key file of minisign.
    case minisign
    /// As `keys` of TUF metadata lists it, under its key id.
    case tuf
  }

  /// The number of bytes in minisign's key number.
  public static let minisignKeyNumberByteCount = 8

  /// The text of a file.
  /// - Parameter minisignKeyNumber: by which minisign tells keys apart; nil for the first 8 bytes of the key id. It has no other meaning, and a
  ///   signature bears the number of the secret key that made it.
  public static func text(_ key: Ed25519PublicKey, as form: Form, name: String, minisignKeyNumber: [UInt8]? = nil) -> String {
    switch form {
    case .pem: return String(decoding: PublicKeyFile.pem(key), as: UTF8.self)
    case .tuf:
      let id = ByteString(Key(key).id.description)
      return String(decoding: PrettyJSON.bytes(.object([id: Key.tree(key)]), order: []), as: UTF8.self)
    case .minisign:
      let number = minisignKeyNumber ?? Array(Key(key).id.digest.bytes.prefix(minisignKeyNumberByteCount))
      let bytes = Array("Ed".utf8) + number + key.bytes
      // 42 bytes make 56 characters, and libsodium adds a NUL.
      var characters = [CChar](repeating: 0, count: bytes.count * 4 / 3 + 4)
      // The array has room for four characters for each three bytes, and the NUL.
      _ = unsafe sodium_bin2base64(&characters, characters.count, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
      let encoded = characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      // minisign shows its number as one of 64 bits, of which the first byte is the least, without zeros in front.
      let shown = String(number.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, radix: 16, uppercase: true)
      return "untrusted comment: minisign public key \(shown) (\(name))\n\(String(decoding: encoded, as: UTF8.self))\n"
    }
  }
}
