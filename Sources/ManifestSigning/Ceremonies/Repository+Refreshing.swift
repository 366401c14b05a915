internal import FileIO
internal import ManifestVerifier
public import TUFMetadata

/// What a refresh did, or would do.
public struct RefreshReport: Sendable {
  /// A role that is due.
  public struct Due: Sendable {
    public let role: MetadataRole
    public let expires: UTCTime
    /// The keys that are missing, where too few are at hand.
    public let missing: [KeyID]
    /// Whether its next version waits for signatures already.
    public let isPending: Bool

    public var canBeSigned: Bool { missing.isEmpty && !isPending }
  }

  /// In the order of the signing.
  public let due: [Due]
  /// What became visible; nil where nothing was due or could be signed, and in a rehearsal.
  public let publication: Publication?

  /// What stays due because keys are missing.
  public var missing: [Due] { due.filter { !$0.missing.isEmpty } }
}

extension Ceremony {
  /// What is in its renewal window, or has expired.
  public func due(at now: UTCTime, isAtHand: (KeyID) -> Bool) -> [RefreshReport.Due] {
    let roles: [MetadataRole] = [.root] + delegated.files.keys.sorted().map { .delegated($0) } + [.targets, .snapshot, .timestamp]
    var current = self
    current.pending = [:]
    return roles.compactMap { role in
      guard let file = published(role), isDue(role, expires: file.expires, at: now),
        let keys = current.requirements(for: role).first?.keys
      else { return nil }
      let missing = keys.keyIDs.filter { !isAtHand($0) }
      let isMissing = keys.keyIDs.count - missing.count < keys.threshold
      return RefreshReport.Due(role: role, expires: file.expires, missing: isMissing ? missing : [], isPending: pending[role] != nil)
    }
  }
}

extension Repository {
  /// Signs again what is in its renewal window and whose keys are at hand, and what names it. Where nothing is due, nothing is written.
  /// - Parameter rehearses: whether nothing is signed or written.
  public func refresh(with keys: SigningKeys, rehearses: Bool = false, now: UTCTime) throws(SigningError) -> RefreshReport {
    let ceremony = try ceremony()
    try TrustedRoot.requireKept(ceremony.state, layout)
    let due = ceremony.due(at: now, isAtHand: keys.isAtHand)
    let signable = due.filter(\.canBeSigned).map(\.role)
    // Whatever changes, snapshot and timestamp name it: without their keys nothing can be shown.
    let below: [TopLevelRole] = signable.contains { $0 != .root && $0 != .timestamp } ? [.snapshot, .timestamp] : []
    let blocked = below.filter { keys.countAtHand(ceremony.root[$0]) < ceremony.root[$0].threshold }
    guard blocked.isEmpty else {
      let role = blocked[0]
      throw .missingKeys(
        role: .topLevel(role), threshold: ceremony.root[role].threshold,
        atHand: ceremony.root[role].keyIDs.filter(keys.isAtHand).map(keys.name),
        missing: ceremony.root[role].keyIDs.filter { !keys.isAtHand($0) }.map(keys.name))
    }
    guard !rehearses, !signable.isEmpty else { return RefreshReport(due: due, publication: nil) }
    // What waits for other signatures goes on waiting.
    var work = ceremony
    work.pending = [:]
    work.proposedPolicy = nil
    for role in signable {
      guard let file = work.published(role), role != .snapshot, role != .timestamp else { continue }
      work.pending[role] = try work.renewed(file, role, now)
    }
    var resigning: Set<TopLevelRole> = []
    for case .topLevel(let role) in signable where role == .snapshot || role == .timestamp { resigning.insert(role) }
    if resigning.contains(.snapshot) { resigning.insert(.timestamp) }
    try work.rehearse(with: keys, resigning: resigning, now: now)
    _ = try work.sign(with: keys)
    guard case .ready(let publication) = try work.publication(with: keys, resigning: resigning, now: now) else {
      return RefreshReport(due: due, publication: nil)
    }
    try removeLeftovers(of: ceremony.state)
    try show(publication, after: ceremony.state)
    return RefreshReport(due: due, publication: publication)
  }
}
