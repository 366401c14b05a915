public import TUFMetadata

/// Who may sign one file, and how many of them have to, as one delegator says. A root has two such: the root before it, and itself.
public struct SigningRequirement: Sendable {
  /// `root version 3`, for messages.
  public let delegator: String
  public let keys: RoleKeys
  let known: [KeyID: Key]

  init(_ role: TopLevelRole, of root: Root, named delegator: String? = nil) {
    self.delegator = delegator ?? "root version \(root.version)"
    keys = root[role]
    known = root.keys
  }

  init(_ role: DelegatedRole, of delegations: Delegations, by delegator: ByteString) {
    self.delegator = delegator.description
    keys = role.keys
    known = delegations.keys
  }

  func publicKey(_ id: KeyID) -> Ed25519PublicKey? { keys.keyIDs.contains(id) ? known[id]?.ed25519 : nil }

  /// The keys whose signatures count: distinct public keys, as a device counts them.
  func signers(of file: MetadataEnvelope, isRehearsal: Bool = false) -> [KeyID] {
    var counted: Set<Ed25519PublicKey> = []
    return keys.keyIDs.filter { id in
      guard let key = publicKey(id), !counted.contains(key), file.isSigned(by: id, key, isRehearsal: isRehearsal) else { return false }
      counted.insert(key)
      return true
    }
  }

  func isMet(by file: MetadataEnvelope, isRehearsal: Bool = false) -> Bool {
    signers(of: file, isRehearsal: isRehearsal).count >= keys.threshold
  }
}

/// How far a file that waits for signatures has come.
public struct WaitingFile: Sendable {
  /// One delegator's threshold.
  public struct Threshold: Sendable {
    public let delegator: String
    public let threshold: Int
    public let signed: [KeyID]
    /// Those of its keys that have not signed.
    public let missing: [KeyID]

    public var isMet: Bool { signed.count >= threshold }
  }

  public let role: MetadataRole
  public let version: Version
  public let expires: UTCTime
  public let thresholds: [Threshold]

  public var isComplete: Bool { !thresholds.isEmpty && thresholds.allSatisfy(\.isMet) }

  init(_ role: MetadataRole, _ file: MetadataEnvelope, _ requirements: [SigningRequirement]) {
    self.role = role
    version = file.version
    expires = file.expires
    thresholds = requirements.map { requirement in
      let signed = requirement.signers(of: file)
      return Threshold(
        delegator: requirement.delegator, threshold: requirement.keys.threshold, signed: signed,
        missing: requirement.keys.keyIDs.filter { !signed.contains($0) })
    }
  }
}
