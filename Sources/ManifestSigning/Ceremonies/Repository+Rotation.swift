public import TUFMetadata

/// How a role's keys are exchanged.
public enum RotationMode: Equatable, Sendable {
  /// The old keys go at once.
  case replace
  /// The old keys go at once, and all that the role stands above is signed again in fresh versions, whatever still verifies.
  case compromised
  /// The new keys come beside the old ones, which `dropOld` takes away later.
  case overlap
  /// Takes away the keys that an overlap has left.
  case dropOld
}

/// What a rotation did.
public struct RotationReport: Sendable {
  public let ceremony: CeremonyReport
  public let warnings: [StructureWarning]
  /// The published files whose signatures by the old keys count no longer, and by which key.
  public let stopped: [(role: MetadataRole, version: Version, key: KeyID)]
  /// The teams below the role that keep the version that they have, because too few of their keys are at hand.
  public let leftAsTheyAre: [ByteString]
}

extension Ceremony {
  /// The edits that exchange a role's keys.
  /// - Parameters:
  ///   - exchanged: the old keys, each with the new one for it.
  ///   - dropped: the old keys that go; none for those that the roots listed before the newest ones.
  /// - Throws: `ceremony(.noChange)` where there are no old keys to drop.
  public func rotationEdits(
    of role: MetadataRole, _ exchanged: [(old: KeyID, new: Ed25519PublicKey)], dropping dropped: [KeyID] = [], _ mode: RotationMode
  ) throws(SigningError) -> [ProposedEdit] {
    switch mode {
    case .replace, .compromised: return exchanged.map { .replaceKey($0.old, by: $0.new, role: role) }
    case .overlap: return exchanged.map { .addKey($0.new, role: role) }
    case .dropOld:
      let old = dropped.isEmpty ? keysBeforeOverlap(of: role) : dropped
      guard !old.isEmpty else { throw .ceremony(.noChange) }
      return old.map { .removeKey($0, role: role) }
    }
  }

  /// The keys that a role had before the newest of them came.
  private func keysBeforeOverlap(of role: MetadataRole) -> [KeyID] {
    guard let current = requirements(for: role).first?.keys.keyIDs else { return [] }
    guard case .topLevel(let role) = role else { return [] }
    var arrivals: [KeyID: Int] = [:]
    for (index, bytes) in state.roots.enumerated() {
      guard let root = (try? MetadataEnvelope(parsing: bytes))?.root else { continue }
      for id in current { if root[role].keyIDs.contains(id) { arrivals[id] = arrivals[id] ?? index } else { arrivals[id] = nil } }
    }
    let newest = arrivals.values.max()
    return current.filter { arrivals[$0] != newest }
  }

  /// The root that put keys of a role beside older ones, where no later one has changed them: an overlap that goes on, or a key that was added.
  func overlapRoot(of role: MetadataRole) -> Version? {
    guard case .topLevel(let role) = role else { return nil }
    let roots = state.roots.compactMap { (try? MetadataEnvelope(parsing: $0))?.root }
    for (older, newer) in zip(roots, roots.dropFirst()).reversed() where older[role] != newer[role] {
      let isAddition = Set(older[role].keyIDs).isSubset(of: newer[role].keyIDs) && older[role].threshold == newer[role].threshold
      return isAddition ? newer.version : nil
    }
    return nil
  }

  /// Puts what stands below the role into fresh versions: bins, and the teams whose keys are at hand. A team's own signature is worth as much as
  /// before, so that nobody waits for those that are elsewhere.
  /// - Returns: the teams that were left as they are.
  mutating func resignDelegations(below role: MetadataRole, with keys: SigningKeys, now: UTCTime) throws(SigningError) -> [ByteString] {
    guard role != .snapshot, role != .timestamp else { return [] }
    var left: [ByteString] = []
    var waiting: [MetadataRole] = [role == .root ? .targets : role]
    var seen: Set<ByteString> = []
    while let delegator = waiting.popLast() {
      guard let delegations = (pending[delegator] ?? published(delegator))?.targets?.delegations else { continue }
      for delegated in delegations.roles where seen.insert(delegated.name).inserted {
        let role = MetadataRole.delegated(delegated.name)
        guard let file = published(role) else { continue }
        waiting.append(role)
        guard pending[role] == nil else { continue }
        if !delegated.isTeam || keys.countAtHand(delegated.keys) >= delegated.keys.threshold {
          pending[role] = try renewed(file, role, now)
        } else {
          left.append(delegated.name)
        }
      }
    }
    return left
  }

  /// Puts what a stolen key could have signed into fresh versions: the roles that the role stands above, in the order of the signing.
  mutating func resignBelow(_ role: MetadataRole, now: UTCTime) throws(SigningError) -> Set<TopLevelRole> {
    if role == .root || role == .targets, pending[.targets] == nil, let targets = published(.targets) {
      pending[.targets] = try renewed(targets, .targets, now)
    }
    if case .delegated = role, pending[role] == nil, let file = published(role) { pending[role] = try renewed(file, role, now) }
    return published(.targets) == nil ? [] : role == .timestamp ? [.timestamp] : [.snapshot, .timestamp]
  }

  /// The published signatures that count no longer once the pending structure is published. Those under older roots go on counting: the chain of
  /// roots rests on them.
  func stoppedSignatures() -> [(role: MetadataRole, version: Version, key: KeyID)] {
    let roles: [MetadataRole] = [.targets, .snapshot, .timestamp] + delegated.files.keys.sorted().map { .delegated($0) }
    return roles.flatMap { role -> [(role: MetadataRole, version: Version, key: KeyID)] in
      guard let file = published(role) else { return [] }
      var current = self
      current.pending = [:]
      let before = current.requirements(for: role).flatMap { $0.signers(of: file) }
      let after = requirements(for: role).last?.keys.keyIDs ?? []
      return before.filter { !after.contains($0) }.map { (role, file.version, $0) }
    }
  }
}

extension Repository {
  /// Proposes, signs and publishes an exchange of a role's keys in one, as far as the keys are at hand; else it waits for signatures.
  public func rotate(
    _ role: MetadataRole, _ exchanged: [(old: KeyID, new: Ed25519PublicKey)], dropping dropped: [KeyID] = [], _ mode: RotationMode,
    trusting root: TrustedRoot, allowsShared: Bool = false, with keys: SigningKeys, now: UTCTime
  ) throws(SigningError) -> RotationReport {
    let name = try keyNames()
    var ceremony = try ceremony()
    try root.require(ceremony.state)
    let edits = try ceremony.rotationEdits(of: role, exchanged, dropping: dropped, mode)
    let overlap = mode == .overlap ? ceremony.overlapRoot(of: role) : nil
    var warnings = try ceremony.propose(edits, allowsShared: allowsShared, now: now, name: name)
    if let overlap { warnings.insert(.overlapIsRunning(role: "\(role.name)", since: overlap), at: 0) }
    // In an overlap both keys have signed, so that the old one can go by a root alone.
    let resigns = mode == .compromised || mode == .overlap && role != .root
    let resigning = resigns ? try ceremony.resignBelow(role, now: now) : []
    let left = mode == .compromised ? try ceremony.resignDelegations(below: role, with: keys, now: now) : []
    let stopped = ceremony.stoppedSignatures()
    let report = try finish(ceremony, with: keys, resigning: resigning, now: now)
    return RotationReport(ceremony: report, warnings: warnings, stopped: stopped, leftAsTheyAre: left.sorted())
  }
}
