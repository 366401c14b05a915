package import TUFMetadata

/// One targets role that another trusts with some paths, and the one place where its metadata is verified: searches, walks and explanations
/// all come through here.
struct Delegation: Sendable {
  let role: DelegatedRole
  /// The keys that the delegator lists.
  let keys: [KeyID: Key]
  let delegator: ByteString

  /// Every delegation of some metadata, in its order.
  static func all(of metadata: Targets, by delegator: ByteString) -> [Delegation] {
    guard let delegations = metadata.delegations else { return [] }
    return delegations.roles.map { Delegation(role: $0, keys: delegations.keys, delegator: delegator) }
  }

  /// What identifies it: metadata lists a role once.
  var edge: Edge { Edge(delegator: delegator, role: role.name) }

  struct Edge: Hashable, Sendable {
    let delegator: ByteString
    let role: ByteString
  }

  private func description(in manifest: TrustedManifest) -> MetadataFile? {
    manifest.snapshot.payload.files[MetadataRole.delegated(role.name).snapshotName]
  }

  func isDescribed(in manifest: TrustedManifest) -> Bool { description(in: manifest) != nil }

  /// The file that a mirror is asked for; nil where the snapshot does not list it.
  func request(in manifest: TrustedManifest, _ limits: VerificationLimits) -> MetadataRequest? {
    guard let file = description(in: manifest) else { return nil }
    let limit = min(file.byteCount ?? Int64(limits.targetsByteCount), Int64(limits.metadataByteCount))
    let version = manifest.root.payload.consistentSnapshot ? file.version : nil
    return MetadataRequest(role: .delegated(role.name), version: version, byteLimit: Int(limit))
  }

  /// Holds the role's metadata against the snapshot and the delegator (TUF 1.0.34 §5.6.2–5.6.5): length and hashes before it is parsed, then
  /// the delegator's keys and threshold, the version and the expiry.
  /// - Parameter now: nil where nothing is refused for having expired.
  func verify(_ bytes: [UInt8], in manifest: TrustedManifest, now: UTCTime?) throws(VerificationError) -> Trusted<Targets> {
    guard let file = description(in: manifest) else { throw .notInSnapshot(role: role.name) }
    try file.requireMatch(bytes, role: role.name)
    let metadata = try verifySignatures(bytes)
    guard metadata.payload.version == file.version else {
      throw .wrongVersion(role: role.name, expected: file.version, actual: metadata.payload.version)
    }
    if let now, metadata.payload.expires <= now { throw .expired(role: role.name, since: metadata.payload.expires, now: now) }
    return metadata
  }

  /// Verifies what a device has kept of the role. It may be of another version than the snapshot says: an older one where
  /// a refresh broke off or newer metadata was refused, a newer one where a rotation let the versions begin anew. And it may have expired.
  /// - Throws: `notKept` where nothing is kept, `thresholdNotMet` where the delegator withdrew the keys, otherwise `damagedState`.
  func verifyKept(_ bytes: [UInt8]?, in manifest: TrustedManifest, mayLag: Bool) throws(VerificationError) -> Trusted<Targets> {
    guard let file = description(in: manifest) else { throw .notInSnapshot(role: role.name) }
    guard let bytes else { throw .notKept(role: role.name) }
    do throws(VerificationError) {
      return try verify(bytes, in: manifest, now: nil)
    } catch {
      if mayLag, let claim = try? UnverifiedMetadata<Targets>(parsing: bytes).payload, claim.version != file.version {
        return try verifySignatures(bytes)
      }
      if case .thresholdNotMet = error { throw error }
      throw .damagedState(role: role.name, error)
    }
  }

  private func verifySignatures(_ bytes: [UInt8]) throws(VerificationError) -> Trusted<Targets> {
    try Trusted<Targets>(
      verifying: SignedDocument(role: role.name, parsing: bytes), role: role.name, keys: role.keys, known: keys, delegator: delegator)
  }
}

extension TrustedManifest {
  /// Verifies the metadata of a role that the top-level targets delegate to, as a search would that comes to it; expired or not.
  package func verify(_ role: DelegatedRole, _ bytes: [UInt8]) throws(VerificationError) -> Trusted<Targets> {
    let delegation = Delegation(role: role, keys: targets.payload.delegations?.keys ?? [:], delegator: TopLevelRole.targets.name)
    return try delegation.verify(bytes, in: self, now: nil)
  }
}
