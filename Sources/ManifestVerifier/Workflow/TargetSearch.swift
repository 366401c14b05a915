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
    let delegation: Delegation
    /// The roles from the top-level targets to the delegator.
    let chain: [Link]
  }

  private let path: TargetPath
  private let manifest: TrustedManifest
  /// Nil where the search runs over what is kept, of which nothing is refused for having expired.
  private let now: UTCTime?
  private let limits: VerificationLimits
  private var pending: [Visit] = []
  /// The delegated roles that were visited so far.
  private(set) var visited: Set<ByteString> = []
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
    try self.init(path, manifest, now, limits)
  }

  /// Begins a search over what is kept.
  init(forKept path: TargetPath, in manifest: TrustedManifest, limits: VerificationLimits) throws(VerificationError) {
    try self.init(path, manifest, nil, limits)
  }

  private init(
    _ path: TargetPath, _ manifest: TrustedManifest, _ now: UTCTime?, _ limits: VerificationLimits
  ) throws(VerificationError) {
    self.path = path
    self.manifest = manifest
    self.now = now
    self.limits = limits
    try look(in: Link(role: .targets, metadata: manifest.targets), after: [])
  }

  /// The metadata that is needed next; nil once the search has ended.
  public var request: MetadataRequest? {
    current?.delegation.request(in: manifest, limits)
  }

  /// The delegation that the search looks at now; nil once it has ended.
  var delegation: Delegation? { current?.delegation }

  /// The roles on the way to that delegation, from the top-level targets to the delegator.
  var way: [Link] { current?.chain ?? [] }

  /// Answers the request with what was kept of an earlier search.
  /// - Returns: whether it is what is signed for now; where it is not, the request stays.
  public mutating func offerKept(_ bytes: [UInt8]) -> Bool {
    guard let request, bytes.count <= request.byteLimit else { return false }
    // Another version, or not verified by this delegator: it is asked for instead.
    return (try? accept(bytes)) != nil
  }

  /// Answers the request with the bytes of the file.
  /// - Returns: what to keep.
  /// - Throws: why the bytes are not trusted, or why the search can't go on from them; then the request stays, and another mirror may
  ///   answer it.
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

  private mutating func accept(_ bytes: [UInt8]) throws(VerificationError) {
    guard let current else { return }
    try proceed(with: current.delegation.verify(bytes, in: manifest, now: now))
  }

  /// Goes on with the metadata of the delegation that the search looks at, which was verified, or changes nothing: a search that failed
  /// must not look like one that ended.
  mutating func proceed(with metadata: Trusted<Targets>) throws(VerificationError) {
    guard let visit = current else { return }
    var next = self
    next.current = nil
    try next.look(in: Link(role: .delegated(visit.delegation.role.name), metadata: metadata), after: visit.chain)
    self = next
  }

  private mutating func look(in link: Link, after chain: [Link]) throws(VerificationError) {
    let chain = chain + [link]
    if let file = link.metadata.payload[path] {
      finding = Finding(file: file, chain: chain)
      return
    }
    if let delegations = link.metadata.payload.delegations {
      var visits: [Visit] = []
      for role in delegations.roles(trustedWith: path) {
        visits.append(Visit(delegation: Delegation(role: role, keys: delegations.keys, delegator: link.role.name), chain: chain))
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
      let name = visit.delegation.role.name
      guard !visited.contains(name) else { continue }
      guard visited.count < limits.delegationCount else { throw .tooManyDelegations(limit: limits.delegationCount) }
      guard visit.delegation.isDescribed(in: manifest) else { throw .notInSnapshot(role: name) }
      visited.insert(name)
      current = visit
      return
    }
  }
}
