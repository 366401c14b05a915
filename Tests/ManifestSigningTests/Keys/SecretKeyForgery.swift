import CSodium
import ManifestSigning

/// Key files that no honest program writes.
enum SecretKeyForgery {
  /// Encrypts a seed under any header, at the least cost, with salt and nonce of zeros.
  static func encrypted(header: [UInt8], seed: [UInt8], passphrase: String) throws -> [UInt8] {
    let (salt, nonce) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 24))
    let whole = header + Array("salt: \(hexadecimal(salt))\nnonce: \(hexadecimal(nonce))\n".utf8)
    let key = try derivedKey(passphrase: passphrase, salt: salt)
    var ciphertext = [UInt8](repeating: 0, count: 48)
    // Every array has the length that libsodium expects.
    _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
      &ciphertext, nil, seed, UInt64(seed.count), whole, UInt64(whole.count), nil, nonce, key)
    return whole + Array("ciphertext: \(hexadecimal(ciphertext))\n".utf8)
  }

  /// What Argon2id makes of a passphrase at the least cost.
  static func derivedKey(passphrase: String, salt: [UInt8]) throws -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    let text = passphrase.utf8.map { CChar(bitPattern: $0) }
    // Every array has the length that libsodium expects.
    let result = unsafe crypto_pwhash(&key, 32, text, UInt64(text.count), salt, 1, 8192, crypto_pwhash_ALG_ARGON2ID13)
    guard result == 0 else { throw KeyError.memoryUnavailable(byteCount: 8192) }
    return key
  }
}
