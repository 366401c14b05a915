/// A metadata file that is well formed. Nobody has checked its signatures yet: only the verifier makes something trusted of it.
package struct UnverifiedMetadata<Payload: ReadableRolePayload>: Sendable {
  package let document: SignedDocument
  package let payload: Payload

  /// Reads a metadata file.
  /// - Parameter bytes: the whole file, already held against its length limit.
  /// - Throws: `MetadataError` with the place of what is wrong.
  package init(parsing bytes: [UInt8]) throws(MetadataError) { try self.init(SignedDocument(parsing: bytes)) }

  /// Reads what is signed in a document.
  package init(_ document: SignedDocument) throws(MetadataError) {
    self.document = document
    do { payload = try Payload(document.signed, header: RoleHeader(document.signed, role: Payload.role)) } catch {
      throw error.within(.signed)
    }
  }

  /// The exact bytes that were read.
  package var bytes: [UInt8] { document.bytes }
  /// The signatures, in the order of the file; no key id stands twice.
  package var signatures: [RoleSignature] { document.signatures }

  /// The bytes that the signatures are over: the canonical JSON of `signed` (TUF 1.0.34 §4.2.1).
  package func withSignedBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result { document.withSignedBytes(body) }
}

/// The JSON of a metadata file: what is signed, of which nothing was looked at yet, and the signatures (TUF 1.0.34 §4.2.1).
package struct SignedDocument: Sendable {
  package let signatures: [RoleSignature]
  let signed: JSONValue
  private let document: JSONDocument

  /// - Parameter bytes: the whole file, already held against its length limit.
  package init(parsing bytes: [UInt8]) throws(MetadataError) {
    document = try JSONDocument(parsing: bytes)
    let root = document.root
    try root.requireObject()
    signatures = try root.read(.signatures) { value throws(MetadataError) in try RoleSignature.readAll(value) }
    signed = try root.read(.signed) { value in value }
  }

  package var bytes: [UInt8] { document.bytes }

  package func withSignedBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result { signed.withCanonicalBytes(body) }
}

/// One entry of `signatures`.
package struct RoleSignature: Hashable, Sendable {
  package let keyID: KeyID
  /// The signature where it has the form of an Ed25519 one. One of another form, an empty one too, does not count and does
  /// not make the file invalid: it may stand for a key that has yet to sign, or be another scheme's.
  package let signature: Ed25519Signature?

  package init(keyID: KeyID, signature: Ed25519Signature?) {
    self.keyID = keyID
    self.signature = signature
  }

  static func readAll(_ json: JSONValue) throws(MetadataError) -> [RoleSignature] {
    let signatures = try json.requireElements { value throws(MetadataError) in
      try value.requireObject()
      let keyID = KeyID(digest: try value.read(.keyid) { value throws(MetadataError) in try value.requireDigest() })
      let text = try value.read(.sig) { value throws(MetadataError) in try value.requireString() }
      return RoleSignature(keyID: keyID, signature: try? Ed25519Signature(hexadecimal: text.bytes.span))
    }
    // TUF 1.0.34 §4.2.1: a key id that stands twice makes the file invalid, even where the threshold is met otherwise.
    var seen: Set<KeyID> = []
    for signature in signatures where !seen.insert(signature.keyID).inserted {
      throw .invalidValue(path: "", expected: "each key id once", found: "key id \(signature.keyID) twice")
    }
    return signatures
  }
}
