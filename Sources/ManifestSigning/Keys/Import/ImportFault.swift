/// Why a file of another program is no key that can be imported.
public enum ImportFault: Equatable, Sendable {
  /// Nothing that is known.
  case unknownForm
  /// A secret key file of manifest-sign.
  case ownFormat
  /// A public key, a signature or a certificate.
  case notSecret
  /// OpenSSH's own format.
  case openSSH
  /// A key of another algorithm than Ed25519.
  case otherAlgorithm
  /// 96 bytes: Sparkle's older form, an expanded private key and the public key.
  case expandedKey
  /// 64 bytes whose second half is not the public half of the first.
  case unpairedHalves
  /// It begins like a form, and is not well formed.
  case malformed(_ form: String)
  /// Encrypted in a way that is not supported.
  case unsupportedEncryption
  /// The checksum of a minisign key is wrong.
  case checksum
}

extension ImportFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownForm:
      "it is no secret key of a known form: PKCS #8 (PEM or DER), minisign, or a seed of 32 bytes, or seed and public key of 64, raw or in base64"
    case .ownFormat: "it is a secret key file of manifest-sign already: copy it into the secrets folder"
    case .notSecret: "it holds no secret key but something public: a public key, a signature or a certificate"
    case .openSSH: "it is a key in OpenSSH's own format, which is not read"
    case .otherAlgorithm: "it is a key of another algorithm; only Ed25519 keys sign"
    case .expandedKey:
      "it has 96 bytes: Sparkle's older form, an expanded private key (64) and the public key (32). The seed can't be computed from an expanded key, so "
        + "no other program can take it over"
    case .unpairedHalves:
      "it has 64 bytes, and the second half is not the public key of the first: it is an expanded private key, from which no seed can be computed, or damaged"
    case .malformed(let form): "it begins like \(form) and is not well formed"
    case .unsupportedEncryption: "it is encrypted in a way that is not supported"
    case .checksum: "its checksum is wrong: the file is damaged"
    }
  }

  /// What to do instead; nil where the description says it.
  var hint: String? {
    switch self {
    case .openSSH: "there is no standard way out of that format: make a new key with key generate, and rotate to it"
    case .expandedKey, .unpairedHalves:
      "make a new key with key generate and rotate to it; or let its own program sign, as an external signer"
    case .unsupportedEncryption: "write it anew: openssl pkcs8 -topk8 -v2 aes-256-cbc -in FILE -out NEW"
    default: nil
    }
  }
}
