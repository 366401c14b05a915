internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
internal import TUFMetadata

/// What of a folder of models one role lists: a team what it is trusted with, the top-level targets all that no team is.
struct CatalogShare {
  let role: MetadataRole
  /// The models that others publish: the teams, for whoever makes the list of models.
  let othersModels: [ModelName: ModelDescription]
  /// What the team has published; nil where that is nothing, and for the top-level targets.
  private let teamFile: MetadataEnvelope?
  private let state: PublishedState
  /// What the teams list; empty where there are none.
  private let lists: [ByteString: MetadataEnvelope]
  /// The teams that are trusted with paths.
  private let teams: [DelegatedRole]
  private let team: DelegatedRole?

  /// - Throws: `ceremony(.noSuchRole)` for a team that nobody delegates to.
  init(_ state: PublishedState, team name: ByteString?, _ layout: RepositoryLayout) throws(SigningError) {
    self.state = state
    teams = (state.manifest?.targets.payload.delegations?.roles ?? []).filter { if case .paths = $0.scope { true } else { false } }
    guard let name else {
      (role, team) = (.targets, nil)
      teamFile = nil
      lists = teams.isEmpty ? [:] : try PublishedDelegations(state, layout).files
      othersModels = try Self.models(of: lists, layout)
      return
    }
    guard let team = teams.first(where: { $0.name == name }) else { throw .ceremony(.noSuchRole("\(name)")) }
    (role, self.team) = (.delegated(name), team)
    lists = try PublishedDelegations(state, layout).files
    teamFile = lists[name]
    othersModels = [:]
  }

  private static func models(
    of lists: [ByteString: MetadataEnvelope], _ layout: RepositoryLayout
  ) throws(SigningError) -> [ModelName: ModelDescription] {
    var models: [ModelName: ModelDescription] = [:]
    for (name, file) in lists where !HashBins.isBin(name) {
      guard let targets = file.targets else { continue }
      for (path, target) in targets.all where CatalogContent.isDocument(path) && path.segments.count == 3 {
        guard let name = try? ModelName(organisation: path.segments[0], name: path.segments[1]) else { continue }
        models[name] = try description(of: name, at: path, target, layout).description
      }
    }
    return models
  }

  private static func description(
    of name: ModelName, at path: TargetPath, _ file: TargetFile, _ layout: RepositoryLayout
  ) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8]) {
    let bytes = try onDisk { () throws(FileError) in try readFile(layout.target(path, file), limit: ModelDescription.byteLimit) }
    guard TargetFile(of: bytes) == file else { throw .damagedTarget(path: layout.target(path, file)) }
    do { return (try ModelDescription(parsing: bytes, of: name), bytes) } catch { throw .description(path: path, error) }
  }

  /// The description of a model that the role has published, and the file that it was read from.
  func publishedDescription(
    of model: ModelName, _ layout: RepositoryLayout
  ) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8])? {
    let path: TargetPath
    do { path = try model.descriptionPath() } catch { throw .metadata(path: "\(model)", error) }
    guard let file = team == nil ? state.file(path) : teamFile?.targets?[path] else { return nil }
    return try Self.description(of: model, at: path, file, layout)
  }

  /// Leaves in a manifest what the role lists.
  /// - Throws: `ceremony(.notDelegated)` where devices would not look to the team for a path.
  func take(from manifest: inout Manifest) throws(SigningError) {
    guard let team else {
      guard !teams.isEmpty else { return }
      manifest = manifest.filter(isOwn)
      return
    }
    manifest = manifest.filter { $0.name != Catalog.fileName }
    let foreign = manifest.files.map(\.path).filter { !team.isTrusted(with: $0) }
    guard foreign.isEmpty else { throw .ceremony(.notDelegated(team: "\(team.name)", paths: foreign)) }
  }

  /// Whether the top-level role lists a path itself.
  private func isOwn(_ path: TargetPath) -> Bool { path.name == Catalog.fileName || !teams.contains { $0.isTrusted(with: path) } }

  /// What makes the manifest another than the published one. A file that a team has taken over is not missing.
  func changes(to manifest: Manifest, _ spread: SpreadManifest?) -> ManifestChanges {
    guard team == nil else {
      let old = Manifest(teamFile?.targets.map { [$0] } ?? [])
      return manifest.changes(since: old.filter { $0.name != Catalog.fileName })
    }
    guard !teams.isEmpty else { return state.changes(to: manifest, spread) }
    let old = state.files ?? Manifest()
    var changes = manifest.changes(since: old.filter(isOwn))
    // They leave the top-level list; whether devices go on finding them is for the teams' lists to say.
    let search = FileSearch(targets: state.manifest?.targets.payload) { lists[$0]?.targets }
    for file in old.files where !isOwn(file.path) {
      guard let found = search.find(file.path, teamsAlone: true)?.file else {
        changes.notTakenOver.append(file.path)
        continue
      }
      changes.handedOver.append(file.path)
      if found != file.target, !CatalogContent.isDocument(file.path) { changes.replaced.append(file.path) }
    }
    changes.replaced.sort()
    return changes
  }

  /// Whether something is to be signed again without a change.
  func isDue(_ policy: Policy, at now: UTCTime) -> Bool {
    guard case .topLevel = role else { return teamFile.map { policy.isDue(.targets, expires: $0.expires, at: now) } ?? true }
    return state.isDue(policy, at: now)
  }

  /// Puts the role's next metadata, and that of the bins which its files are spread over, among what waits for signatures.
  /// - Throws: `missingKeys` where not even one of the role's keys is at hand.
  func propose(
    _ manifest: Manifest, _ ceremony: Ceremony, _ keys: SigningKeys, _ now: UTCTime
  ) throws(SigningError) -> Ceremony {
    var ceremony = ceremony
    var (listed, delegations) = (manifest, ceremony.published(role)?.members[.delegations])
    if team == nil {
      let policy = ceremony.nextPolicy
      let ofTargets = state.root.payload[.targets]
      delegations = HashBins.delegations(to: policy.bins, ofTargets, state.root.payload.keys, keeping: delegations)
      if let bins = policy.bins {
        let spread = SpreadManifest(manifest, over: bins, since: state.bins)
        listed = spread.top
        let published = state.published(spread, policy, at: now)
        for (number, part) in spread.parts.enumerated() where published[number] == nil {
          try Self.wait(for: part, as: .delegated(bins.name(number)), delegating: nil, &ceremony, now)
        }
      }
    }
    try Self.wait(for: listed, as: role, delegating: delegations, &ceremony, now)
    guard let requirement = ceremony.requirements(for: role).first else { return ceremony }
    let atHand = requirement.keys.keyIDs.filter(keys.isAtHand)
    guard !atHand.isEmpty || ceremony.pending[role].map({ !requirement.signers(of: $0).isEmpty }) ?? false else {
      throw .missingKeys(
        role: role, threshold: requirement.keys.threshold, atHand: [], missing: requirement.keys.keyIDs.map(keys.name))
    }
    return ceremony
  }

  /// The same proposal goes on waiting, with the signatures that it has.
  private static func wait(
    for manifest: Manifest, as role: MetadataRole, delegating delegations: JSONTree?, _ ceremony: inout Ceremony, _ now: UTCTime
  ) throws(SigningError) {
    var proposed = ceremony.published(role)?.members ?? [:]
    let header = RoleHeader(version: try ceremony.state.nextVersion(of: role), expires: now.adding(days: ceremony.lifetime(of: role)))
    proposed.merge(header.members(of: .targets)) { _, new in new }
    proposed[.targets] = .object(Dictionary(uniqueKeysWithValues: manifest.files.map { ($0.path.name, $0.target.tree) }))
    proposed[.delegations] = delegations
    if let waiting = ceremony.pending[role], waiting.expires > now {
      var same = waiting.members
      same[.expires] = proposed[.expires]
      if same == proposed { return }
    }
    ceremony.pending[role] = try Ceremony.envelope(.object(proposed), role)
  }
}

extension PublishedState {
  /// The delegations of the published targets, which a publication carries on; nil for none.
  var delegations: JSONTree? {
    guard let targets = manifest?.targets, targets.payload.delegations != nil else { return nil }
    return (try? JSONDocument(parsing: targets.bytes).root["signed"]?.member(.delegations)).flatMap { $0 }.map(JSONTree.init)
  }
}

extension Repository {
  /// What waits, where a publication of a role may take the place of what waits for that role.
  /// - Throws: `ceremony(.waiting)` where that would drop a proposal of other keys or delegations.
  func ceremonyToPublishOver(_ role: MetadataRole) throws(SigningError) -> Ceremony {
    let ceremony = try ceremony()
    guard let waiting = ceremony.pending[role] else { return ceremony }
    let isOwn =
      if role == .targets {
        ceremony.pending[.root] == nil && waiting.members[.delegations] == ceremony.published(.targets)?.members[.delegations]
      } else {
        ceremony.pending[.root] == nil && ceremony.pending[.targets] == nil
      }
    guard isOwn else { throw .ceremony(.waiting(roles: ceremony.waiting.map { "\($0.role.name)" })) }
    return ceremony
  }

  /// Drops what waited for a role that was published otherwise, and the snapshot and timestamp that would have named it.
  func forget(_ role: MetadataRole, of ceremony: Ceremony) throws(SigningError) {
    guard ceremony.pending[role] != nil || ceremony.pending[.snapshot] != nil || ceremony.pending[.timestamp] != nil else { return }
    var left = ceremony
    for gone in [role, .snapshot, .timestamp] { left.pending[gone] = nil }
    try PendingFolder.write(left, layout)
  }
}
