public import TUFMetadata

/// The search for one target through the delegations, as TUF 1.0.34 §5.6.7 describes it: a state machine without input, output or
/// clock, like `ClientWorkflow`, whose manifest it begins at. The rules:
/// - Roles are visited in pre-order, in the order in which their delegators list them, and only where **every** role on the way is
///   trusted with the path.
/// - A terminating delegation that matches ends the whole search after it and its descendants were visited, not only its branch.
/// - A role's metadata is held against the keys and the threshold of the delegator that the search came through, so that one role
///   reached through two delegators has to satisfy each.
/// - It has the length, the hashes and the version that the snapshot states, before it is parsed where that can be, and has not
///   expired (§5.6.2–5.6.6).
/// - A role is visited once in a search (§5.6.7.1), and a search visits a bounded number of roles.
public struct TargetSearch: Sendable {
  /// A role that the search came through.
  public struct Link: Sendable {
    public let role: MetadataRole
    public let metadata: Trusted<Targets>
  }

  /// What was found.
  public struct Finding: Sendable {
    public let file: TargetFile
    /// The roles from the top-level targets to the one that lists the file.
    public let chain: [Link]
  }

  private struct Visit: Sendable {
    let role: DelegatedRole
    let keys: [KeyID: Key]
    /// The roles from the top-level targets to the delegator.
    let chain: [Link]
  }

  private let path: TargetPath
  private let manifest: TrustedManifest
  private let now: UTCTime
  private let limits: VerificationLimits
  private var pending: [Visit] = []
  private var visited: Set<ByteString> = []
  private var current: Visit?

  /// Where the file was found; nil as long as the search goes on, and where nobody lists it.
  public private(set) var finding: Finding?

  /// Begins a search.
  /// - Parameters:
  ///   - path: the target.
  ///   - manifest: what a refresh came to trust.
  ///   - now: the time that every expiry is held against; that of the refresh.
  /// - Throws: `notInSnapshot` or `tooManyDelegations`.
  public init(
    for path: TargetPath, in manifest: TrustedManifest, now: UTCTime, limits: VerificationLimits = .init()
  ) throws(VerificationError) {
    self.path = path
    self.manifest = manifest
    self.now = now
    self.limits = limits
    try look(in: Link(role: .targets, metadata: manifest.targets), after: [])
  }

  /// The metadata that is needed next; nil once the search has ended.
  public var request: MetadataRequest? {
    guard let current, let file = described(current.role) else { return nil }
    let limit = min(file.byteCount ?? Int64(limits.targetsByteCount), Int64(limits.metadataByteCount))
    let isConsistent = manifest.root.payload.consistentSnapshot
    return MetadataRequest(role: .delegated(current.role.name), version: isConsistent ? file.version : nil, byteLimit: Int(limit))
  }

  /// Answers the request with what was kept of an earlier search.
  /// - Returns: whether it is what is signed for now; where it is not, the request stays.
  public mutating func offerKept(_ bytes: [UInt8]) -> Bool {
    var attempt = self
    // Another version, or no longer verified by this delegator: it is asked for instead.
    guard (try? attempt.accept(bytes)) != nil else { return false }
    self = attempt
    return true
  }

  /// Answers the request with the bytes of the file.
  /// - Returns: what to keep.
  /// - Throws: why the bytes are not trusted.
  public mutating func supply(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange] {
    guard let request else { return [] }
    guard bytes.count <= request.byteLimit else { throw .tooLarge(role: request.role.name, byteLimit: request.byteLimit) }
    try accept(bytes)
    return [.metadata(request.role, bytes: bytes, root: manifest.root.payload.version)]
  }

  /// Answers the request: the file is not there, as every mirror says.
  /// - Throws: `unavailable`: a role that the snapshot lists has to be there.
  public func supplyNotAvailable() throws(VerificationError) {
    guard let request else { return }
    throw .unavailable(role: request.role.name, urlPath: request.urlPath)
  }

  private func described(_ role: DelegatedRole) -> MetadataFile? {
    manifest.snapshot.payload.files[MetadataRole.delegated(role.name).snapshotName]
  }

  private mutating func accept(_ bytes: [UInt8]) throws(VerificationError) {
    guard let visit = current, let file = described(visit.role) else { return }
    let name = visit.role.name
    try file.requireMatch(bytes, role: name)
    let delegator = visit.chain.last?.role.name ?? TopLevelRole.targets.name
    let metadata = try Trusted<Targets>(
      verifying: UnverifiedMetadata(role: name, parsing: bytes), role: name, keys: visit.role.keys, known: visit.keys, delegator: delegator)
    guard metadata.payload.version == file.version else {
      throw .wrongVersion(role: name, expected: file.version, actual: metadata.payload.version)
    }
    guard now < metadata.payload.expires else { throw .expired(role: name, since: metadata.payload.expires, now: now) }
    current = nil
    try look(in: Link(role: .delegated(name), metadata: metadata), after: visit.chain)
  }

  private mutating func look(in link: Link, after chain: [Link]) throws(VerificationError) {
    let chain = chain + [link]
    if let file = link.metadata.payload[path] {
      finding = Finding(file: file, chain: chain)
      return
    }
    if let delegations = link.metadata.payload.delegations {
      var visits: [Visit] = []
      for role in delegations.roles where role.isTrusted(with: path) {
        visits.append(Visit(role: role, keys: delegations.keys, chain: chain))
        guard !role.isTerminating else {
          // Whatever is still to be visited elsewhere is not.
          pending.removeAll()
          break
        }
      }
      pending += visits.reversed()
    }
    try advance()
  }

  private mutating func advance() throws(VerificationError) {
    while let visit = pending.popLast() {
      guard !visited.contains(visit.role.name) else { continue }
      guard visited.count < limits.delegationCount else { throw .tooManyDelegations(limit: limits.delegationCount) }
      guard described(visit.role) != nil else { throw .notInSnapshot(role: visit.role.name) }
      visited.insert(visit.role.name)
      current = visit
      return
    }
  }
}
