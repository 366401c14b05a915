public import TUFMetadata

/// One refresh of a device's trust, as TUF 1.0.34 §5 describes it: a state machine without input, output or clock.
///
/// It says in `request` which metadata it needs next and is given that, or told that there is none. Each answer yields changes
/// to keep. The rules:
/// - The anchor, the root that the app shipped, is signed by its own threshold; every later root by the threshold of the root
///   before it **and** by its own, and is exactly one version newer (§5.3.4–5). Expiry of roots on the way is ignored; the last one's
///   is checked once the chain is walked and kept (§5.3.10).
/// - The walk ends where the next root is not available, and at no other failure (§5.3.3).
/// - The time is given once and is the same for every check (§5.1). Metadata is expired at the very second it states. A time that lies
///   before that of the newest refresh that succeeded, by more than clocks are corrected by, is refused.
/// - A timestamp or snapshot key that was taken away since the cache was verified discards both files; a key that was added
///   does not (§5.3.11). The comparison begins at the root under which the cache was verified, so that a crash loses no purge.
/// - The timestamp is never older than the kept one, nor is the snapshot version in it (§5.4.3). At an equal version the new one is
///   dropped silently and the refresh goes on with the kept one. (§5.4.3.1 lets it end there; after a crash between timestamp
///   and snapshot the device would never come on.)
/// - The snapshot has the signed length and hashes before it is parsed, exactly the signed version, and lists every
///   file that the kept one lists, none at a lower version (§5.5). An expired or superseded snapshot is still that baseline.
/// - The targets have the signed length and hashes before they are parsed, and exactly the signed version (§5.6).
/// - Each file meets its threshold before it is kept, and kept metadata is verified again before it is used.
public struct ClientWorkflow: Sendable {
  private enum Stage {
    case root, timestamp, snapshot, targets, done
  }

  private let stored: StoredMetadata
  private let now: UTCTime
  private let limits: VerificationLimits
  private var stage = Stage.root
  private var roots: RootChain
  private var walkedRoots = 0
  private var timestamp: Trusted<Timestamp>?
  private var snapshot: Trusted<Snapshot>?
  private var targets: Trusted<Targets>?
  private var keepsBaseline = true
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
    self.stored = stored
    self.now = now
    self.limits = limits
    try stored.requireClock(at: now, limits: limits)
    roots = try RootChain(anchor: anchor, stored: stored)
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
  /// - Throws: why the bytes are not trusted; what was kept before stays as it is.
  public mutating func supply(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
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

  /// Answers the request: the file is not there, as every mirror says. Any other failure to get it is not an answer.
  /// - Returns: what to keep, in this order.
  /// - Throws: `unavailable` where the file has to be there, or `expired` where the root that the walk ended at is.
  public mutating func supplyNotAvailable() throws(VerificationError) -> [TrustChange] {
    guard let request else { return [] }
    guard stage == .root else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
    return try finishRoots()
  }

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
    try roots.newest.payload.requireUnexpired(at: now)
    stage = .timestamp
    var changes: [TrustChange] = []
    if let version = stored.verifiedUnderRoot, roots.tookKeyAway(since: version) {
      keepsBaseline = false
      changes = [.discardTimestampAndSnapshot]
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
      if offered.payload.version == trusted.version, let verified = try? roots.newest.verify(kept) {
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
    let changes = keep ? [change(.snapshot, bytes)] : []
    return changes
      + (try reuse(stored.targets) { (workflow, bytes) throws(VerificationError) in
        try workflow.supplyTargets(bytes, keep: false)
      })
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
    let isNewest = stored.newestRefresh.map { $0 < now } ?? true
    return (keep ? [change(.targets, bytes)] : []) + (isNewest ? [.refreshed(at: now)] : [])
  }

  // MARK: What was kept

  private func change(_ role: MetadataRole, _ bytes: [UInt8]) -> TrustChange {
    .metadata(role, bytes: bytes, root: roots.newest.payload.version)
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
