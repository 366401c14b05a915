internal import ManifestVerifier
public import TUFMetadata

/// Versions, expiries, keys and thresholds of what is published.
public struct RepositoryStatus: Sendable {
  /// A key of a role.
  public struct HeldKey: Sendable {
    public let id: KeyID
    public let name: String
    /// Who holds it, where keys/policy.json says so.
    public let holder: String?
    /// Whether its secret half lies in `secrets`, or an external signer is configured for it.
    public let isAtHand: Bool
  }

  /// A role as it stands.
  public struct Role: Sendable {
    public let role: TopLevelRole
    /// Nil where nothing of the role is published.
    public let version: Version?
    public let expires: UTCTime?
    public let threshold: Int
    public let keys: [HeldKey]
    /// Whether the last third of the lifetime has begun.
    public let isDue: Bool
  }

  /// Root first.
  public let roles: [Role]
  /// The number of files in the manifest; nil where nothing is published.
  public let targetCount: Int?

  /// Reads a repository.
  /// - Parameter now: the time that the renewal windows are held against.
  public init(_ layout: RepositoryLayout, at now: UTCTime) throws(SigningError) {
    try PublishedSecrets.refuse(in: layout)
    let state = try PublishedState(layout)
    let policy = try Policy.read(layout.policy)
    let ring = try KeyRing(layout)
    var published: [TopLevelRole: (Version, UTCTime)] = [.root: (state.root.payload.version, state.root.payload.expires)]
    for (role, version, expires) in state.manifest?.roles ?? [] { published[role] = (version, expires) }
    roles = TopLevelRole.allCases.map { role in
      let keys = state.root.payload[role]
      let held = keys.keyIDs.map { id in
        HeldKey(id: id, name: ring.name(of: id), holder: policy.holders[ring.name(of: id)], isAtHand: ring.isAtHand(id))
      }
      let expires = published[role]?.1
      return Role(
        role: role, version: published[role]?.0, expires: expires, threshold: keys.threshold, keys: held,
        isDue: expires.map { policy.isDue(role, expires: $0, at: now) } ?? false)
    }
    targetCount = state.targetCount
  }
}
