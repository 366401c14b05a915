internal import ManifestVerifier
public import TUFMetadata

/// A consistent choice of pending and published files: what a publication would make visible.
private struct Choice {
  var root: MetadataEnvelope?
  var targets: MetadataEnvelope?
  var teams: [ByteString: MetadataEnvelope] = [:]

  var isEmpty: Bool { root == nil && targets == nil && teams.isEmpty }
}

extension Ceremony {
  /// Finds out whether what is pending can be published, all of it or the part that is complete, and signs the snapshot and the timestamp that
  /// name it.
  ///
  /// A root is published only with all that has to be signed again because of it, and new delegations only with the metadata of the teams.
  /// Where too few keys of snapshot or timestamp are at hand, these wait for signatures too.
  /// - Parameters:
  ///   - resigning: snapshot or timestamp, to be signed again without another reason.
  ///   - now: the time from which expiries are counted.
  public mutating func publication(
    with keys: SigningKeys, resigning: Set<TopLevelRole> = [], now: UTCTime
  ) throws(SigningError) -> CeremonyStep {
    pending[.snapshot] = pending[.snapshot].flatMap { isNext($0, .snapshot) ? $0 : nil }
    pending[.timestamp] = pending[.timestamp].flatMap { isNext($0, .timestamp) ? $0 : nil }
    // What is proposed and incomplete holds back what was only to be signed again because of it.
    let again = proposedRoles.isEmpty && !resigning.isEmpty ? Choice() : nil
    guard let choice = choice(keys.isRehearsal) ?? again else {
      return pending.isEmpty ? .nothing : .waiting
    }
    let nextRoot = choice.root?.root ?? root
    var files: [(MetadataRole, MetadataEnvelope)] = choice.root.map { [(.root, $0)] } ?? []
    files += choice.teams.sorted { $0.key < $1.key }.map { (.delegated($0.key), $0.value) }
    if let targets = choice.targets { files.append((.targets, targets)) }
    if let snapshot = try snapshot(choice, nextRoot, resigns: resigning.contains(.snapshot), keys, now) {
      guard SigningRequirement(.snapshot, of: nextRoot).isMet(by: snapshot, isRehearsal: keys.isRehearsal) else { return .waiting }
      files.append((.snapshot, snapshot))
    }
    let newSnapshot = files.last { $0.0 == .snapshot }?.1
    if let timestamp = try timestamp(newSnapshot, nextRoot, resigns: resigning.contains(.timestamp), keys, now) {
      guard SigningRequirement(.timestamp, of: nextRoot).isMet(by: timestamp, isRehearsal: keys.isRehearsal) else { return .waiting }
      files.append((.timestamp, timestamp))
    }
    guard !keys.isRehearsal else { return .waiting }
    let publication = try verified(files)
    for (role, _) in files { pending[role] = nil }
    if choice.root != nil || !pending.keys.contains(.root) { proposedPolicy = nil }
    return .ready(publication)
  }

  /// Finds out whether all external signers take what they will get, before one signs: a signature by a token or a service leaves its trace there.
  func rehearse(with keys: SigningKeys, resigning: Set<TopLevelRole>, now: UTCTime) throws(SigningError) {
    guard keys.hasExternalSigners else { return }
    var rehearsed = self
    let rehearsal = keys.rehearsal()
    _ = try rehearsed.sign(with: rehearsal)
    _ = try rehearsed.publication(with: rehearsal, resigning: resigning, now: now)
  }

  // MARK: Choosing

  private func choice(_ isRehearsal: Bool) -> Choice? {
    for usesRoot in pending[.root] == nil ? [false] : [true, false] {
      for usesTargets in pending[.targets] == nil ? [false] : [true, false] {
        // What the next root needs goes with it.
        if !usesRoot, usesTargets, rootNeedsTargets { continue }
        if let choice = choice(usesRoot: usesRoot, usesTargets: usesTargets, isRehearsal), !choice.isEmpty { return choice }
      }
    }
    return nil
  }

  /// Whether the root that waits makes the published targets worthless.
  private var rootNeedsTargets: Bool {
    guard let next = pending[.root]?.root, let old = published(.targets) else { return false }
    return !SigningRequirement(.targets, of: next).isMet(by: old)
  }

  /// - Returns: nil where a device could not follow.
  private func choice(usesRoot: Bool, usesTargets: Bool, _ isRehearsal: Bool) -> Choice? {
    var choice = Choice()
    var root = self.root
    if usesRoot, let file = pending[.root], let next = file.root {
      guard rootRequirements.allSatisfy({ $0.isMet(by: file, isRehearsal: isRehearsal) }) else { return nil }
      (choice.root, root) = (file, next)
    }
    let ofTargets = SigningRequirement(.targets, of: root)
    let old = published(.targets)
    if usesTargets, let file = pending[.targets] {
      guard ofTargets.isMet(by: file, isRehearsal: isRehearsal) else { return nil }
      choice.targets = file
    } else if let old, !ofTargets.isMet(by: old) {
      return nil
    }
    guard let targets = choice.targets ?? old else { return choice }
    var waiting: [(ByteString, MetadataEnvelope)] = [(TopLevelRole.targets.name, targets)]
    var seen: Set<ByteString> = []
    while let (delegator, file) = waiting.popLast() {
      guard let delegations = file.targets?.delegations else { continue }
      for role in delegations.roles {
        let requirement = SigningRequirement(role, of: delegations, by: delegator)
        let published = delegated.files[role.name]
        if let next = pending[.delegated(role.name)], requirement.isMet(by: next, isRehearsal: isRehearsal) {
          choice.teams[role.name] = next
          if seen.insert(role.name).inserted { waiting.append((role.name, next)) }
        } else if let published, requirement.isMet(by: published), !isTakingOver(role, in: delegations, usesTargets) {
          if seen.insert(role.name).inserted { waiting.append((role.name, published)) }
        } else if !isRefused(role.name) {
          return nil
        }
      }
    }
    return choice
  }

  /// Whether a team's next list waits because the team is to be trusted with other paths: until it has signed, devices would not find what it takes over.
  private func isTakingOver(_ role: DelegatedRole, in delegations: Delegations, _ usesTargets: Bool) -> Bool {
    guard usesTargets, role.isTeam, pending[.delegated(role.name)] != nil else { return false }
    let old = published(.targets)?.targets?.delegations?.roles.first { $0.name == role.name }
    return old != nil && old?.scope != role.scope
  }

  /// Whether devices can't use the role as it is: then no publication makes it worse.
  private func isRefused(_ name: ByteString) -> Bool { delegated.refusals.contains { $0.role == name } }

  private func isNext(_ file: MetadataEnvelope, _ role: MetadataRole) -> Bool {
    guard let next = try? state.nextVersion(of: role) else { return false }
    return file.version == next
  }

  // MARK: Snapshot and timestamp

  private mutating func snapshot(
    _ choice: Choice, _ root: Root, resigns: Bool, _ keys: SigningKeys, _ now: UTCTime
  ) throws(SigningError) -> MetadataEnvelope? {
    let old = published(.snapshot)
    guard let targets = choice.targets ?? published(.targets) else { return nil }
    let isStale = old.map { !SigningRequirement(.snapshot, of: root).isMet(by: $0) } ?? true
    guard resigns || isStale || choice.targets != nil || !choice.teams.isEmpty else { return nil }
    // What a snapshot has listed once it goes on listing (TUF 1.0.34 §5.5.5).
    var listed: [ByteString: JSONTree] = [:]
    if case .object(let members)? = old?.members[.meta] { listed = members }
    listed[.targetsFile] = targets.description.tree
    let bins = targets.targets?.delegations.flatMap { HashBins($0) }
    for (name, file) in choice.teams {
      let description = HashBins.isBin(name) ? bins?.description(file.version, file.bytes) : nil
      listed[MetadataRole.delegated(name).snapshotName] = (description ?? file.description).tree
    }
    return try sign(.snapshot, .object(listed), root, keys, now)
  }

  private mutating func timestamp(
    _ snapshot: MetadataEnvelope?, _ root: Root, resigns: Bool, _ keys: SigningKeys, _ now: UTCTime
  ) throws(SigningError) -> MetadataEnvelope? {
    let old = published(.timestamp)
    guard let named = snapshot ?? published(.snapshot) else { return nil }
    let isStale = old.map { !SigningRequirement(.timestamp, of: root).isMet(by: $0) } ?? true
    guard resigns || isStale || snapshot != nil else { return nil }
    return try sign(.timestamp, .object([.snapshotFile: named.description.tree]), root, keys, now)
  }

  /// Signs the next version with the keys at hand, going on from what waits for signatures with the same content.
  private mutating func sign(
    _ role: TopLevelRole, _ meta: JSONTree, _ root: Root, _ keys: SigningKeys, _ now: UTCTime
  ) throws(SigningError) -> MetadataEnvelope {
    let place = MetadataRole.topLevel(role)
    var file: MetadataEnvelope
    // Somebody else may have written it: it says what it has to, and not for longer.
    if let waiting = pending[place], waiting.members[.meta] == meta, waiting.expires > now,
      waiting.expires <= now.adding(days: lifetime(of: place))
    {
      file = waiting
    } else {
      var members = RoleHeader(version: try state.nextVersion(of: place), expires: now.adding(days: lifetime(of: place))).members(of: role)
      members[.meta] = meta
      file = try Self.envelope(.object(members), place)
    }
    _ = try keys.sign(&file, for: [SigningRequirement(role, of: root)])
    // Where none of its keys is at hand, it is left to whoever has one.
    pending[place] = file.signatures.isEmpty ? nil : file
    return file
  }

  // MARK: Verifying

  /// Before anything is visible, all of it is verified from the first root as a device would.
  private func verified(_ files: [(MetadataRole, MetadataEnvelope)]) throws(SigningError) -> Publication {
    var bytes: [MetadataRole: [UInt8]] = [:]
    for (role, file) in files { bytes[role] = file.bytes }
    let roots = state.roots + [bytes[.root]].compactMap(\.self)
    var stored = StoredMetadata(roots: Array(roots.dropFirst()))
    stored.timestamp = bytes[.timestamp] ?? state.manifest?.timestamp.bytes
    stored.snapshot = bytes[.snapshot] ?? state.manifest?.snapshot.bytes
    stored.targets = bytes[.targets] ?? state.manifest?.targets.bytes
    do throws(VerificationError) {
      let anchor = roots.first ?? []
      let root = try TrustedManifest.newestRoot(anchor: anchor, stored: stored)
      let manifest = stored.timestamp == nil ? nil : try TrustedManifest(anchor: anchor, stored: stored)
      if let manifest { try verifyTeams(manifest, bytes) }
      return Publication(
        files: files.map { Publication.File(role: $0, version: $1.version, bytes: $1.bytes) }, root: root, manifest: manifest,
        policy: bytes[.root] != nil || !pending.keys.contains(.root) ? proposedPolicy : nil)
    } catch { throw .published(error) }
  }

  private func verifyTeams(_ manifest: TrustedManifest, _ bytes: [MetadataRole: [UInt8]]) throws(VerificationError) {
    var walk = try DelegationWalk(over: manifest, now: .earliest)
    while let request = walk.request {
      guard let file = bytes[request.role] ?? delegated.files[request.role.name]?.bytes else {
        guard isRefused(request.role.name) else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
        try walk.skip(for: .unavailable(role: request.role.name, urlPath: request.urlPath))
        continue
      }
      _ = try walk.supply(file)
    }
    if let refusal = walk.refusals.first(where: { !isRefused($0.role) }) { throw refusal.error }
  }
}
