internal import ManifestVerifier
public import TUFMetadata

extension Ceremony {
  /// Proposes the next root, or the next delegations of targets, or both.
  ///
  /// What has to be signed again because its keys changed waits beside it: the same content in its next version. So does a new team's metadata,
  /// which has to be published with the delegation: a search through a role without metadata fails. What it is trusted with and is published already
  /// it goes on listing.
  /// - Parameters:
  ///   - edits: applied in their order.
  ///   - allowsShared: whether a key may get a second role.
  ///   - now: the time from which expiries are counted.
  ///   - name: what people call a key.
  /// - Returns: what is fragile.
  /// - Throws: `ceremony`, `retiredKey`, `published(.exampleKey)`; then nothing is proposed.
  public mutating func propose(
    _ edits: [ProposedEdit], allowsShared: Bool = false, now: UTCTime, name: @escaping (KeyID) -> String
  ) throws(SigningError) -> [StructureWarning] {
    guard pending.isEmpty else { throw .ceremony(.alreadyPending(roles: waiting.map { "\($0.role.name)" })) }
    guard let oldRoot = published(.root) else { throw .noRepository(path: "") }
    let oldTargets = published(.targets)
    var draft = StructureDraft(oldRoot, root, oldTargets, policy, name: name)
    for edit in edits { try draft.apply(edit) }
    draft.followTargets(from: root[.targets])
    try requireFresh(draft.newKeys)

    var next = self
    next.proposedPolicy = draft.policy == policy ? nil : draft.policy
    if edits.contains(where: \.concernsRoot) {
      let expires = now.adding(days: next.lifetime(of: .root))
      next.pending[.root] = try Self.envelope(draft.nextRoot(next.state.nextVersion(of: .root), expires: expires), .root)
    }
    try next.proposeTargets(draft.delegations, isEdited: edits.contains(where: \.concernsTeams), oldTargets, now)
    try next.proposeTeams(draft.renamedTeams, now)
    try next.handFilesOver(now)
    guard !next.pending.isEmpty else { throw .ceremony(.noChange) }

    let check = next.check(name: name)
    let problems = check.problems(allowsShared: allowsShared)
    guard problems.isEmpty else { throw .ceremony(.refused(problems)) }
    self = next
    return check.warnings + fileWarnings + expiryWarnings(at: now)
  }

  /// What devices would lose.
  var fileWarnings: [StructureWarning] {
    let gone = fileMoves.gone
    return gone.first.map { [.filesGo(count: gone.count, first: $0.path)] } ?? []
  }

  /// Holds what is pending against what is published.
  func check(name: @escaping (KeyID) -> String) -> StructureCheck {
    StructureCheck(
      root: pending[.root]?.root ?? root, delegations: nextDelegations, oldRoot: root,
      oldDelegations: state.manifest?.targets.payload.delegations, name: name)
  }

  /// A key that was left behind, or whose secret half everybody knows, gets no role.
  func requireFresh(_ ids: [KeyID]) throws(SigningError) {
    let retired = try RetiredKeys(state)
    for id in ids {
      guard !ExampleKeys.contains(id) else { throw .exampleKey(id: id.description) }
      try retired.refuse(id)
    }
  }

  static func envelope(_ tree: JSONTree, _ role: MetadataRole) throws(SigningError) -> MetadataEnvelope {
    do { return try MetadataEnvelope(tree) } catch { throw .metadata(path: role.fileName, error) }
  }

  /// The same content in its next version.
  func renewed(_ file: MetadataEnvelope, _ role: MetadataRole, _ now: UTCTime) throws(SigningError) -> MetadataEnvelope {
    let version = try state.nextVersion(of: role)
    do { return try file.renewed(version: version, expires: now.adding(days: lifetime(of: role))) } catch {
      throw .metadata(path: role.fileName, error)
    }
  }

  private mutating func proposeTargets(
    _ delegations: JSONTree?, isEdited: Bool, _ old: MetadataEnvelope?, _ now: UTCTime
  ) throws(SigningError) {
    guard let old else {
      guard isEdited else { return }
      // Nothing is published yet: the list of files begins empty.
      var members = RoleHeader(version: try state.nextVersion(of: .targets), expires: now.adding(days: lifetime(of: .targets))).members(
        of: .targets)
      members[.targets] = .object([:])
      members[.delegations] = delegations
      pending[.targets] = try Self.envelope(.object(members), .targets)
      return
    }
    let nextRoot = pending[.root]?.root ?? root
    let isChanged = isEdited || delegations != old.members[.delegations]
    guard isChanged || !SigningRequirement(.targets, of: nextRoot).isMet(by: old) else { return }
    let renewed = try renewed(old, .targets, now)
    var members = renewed.members
    members[.delegations] = delegations
    pending[.targets] = try Self.envelope(.object(members), .targets)
  }

  /// Each role that the next targets delegate to has metadata that its keys have signed, or it waits for it.
  private mutating func proposeTeams(_ renamed: [ByteString: ByteString], _ now: UTCTime) throws(SigningError) {
    guard let delegations = pending[.targets]?.targets?.delegations else { return }
    for team in delegations.roles {
      let role = MetadataRole.delegated(team.name)
      let requirement = SigningRequirement(team, of: delegations, by: TopLevelRole.targets.name)
      let old = delegated.files[renamed[team.name] ?? team.name]
      if let old, renamed[team.name] == nil, requirement.isMet(by: old) { continue }
      if let old {
        pending[role] = try renewed(old, role, now)
      } else {
        var members = RoleHeader(version: try state.nextVersion(of: role), expires: now.adding(days: lifetime(of: role))).members(
          of: .targets)
        members[.targets] = .object([:])
        pending[role] = try Self.envelope(.object(members), role)
      }
    }
  }

  /// What would be due at once, of the proposal and of what stays published.
  func expiryWarnings(at now: UTCTime) -> [StructureWarning] {
    var expiries: [(MetadataRole, UTCTime)] = [(.root, (pending[.root] ?? published(.root))?.expires ?? root.expires)]
    for (role, _, expires) in state.manifest?.roles ?? [] where role != .root {
      expiries.append((.topLevel(role), pending[.topLevel(role)]?.expires ?? expires))
    }
    for (name, file) in delegated.files.sorted(by: { $0.key < $1.key }) {
      expiries.append((.delegated(name), pending[.delegated(name)]?.expires ?? file.expires))
    }
    let overlong = proposedRoles.compactMap { role -> StructureWarning? in
      guard let file = pending[role], file.expires > now.adding(days: lifetime(of: role)) else { return nil }
      return .outlivesLifetime(role: "\(role.name)", expires: file.expires, days: lifetime(of: role))
    }
    return overlong
      + expiries.filter { isDue($0.0, expires: $0.1, at: now) }
      .map { .expiresInRenewalWindow(role: "\($0.0.name)", expires: $0.1) }
  }
}
