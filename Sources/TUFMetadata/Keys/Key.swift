internal import Digests

/// A public key as root and delegations list it.
///
/// Keys of other types than Ed25519 stay part of what is signed, and never count towards a threshold.
public struct Key: Hashable, Sendable {
  /// What the key can verify.
  public enum Kind: Hashable, Sendable {
    /// An Ed25519 key of the scheme "ed25519": the only one that verifies anything.
    case ed25519(Ed25519PublicKey)
    /// A key of another type or scheme.
    case unsupported(type: ByteString, scheme: ByteString)
  }

  /// The SHA-256 of the key's canonical JSON, unknown members included.
  public let id: KeyID
  public let kind: Kind

  /// The public key where it is one that can verify.
  public var ed25519: Ed25519PublicKey? {
    if case .ed25519(let key) = kind { key } else { nil }
  }

  /// The key object that our own metadata lists for an Ed25519 key.
  package init(_ publicKey: Ed25519PublicKey) {
    id = KeyID(digest: SHA256.hash(of: Self.tree(publicKey).canonicalBytes))
    kind = .ed25519(publicKey)
  }

  /// The JSON of an Ed25519 key, as the TUF specification shows it.
  package static func tree(_ publicKey: Ed25519PublicKey) -> JSONTree {
    .object([
      .keytype: .string("ed25519"),
      .keyval: .object([.public: .string(ByteString(Hexadecimal.encode(publicKey.bytes.span)))]),
      .scheme: .string("ed25519"),
    ])
  }

  /// A key as it stands in metadata.
  package init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    let type = try json.read(.keytype) { value throws(MetadataError) in try value.requireString() }
    let scheme = try json.read(.scheme) { value throws(MetadataError) in try value.requireString() }
    if type == "ed25519", scheme == "ed25519" {
      kind = try json.read(.keyval) { value throws(MetadataError) in
        try value.requireObject()
        return .ed25519(
          try value.read(.public) { text throws(MetadataError) in
            let name = try text.requireString()
            do { return try Ed25519PublicKey(hexadecimal: name.bytes.span) } catch {
              throw .invalidValue(path: "", expected: "an Ed25519 public key: \(error)", found: MetadataError.quoted(name.bytes.span))
            }
          })
      }
    } else {
      try json.read(.keyval) { value throws(MetadataError) in try value.requireObject() }
      kind = .unsupported(type: type, scheme: scheme)
    }
    id = KeyID(digest: SHA256.hash(of: json.canonicalBytes))
  }

  /// The `keys` object of root or of delegations: every id is computed, and one that is declared otherwise refuses the file.
  static func readAll(_ json: JSONValue) throws(MetadataError) -> [KeyID: Key] {
    try json.requireObject()
    var keys: [KeyID: Key] = [:]
    for (name, value) in json.members {
      let key: Key
      do { key = try Key(value) } catch { throw error.within(name) }
      guard name.bytes == key.id.digest.hexadecimal else {
        throw .keyIDMismatch(declared: name.description, computed: key.id.description)
      }
      keys[key.id] = key
    }
    return keys
  }
}
