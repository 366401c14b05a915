public import TUFMetadata

/// The walk over every delegated role that can be reached from the top-level targets, whatever paths it is trusted with: what a refresh from a
/// folder keeps, so that later checks find every target without a mirror. A state machine without input, output or clock, beside
/// `TargetSearch`, which visits only what one target needs. The rules:
/// - Each delegation is followed once: a role that two others delegate to is held against the keys and the threshold of each.
/// - A role is verified as in a search. Where that fails, the caller skips it: one team's bad metadata does not keep others' from
///   being renewed, and what was kept of that role before stays.
/// - The number of delegations is bounded.
public struct DelegationWalk: Sendable {
  /// A delegation whose metadata was not accepted.
  public struct Refusal: Equatable, Sendable {
    public let role: ByteString
    public let delegator: ByteString
    public let error: VerificationError
  }

  private let manifest: TrustedManifest
  /// Nil where the walk runs over what is kept, of which nothing is refused for having expired.
  private let now: UTCTime?
  private let limits: VerificationLimits
  private var pending: [Delegation] = []
  private var expanded: Set<ByteString> = []
  private var followed: Set<Delegation.Edge> = []

  /// The delegation that the walk looks at; nil at its end.
  private(set) var delegation: Delegation?
  /// What was refused so far.
  public private(set) var refusals: [Refusal] = []

  /// Begins a walk.
  /// - Parameters:
  ///   - manifest: what a refresh came to trust.
  ///   - now: the time that every expiry is held against; that of the refresh.
  /// - Throws: `tooManyDelegations`.
  public init(over manifest: TrustedManifest, now: UTCTime, limits: VerificationLimits = .init()) throws(VerificationError) {
    try self.init(manifest, now, limits)
  }

  /// Begins a walk over what is kept.
  init(overKept manifest: TrustedManifest, limits: VerificationLimits) throws(VerificationError) { try self.init(manifest, nil, limits) }

  private init(_ manifest: TrustedManifest, _ now: UTCTime?, _ limits: VerificationLimits) throws(VerificationError) {
    self.manifest = manifest
    self.now = now
    self.limits = limits
    try expand(manifest.targets.payload, TopLevelRole.targets.name)
  }

  /// The metadata that is needed next; nil once the walk has ended.
  public var request: MetadataRequest? { delegation?.request(in: manifest, limits) }

  /// Answers the request with what is kept of the role.
  /// - Returns: whether it is what is signed for now; where it is not, the request stays.
  public mutating func offerKept(_ bytes: [UInt8]) -> Bool {
    guard let delegation, let request, bytes.count <= request.byteLimit,
      let metadata = try? delegation.verify(bytes, in: manifest, now: now)
    else { return false }
    return (try? proceed(with: metadata)) != nil
  }

  /// Answers the request with the bytes of the file.
  /// - Returns: what to keep.
  /// - Throws: why the bytes are not trusted; the request stays, to be answered otherwise or skipped.
  public mutating func supply(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
    guard let delegation, let request else { return [] }
    guard bytes.count <= request.byteLimit else { throw .tooLarge(role: request.role.name, byteLimit: request.byteLimit) }
    try proceed(with: delegation.verify(bytes, in: manifest, now: now))
    return [.metadata(request.role, bytes: bytes, root: manifest.root.payload.version)]
  }

  /// Goes on without the role that is asked for, which is noted as refused.
  /// - Throws: `tooManyDelegations`.
  public mutating func skip(for error: VerificationError) throws(VerificationError) {
    guard let delegation else { return }
    refuse(delegation, error)
    try advance()
  }

  /// Goes on from the metadata of the delegation that the walk looks at, which was verified.
  mutating func proceed(with metadata: Trusted<Targets>) throws(VerificationError) {
    guard let delegation else { return }
    var next = self
    try next.expand(metadata.payload, delegation.role.name)
    self = next
  }

  private mutating func expand(_ metadata: Targets, _ name: ByteString) throws(VerificationError) {
    if expanded.insert(name).inserted { pending += Delegation.all(of: metadata, by: name).reversed() }
    try advance()
  }

  private mutating func refuse(_ delegation: Delegation, _ error: VerificationError) {
    refusals.append(Refusal(role: delegation.role.name, delegator: delegation.delegator, error: error))
  }

  private mutating func advance() throws(VerificationError) {
    delegation = nil
    while let next = pending.popLast() {
      guard !followed.contains(next.edge) else { continue }
      guard followed.count < limits.walkedDelegationCount else { throw .tooManyDelegations(limit: limits.walkedDelegationCount) }
      followed.insert(next.edge)
      guard next.isDescribed(in: manifest) else {
        refuse(next, .notInSnapshot(role: next.role.name))
        continue
      }
      delegation = next
      return
    }
  }
}
