internal import Digests
public import TUFMetadata

/// Metadata whose signatures have met its role's threshold. Only the verifier makes values of this type.
public struct Trusted<Payload: RolePayload>: Sendable {
  /// What the metadata says.
  public let payload: Payload
  /// The exact bytes that were received and verified.
  public let bytes: [UInt8]
  /// The keys whose signatures counted.
  public let signers: [KeyID]
  /// The role's keys and threshold that were met.
  public let keys: RoleKeys

  /// Holds metadata against its role's threshold (TUF 1.0.34 §5.3.4, §5.4.2, §5.5.3, §5.6.3): distinct public keys are
  /// counted, so that one key under two ids counts once, and keys that can't verify Ed25519 never count.
  /// - Parameters:
  ///   - role: the name under which the metadata was asked for.
  ///   - keys: who may sign for the role.
  ///   - known: the keys that the delegator lists.
  ///   - delegator: who says so, for the message.
  package init(
    verifying metadata: UnverifiedMetadata<Payload>, role: ByteString, keys: RoleKeys, known: [KeyID: Key], delegator: ByteString
  ) throws(VerificationError) where Payload: ReadableRolePayload {
    try self.init(
      verifying: metadata, signers: metadata.document.signers(among: keys, known: known), role: role, keys: keys, delegator: delegator)
  }

  /// Reads metadata and holds it against its role's threshold, as above. A long file is read on one core while its signatures are checked on
  /// another; it is trusted only after both.
  package init(
    verifying document: SignedDocument, role: ByteString, keys: RoleKeys, known: [KeyID: Key], delegator: ByteString
  ) throws(VerificationError) where Payload: ReadableRolePayload {
    let (metadata, signers) = Cores.both(
      over: document.bytes.count,
      { Result { () throws(VerificationError) in try UnverifiedMetadata<Payload>(role: role, document) } },
      { document.signers(among: keys, known: known) })
    try self.init(verifying: metadata.get(), signers: signers, role: role, keys: keys, delegator: delegator)
  }

  private init(
    verifying metadata: UnverifiedMetadata<Payload>, signers: [KeyID], role: ByteString, keys: RoleKeys, delegator: ByteString
  ) throws(VerificationError) where Payload: ReadableRolePayload {
    guard signers.count >= keys.threshold else {
      throw .thresholdNotMet(
        role: role, signed: signers.count, threshold: keys.threshold, keyCount: keys.keyIDs.count, delegator: delegator)
    }
    payload = metadata.payload
    bytes = metadata.bytes
    self.signers = signers
    self.keys = keys
  }
}

extension Trusted<Root> {
  /// Reads a first root and verifies it by its own keys, as every root has to be (TUF 1.0.34 §5.3.4).
  package init(selfSigned bytes: [UInt8]) throws(VerificationError) {
    let metadata = try UnverifiedMetadata<Root>(role: TopLevelRole.root.name, parsing: bytes)
    try self.init(
      verifying: metadata, role: "root", keys: metadata.payload[.root], known: metadata.payload.keys,
      delegator: ByteString("root version \(metadata.payload.version)"))
    try ExampleKeys.refuse(in: metadata.payload, bytes)
  }

  /// The root after this one: signed by the threshold of this root **and** of its own, and exactly one version newer
  /// (TUF 1.0.34 §5.3.4–5).
  package func successor(_ bytes: [UInt8]) throws(VerificationError) -> Trusted<Root> {
    let metadata = try UnverifiedMetadata<Root>(role: TopLevelRole.root.name, parsing: bytes)
    _ = try Trusted(
      verifying: metadata, role: "root", keys: payload[.root], known: payload.keys, delegator: ByteString("root version \(payload.version)")
    )
    let next = try Trusted(
      verifying: metadata, role: "root", keys: metadata.payload[.root], known: metadata.payload.keys,
      delegator: "the new root itself")
    guard let expected = payload.version.next, next.payload.version == expected else {
      throw .wrongVersion(role: "root", expected: payload.version.next ?? payload.version, actual: next.payload.version)
    }
    return next
  }

  /// Reads a top-level role's metadata and holds it against the threshold that this root sets.
  func verify<Other: ReadableRolePayload>(_ bytes: [UInt8]) throws(VerificationError) -> Trusted<Other> {
    try verify(SignedDocument(role: Other.role.name, parsing: bytes))
  }

  func verify<Other: ReadableRolePayload>(_ document: SignedDocument) throws(VerificationError) -> Trusted<Other> {
    try Trusted<Other>(
      verifying: document, role: Other.role.name, keys: payload[Other.role], known: payload.keys,
      delegator: ByteString("root version \(payload.version)"))
  }
}

extension SignedDocument {
  /// Reads a metadata file, with the role's name in the error.
  init(role: ByteString, parsing bytes: [UInt8]) throws(VerificationError) {
    do { try self.init(parsing: bytes) } catch { throw .malformed(role: role, error) }
  }

  /// The keys of a role whose signatures count: one id of each public key.
  func signers(among keys: RoleKeys, known: [KeyID: Key]) -> [KeyID] {
    let allowed = Set(keys.keyIDs)
    var counted: Set<Ed25519PublicKey> = []
    var signers: [KeyID] = []
    withSignedBytes { message in
      for entry in signatures where allowed.contains(entry.keyID) {
        guard let key = known[entry.keyID]?.ed25519, let signature = entry.signature, !counted.contains(key) else { continue }
        guard key.isValid(signature, over: message) else { continue }
        counted.insert(key)
        signers.append(entry.keyID)
      }
    }
    return signers
  }
}

extension UnverifiedMetadata {
  /// Reads metadata, with the role's name in the error.
  init(role: ByteString, parsing bytes: [UInt8]) throws(VerificationError) {
    try self.init(role: role, SignedDocument(role: role, parsing: bytes))
  }

  init(role: ByteString, _ document: SignedDocument) throws(VerificationError) {
    do { try self.init(document) } catch { throw .malformed(role: role, error) }
  }
}

extension RolePayload {
  /// Metadata whose time has come is expired, at that very second already (TUF 1.0.34 §5.1).
  func requireUnexpired(at now: UTCTime) throws(VerificationError) {
    guard now < expires else { throw .expired(role: Self.role.name, since: expires, now: now) }
  }
}

extension MetadataFile {
  /// Holds a file against the length and the hashes that were signed for it, before any of it is parsed
  /// (TUF 1.0.34 §5.5.2, §5.6.2).
  func requireMatch(_ bytes: [UInt8], role: ByteString) throws(VerificationError) {
    if let byteCount, byteCount != Int64(bytes.count) {
      throw .wrongMetadataLength(role: role, expected: byteCount, actual: Int64(bytes.count))
    }
    guard let hashes else { return }
    try hashes.requireMatch(bytes, role: role)
  }
}
