public import TUFMetadata

/// One refresh of a device's trust, as TUF 1.0.34 §5 describes it: a state machine without input, output or clock.
///
/// It says in `request` which metadata it needs next (role, version, most bytes, URL path) and is fed one of three answers: bytes, "not
/// available", or a failure. Each yields changes to keep. The rules:
/// - Signatures are counted by distinct public key and not by key id, which has to be the SHA-256 of its key; a key id that stands twice in
///   `signatures`, a threshold below 1, or any laxity of the syntax refuses the file (§4.2, §4.3). Ed25519 alone counts.
/// - The anchor, the root that the app shipped, is signed by its own threshold; every later root by the threshold of the root
///   before it **and** by its own, and is exactly one version newer (§5.3.4–5). Expiry of roots on the way is ignored; the last one's
///   is checked once the chain is walked and kept (§5.3.10).
/// - The walk ends where the next root is not available, and at no failure (§5.3.3). With several mirrors it ends only where none of them failed:
///   one that did may have the next root. Nor does it end before the root that was trusted already.
/// - The time is given once and is the same for every check (§5.1). Metadata is expired at the very second it states. A time that lies
///   before that of the newest refresh that succeeded, by more than clocks are corrected by, is refused.
/// - A timestamp or snapshot key that was taken away since the cache was verified supersedes both files: nothing new is held against them,
///   as if they were deleted, and they are only read until their successors arrive. A key that was added does not (§5.3.11). The comparison
///   begins at the root under which the cache was verified, so that a crash loses no purge.
/// - The timestamp is never older than the kept one, nor is the snapshot version in it (§5.4.3). At an equal version the new one is
///   dropped silently and the refresh goes on with the kept one. (§5.4.3.1 lets it end there; after a crash between timestamp
///   and snapshot the device would never come on.)
/// - The snapshot has the signed length and hashes before it is parsed, exactly the signed version, and lists every
///   file that the kept one lists, none at a lower version (§5.5). An expired or superseded snapshot is still that baseline.
/// - The targets have the signed length and hashes before they are parsed, and exactly the signed version (§5.6).
/// - Each file meets its threshold before it is kept, and kept metadata is verified again before it is used. What new versions are held
///   against, the kept timestamp and snapshot, is verified before anything is asked for: damage of it is an error, and never a mirror's.
/// - What the targets delegate is searched by `TargetSearch`, for one path, or walked by `DelegationWalk`, for all, with the same checks of length,
///   hashes, version, expiry and threshold, against the delegator's keys (§5.6.7): in the order of the delegators, each role once, a
///   bounded number of them; every role on the way is trusted with the path, by patterns (`*`, `?` and `[…]`, none of which crosses a `/`) or by
///   prefixes of the path's hash (§4.5); a terminating delegation ends the search; a role that two others delegate to is held against each. A
///   delegated role never bears a top-level role's name, nor a path leads out of its folder.
public struct ClientWorkflow: Sendable {
  private enum Stage {
    case root, timestamp, snapshot, targets, done
  }

  /// Without what a rotation superseded.
  private var stored: StoredMetadata
  private let now: UTCTime
  private let limits: VerificationLimits
  private var stage = Stage.root
  private var roots: RootChain
  private var walkedRoots = 0
  private var timestamp: Trusted<Timestamp>?
  private var snapshot: Trusted<Snapshot>?
  private var targets: Trusted<Targets>?
  private var keepsBaseline = true
  /// Whether a mirror failed to answer what is asked for now.
  private var hasFailure = false
  /// Roles whose kept files turned out to be damaged or gone, and were asked for anew. Nothing is lost by that: what is signed above them says
  /// what they have to be.
  public private(set) var replaced: Set<TopLevelRole> = []
  /// What a new anchor changes, until metadata has been verified under it.
  private var deferred: [TrustChange] = []

  /// Begins a refresh.
  /// - Parameters:
  ///   - anchor: the root file that the app shipped; everything is verified from it.
  ///   - stored: what earlier refreshes have kept.
  ///   - now: the time that every expiry is held against.
  ///   - limits: the bounds of what is taken.
  /// - Throws: what is wrong with the anchor, `damagedState` or `clockSetBack`.
  public init(anchor: [UInt8], stored: StoredMetadata, now: UTCTime, limits: VerificationLimits = .init()) throws(VerificationError) {
    self.stored = stored.baseline
    self.now = now
    self.limits = limits
    try stored.requireClock(at: now, limits: limits)
    roots = try RootChain(anchor: anchor, stored: stored)
    try requireBaseline()
  }

  /// The metadata that is needed next; nil once everything is there.
  public var request: MetadataRequest? {
    switch stage {
    case .root:
      roots.newest.payload.version.next.map { MetadataRequest(role: .root, version: $0, byteLimit: limits.rootByteCount) }
    case .timestamp: MetadataRequest(role: .timestamp, version: nil, byteLimit: limits.timestampByteCount)
    case .snapshot:
      timestamp.map { request(.snapshot, $0.payload.snapshot, limits.snapshotByteCount) }
    case .targets:
      snapshot.map { request(.targets, $0.payload.targets, limits.targetsByteCount) }
    case .done: nil
    }
  }

  /// The manifest, once nothing more is needed.
  public var manifest: TrustedManifest? {
    guard stage == .done, let timestamp, let snapshot, let targets else { return nil }
    return TrustedManifest(root: roots.newest, timestamp: timestamp, snapshot: snapshot, targets: targets)
  }

  /// Answers the request with the bytes of the file.
  /// - Returns: what to keep, in this order.
  /// - Throws: why the bytes are not trusted; what was kept before stays as it is, and so does the request.
  public mutating func supply(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
    // On a copy, so that nothing remains of an answer that is refused.
    var attempt = self
    attempt.hasFailure = false
    let changes = try attempt.accept(bytes)
    self = attempt
    return changes
  }

  private mutating func accept(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
    guard let request else { return [] }
    guard bytes.count <= request.byteLimit else { throw .tooLarge(role: request.role.name, byteLimit: request.byteLimit) }
    switch stage {
    case .root: return try supplyRoot(bytes)
    case .timestamp: return try supplyTimestamp(bytes)
    case .snapshot: return try supplySnapshot(bytes, keep: true)
    case .targets: return try supplyTargets(bytes, keep: true)
    case .done: return []
    }
  }

  /// Answers the request: the file is not there, as every mirror says that did not fail.
  /// - Returns: what to keep, in this order.
  /// - Throws: `unavailable` where the file has to be there, `undecidedRoot` where a mirror failed that may have the next root, `rolledBack` where
  ///   the chain ends before the root that was trusted, or `expired` where the root that the walk ended at is.
  public mutating func supplyNotAvailable() throws(VerificationError) -> [TrustChange] {
    guard let request else { return [] }
    guard stage == .root else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
    guard !hasFailure else { throw .undecidedRoot(urlPath: request.urlPath) }
    return try finishRoots()
  }

  /// Answers the request: a mirror failed to give the file, or gave what was refused, and is not asked for it again. The request stays, for
  /// another mirror; that the next root is not available ends the walk no more, for the one that failed may have it.
  public mutating func supplyFailure() { hasFailure = request != nil }

  private func request(_ role: MetadataRole, _ file: MetadataFile, _ defaultLimit: Int) -> MetadataRequest {
    let limit = min(file.byteCount ?? Int64(defaultLimit), Int64(limits.metadataByteCount))
    return MetadataRequest(role: role, version: roots.newest.payload.consistentSnapshot ? file.version : nil, byteLimit: Int(limit))
  }

  // MARK: TUF 1.0.34 §5.3, root

  private mutating func supplyRoot(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
    guard walkedRoots < limits.rootVersionCount else { throw .tooManyRoots(limit: limits.rootVersionCount) }
    try roots.extend(bytes)
    walkedRoots += 1
    return [.root(roots.newest.payload.version, bytes: bytes)]
  }

  private mutating func finishRoots() throws(VerificationError) -> [TrustChange] {
    // Roots that were kept and are gone now are walked to again, or else the device would begin at an older one.
    if let trusted = stored.verifiedUnderRoot, roots.newest.payload.version < trusted {
      throw .rolledBack(role: TopLevelRole.root.name, trusted: trusted, offered: roots.newest.payload.version)
    }
    try roots.newest.payload.requireUnexpired(at: now)
    stage = .timestamp
    var changes: [TrustChange] = []
    if let version = stored.verifiedUnderRoot, roots.tookKeyAway(since: version) {
      keepsBaseline = false
      changes = [.supersedeTimestampAndSnapshot(root: roots.newest.payload.version)]
    }
    let newest = roots.newest
    guard walkedRoots == 0, !stored.roots.contains(newest.bytes) else { return changes }
    // A newer anchor, from an update of the app, is kept as well: what comes next is verified under it, and a key that is taken away
    // later has to be missed in it. But it may be the wrong file: nothing is kept of it, and nothing discarded for it, before a
    // timestamp was verified under it.
    deferred = [.root(newest.payload.version, bytes: newest.bytes)] + changes
    return []
  }

  // MARK: TUF 1.0.34 §5.4, timestamp

  private mutating func supplyTimestamp(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
    let offered: Trusted<Timestamp> = try roots.newest.verify(bytes)
    var accepted = offered
    if let kept = try baseline(Timestamp.self, stored.timestamp) {
      let trusted = kept.payload
      guard offered.payload.version >= trusted.version else {
        throw .rolledBack(role: "timestamp", trusted: trusted.version, offered: offered.payload.version)
      }
      // What was kept is used again where it still meets the threshold; otherwise it has served as the baseline.
      if offered.payload.version == trusted.version, let verified: Trusted<Timestamp> = try? roots.newest.verify(kept.document) {
        accepted = verified
      } else if offered.payload.snapshot.version < trusted.snapshot.version {
        throw .rolledBack(role: "snapshot", trusted: trusted.snapshot.version, offered: offered.payload.snapshot.version)
      }
    }
    try accepted.payload.requireUnexpired(at: now)
    timestamp = accepted
    stage = .snapshot
    let changes: [TrustChange] = accepted.bytes == stored.timestamp && keepsBaseline ? [] : [change(.timestamp, accepted.bytes)]
    defer { deferred = [] }
    return deferred + changes
      + (try reuse(stored.snapshot) { (workflow, bytes) throws(VerificationError) in
        try workflow.supplySnapshot(bytes, keep: false)
      })
  }

  // MARK: TUF 1.0.34 §5.5, snapshot

  private mutating func supplySnapshot(_ bytes: [UInt8], keep: Bool) throws(VerificationError) -> [TrustChange] {
    guard let file = timestamp?.payload.snapshot else { return [] }
    try file.requireMatch(bytes, role: "snapshot")
    let offered: Trusted<Snapshot> = try roots.newest.verify(bytes)
    guard offered.payload.version == file.version else {
      throw .wrongVersion(role: "snapshot", expected: file.version, actual: offered.payload.version)
    }
    if let trusted = try baseline(Snapshot.self, stored.snapshot)?.payload {
      for (name, kept) in trusted.files.sorted(by: { $0.key < $1.key }) {
        guard let new = offered.payload.files[name] else { throw .removedFromSnapshot(name: name) }
        guard new.version >= kept.version else { throw .rolledBack(role: name, trusted: kept.version, offered: new.version) }
      }
    }
    try offered.payload.requireUnexpired(at: now)
    snapshot = offered
    stage = .targets
    var changes = keep ? [change(.snapshot, bytes)] : []
    changes += try reuse(stored.targets) { (workflow, bytes) throws(VerificationError) in
      try workflow.supplyTargets(bytes, keep: false)
    }
    if stage == .targets, hasLostTargets { replaced.insert(.targets) }
    return changes
  }

  /// Whether the kept targets are not merely older ones, but damaged or gone.
  private var hasLostTargets: Bool {
    guard let bytes = stored.targets else { return stored.newestRefresh != nil }
    guard let metadata = try? UnverifiedMetadata<Targets>(role: TopLevelRole.targets.name, parsing: bytes) else { return true }
    return !RootChain.wasTrusted(metadata, under: roots.all)
  }

  // MARK: TUF 1.0.34 §5.6, targets

  private mutating func supplyTargets(_ bytes: [UInt8], keep: Bool) throws(VerificationError) -> [TrustChange] {
    guard let file = snapshot?.payload.targets else { return [] }
    try file.requireMatch(bytes, role: "targets")
    let offered: Trusted<Targets> = try roots.newest.verify(bytes)
    guard offered.payload.version == file.version else {
      throw .wrongVersion(role: "targets", expected: file.version, actual: offered.payload.version)
    }
    try offered.payload.requireUnexpired(at: now)
    targets = offered
    stage = .done
    // Where a rotation was half done, it is done now, whatever the clock says.
    let isNews = stored.newestRefresh.map { $0 < now } ?? true || stored.rotatingSinceRoot != nil || !keepsBaseline
    return (keep ? [change(.targets, bytes)] : []) + (isNews ? [.refreshed(at: now)] : [])
  }

  // MARK: Another timestamp

  /// The timestamp that was accepted; nil before one was.
  package var acceptedTimestamp: [UInt8]? { timestamp?.bytes }

  /// Goes back to asking for the timestamp, that of another mirror, where what the accepted one names, or what the targets delegate, can't
  /// be had. What was accepted is what newer versions are held against from now on, so that trust goes on from it and never back.
  package mutating func askForNewerTimestamp() {
    guard let timestamp else { return }
    if !keepsBaseline {
      // The refresh has still to end the rotation.
      stored.rotatingSinceRoot = stored.rotatingSinceRoot ?? stored.verifiedUnderRoot
      (stored.snapshot, keepsBaseline) = (nil, true)
    }
    stored.timestamp = timestamp.bytes
    if let snapshot { stored.snapshot = snapshot.bytes }
    if let targets { stored.targets = targets.bytes }
    (self.timestamp, snapshot, targets, stage, hasFailure) = (nil, nil, nil, .timestamp, false)
  }

  // MARK: What was kept

  private func change(_ role: MetadataRole, _ bytes: [UInt8]) -> TrustChange {
    .metadata(role, bytes: bytes, root: roots.newest.payload.version)
  }

  /// Verifies what new versions are held against, before anything is asked for: damage of it is told as such, and never as a mirror's fault.
  private func requireBaseline() throws(VerificationError) {
    guard let version = stored.verifiedUnderRoot else { return }
    guard roots.knows(version) else { throw .missingFromState(name: ByteString("root version \(version)")) }
    guard !stored.holdsStandIns else { return }
    try requireTrusted(baseline(Timestamp.self, stored.timestamp))
    try requireTrusted(baseline(Snapshot.self, stored.snapshot))
  }

  private func requireTrusted<Payload: ReadableRolePayload>(_ kept: UnverifiedMetadata<Payload>?) throws(VerificationError) {
    guard let kept, !RootChain.wasTrusted(kept, under: roots.all) else { return }
    // The newest root's words: none of the others has the threshold either.
    do { let _: Trusted<Payload> = try roots.newest.verify(kept.document) } catch { throw .damagedState(role: Payload.role.name, error) }
  }

  /// What an earlier refresh has kept, to hold new versions against.
  private func baseline<Payload: ReadableRolePayload>(
    _: Payload.Type, _ bytes: [UInt8]?
  ) throws(VerificationError) -> UnverifiedMetadata<Payload>? {
    guard keepsBaseline, let bytes else { return nil }
    do { return try UnverifiedMetadata<Payload>(role: Payload.role.name, parsing: bytes) } catch {
      throw .damagedState(role: Payload.role.name, error)
    }
  }

  /// Goes on with a kept file where that is the one that is signed for now, so that it needs no transfer. Where it is not, the
  /// file is asked for.
  private mutating func reuse(
    _ bytes: [UInt8]?, _ accept: (inout ClientWorkflow, [UInt8]) throws(VerificationError) -> [TrustChange]
  ) throws(VerificationError) -> [TrustChange] {
    guard keepsBaseline, let bytes, let request, bytes.count <= request.byteLimit else { return [] }
    var attempt = self
    do {
      let changes = try accept(&attempt, bytes)
      self = attempt
      return changes
    } catch {
      // The kept file is another version, or no longer verifies under this root: the mirror is asked instead.
      return []
    }
  }
}
