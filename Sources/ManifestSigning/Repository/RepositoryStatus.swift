public import ManifestVerifier
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
    public let role: MetadataRole
    /// Nil where nothing of the role is published.
    public let version: Version?
    public let expires: UTCTime?
    public let threshold: Int
    public let keys: [HeldKey]
    /// Whether the last third of the lifetime has begun.
    public let isDue: Bool
  }

  /// Root first, the teams last, theirs among them.
  public let roles: [Role]
  /// The roles that share paths out by their hashes, in the order of the delegations: there may be thousands.
  public let bins: [Role]
  /// The number of roots in the chain, which is complete: every one follows from the one before it.
  public let rootCount: Int
  /// The keys in `keys`, or listed by the root, that no role has.
  public let idleKeys: [HeldKey]
  /// What waits for signatures.
  public let waiting: [WaitingFile]
  /// The delegated roles that devices can't use, and why.
  public let refusals: [DelegationWalk.Refusal]
  /// The models that the list of models names and devices can't find: whoever was trusted with them is no longer, say.
  public let lostModels: [TargetPath]
  /// The number of files in the manifest; nil where nothing is published.
  public let targetCount: Int?

  /// Reads a repository.
  /// - Parameter now: the time that the renewal windows are held against.
  public init(_ layout: RepositoryLayout, at now: UTCTime) throws(SigningError) {
    try PublishedSecrets.refuse(in: layout)
    let ceremony = try Repository.ceremony(layout)
    let state = ceremony.state
    let ring = try KeyRing(layout)
    func held(_ id: KeyID) -> HeldKey {
      HeldKey(id: id, name: ring.name(of: id), holder: ceremony.policy.holders[ring.name(of: id)], isAtHand: ring.isAtHand(id))
    }
    func role(_ role: MetadataRole, _ keys: RoleKeys, _ published: (version: Version, expires: UTCTime)?) -> Role {
      Role(
        role: role, version: published?.version, expires: published?.expires, threshold: keys.threshold, keys: keys.keyIDs.map(held),
        isDue: published.map { ceremony.isDue(role, expires: $0.expires, at: now) } ?? false)
    }
    var published: [TopLevelRole: (Version, UTCTime)] = [.root: (state.root.payload.version, state.root.payload.expires)]
    for (role, version, expires) in state.manifest?.roles ?? [] { published[role] = (version, expires) }
    var (teams, bins): ([Role], [Role]) = ([], [])
    for delegated in ceremony.publishedDelegations {
      let file = ceremony.delegated.files[delegated.name]
      let own = role(.delegated(delegated.name), delegated.keys, file.map { ($0.version, $0.expires) })
      if case .paths = delegated.scope { teams.append(own) } else { bins.append(own) }
    }
    roles = TopLevelRole.allCases.map { role(.topLevel($0), state.root.payload[$0], published[$0]) } + teams
    self.bins = bins
    let used = Set((roles + bins).flatMap { $0.keys.map(\.id) })
    idleKeys = Set(ring.names.keys).union(state.root.payload.keys.keys).subtracting(used).map(held).sorted {
      ($0.name, $0.id) < ($1.name, $1.id)
    }
    rootCount = state.roots.count
    waiting = ceremony.waiting
    refusals = ceremony.delegated.refusals
    lostModels = state.lostModels(ceremony.delegated, layout)
    targetCount = state.targetCount
  }
}
