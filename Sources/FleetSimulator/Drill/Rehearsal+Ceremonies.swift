internal import ManifestSigning
internal import TUFMetadata

/// Ceremonies by the very code that real ones run on, on a temporary copy.
extension Rehearsal {
  /// The role as ceremonies know it, one name for each; nil for a team's own team, whose keys are that team's business.
  private func ceremonyRoles(_ role: RehearsedRole, _ publisher: SimulatedPublisher) -> [MetadataRole]? {
    switch role.kind {
    case .topLevel(let role): return [.topLevel(role)]
    case .delegated(let names):
      let direct = Set(publisher.targets.delegations.map(\.name))
      return names.allSatisfy(direct.contains) ? names.map { .delegated($0) } : nil
    }
  }

  /// Every key that a publisher has.
  func allKeys(_ publisher: SimulatedPublisher) -> [SimulatedKey] {
    var keys = TopLevelRole.allCases.reduce(into: [SimulatedKey]()) { $0 = $0.merging(publisher[$1].keys) }
    for delegation in publisher.targets.delegations + publisher.delegated.values.flatMap(\.delegations) {
      keys = keys.merging(delegation.keys)
    }
    return keys
  }

  func stage(_ publisher: SimulatedPublisher) throws(SimulationError) -> StagedRepository {
    try StagedRepository(publisher, lifetimes, in: temporaryFolder)
  }

  /// Exchanges keys of a role, each for a new one.
  /// - Parameter lost: a key that is not at hand.
  func exchange(
    _ publisher: inout SimulatedPublisher, _ role: RehearsedRole, _ exchanged: [(old: SimulatedKey, new: SimulatedKey)],
    _ mode: RotationMode,
    without lost: SimulatedKey? = nil, at time: UTCTime
  ) throws(SimulationError) {
    let keys = publisher.keys(of: role)
    let after: [SimulatedKey] =
      switch mode {
      case .overlap: keys + exchanged.map(\.new)
      case .dropOld: keys.filter { key in !exchanged.contains { $0.old.key.id == key.key.id } }
      case .replace, .compromised: keys.map { key in exchanged.first { $0.old.key.id == key.key.id }?.new ?? key }
      }
    guard let roles = ceremonyRoles(role, publisher) else {
      try replaceKeys(&publisher, [(role, after)], at: time)
      return try publishNext(&publisher, at: time)
    }
    let atHand = allKeys(publisher).merging(exchanged.map(\.new)).filter { $0.key.id != lost?.key.id }
    let staged = try stage(publisher)
    for role in roles { try staged.rotate(role, exchanged, mode, with: atHand, at: time) }
    publisher.setKeys(of: role, after)
    try adopt(&publisher, staged.files())
  }

  /// Signs again what is due, without a key where it is lost.
  func refresh(_ publisher: inout SimulatedPublisher, without lost: SimulatedKey? = nil, at time: UTCTime) throws(SimulationError) {
    let staged = try stage(publisher)
    _ = try staged.refresh(with: allKeys(publisher).filter { $0.key.id != lost?.key.id }, at: time)
    try adopt(&publisher, staged.files())
  }

  func adopt(_ publisher: inout SimulatedPublisher, _ files: [String: [UInt8]]) throws(SimulationError) {
    do { try publisher.adopt(files) } catch { throw .signing(.metadata(path: "the rehearsal", error)) }
  }

  /// The time at which metadata that is signed at another becomes due.
  func dueTime(_ role: RehearsedRole, of publisher: SimulatedPublisher) -> UTCTime {
    let expires = publisher.expiry(of: role)
    let lifetime = if case .topLevel(let role) = role.kind { lifetimes[role] } else { lifetimes[.targets] }
    return UTCTime(secondsSince1970: expires.secondsSince1970 - Int64(lifetime ?? 1) * 28_800) ?? expires
  }
}
