public import TUFMetadata

/// The whole of what a device trusts, from what it has kept: the manifest and the delegated roles, each verified by the delegator that it is
/// reached through when it is first needed. A target that stands in delegated metadata counts only where a search comes to it there.
///
/// As with the four roles, what has expired or is older than the snapshot says is used; `expired(at:visiting:)` tells it.
public struct KeptManifest: Sendable {
  /// Reads what is kept of a delegated role; nil where nothing is.
  public typealias Reader = (_ role: ByteString) throws(VerificationError) -> [UInt8]?

  /// What was found of a path.
  public struct Lookup: Sendable {
    /// Where the file is listed; nil where no role lists it.
    public let finding: TargetSearch.Finding?
    /// The delegated roles that the search came by.
    public let visited: Set<ByteString>
  }

  /// Where a search broke off, and why.
  struct BrokenSearch: Error {
    let error: VerificationError
    /// The roles from the top-level targets to the last one that was verified.
    let way: [TargetSearch.Link]
    /// The delegation that failed; nil where the search itself did.
    let delegation: Delegation?
  }

  /// The four top-level roles.
  public let manifest: TrustedManifest
  private let mayLag: Bool
  let limits: VerificationLimits
  private var verified: [Delegation.Edge: Result<Trusted<Targets>, VerificationError>] = [:]
  /// The delegated roles in the order of the walk, once all were read.
  private var walked: [(name: ByteString, metadata: Trusted<Targets>)] = []
  /// The delegations that can't be used, once all were read.
  public private(set) var refusals: [DelegationWalk.Refusal] = []

  /// Verifies the four top-level roles, as `TrustedManifest` does.
  public init(anchor: [UInt8], stored: StoredMetadata, limits: VerificationLimits = .init()) throws(VerificationError) {
    self.init(try TrustedManifest(anchor: anchor, stored: stored), mayLag: stored.lag != .none, limits: limits)
  }

  init(_ manifest: TrustedManifest, mayLag: Bool, limits: VerificationLimits) {
    self.manifest = manifest
    self.mayLag = mayLag
    self.limits = limits
  }

  /// Reads and verifies every delegated role that can be reached. What can't be trusted stands in `refusals`.
  /// - Throws: `tooManyDelegations`.
  public mutating func readAll(_ read: Reader) throws(VerificationError) {
    walked = []
    var seen: Set<ByteString> = []
    var walk = try DelegationWalk(overKept: manifest, limits: limits)
    while let delegation = walk.delegation {
      switch verify(delegation, read) {
      case .success(let metadata):
        if seen.insert(delegation.role.name).inserted { walked.append((delegation.role.name, metadata)) }
        try walk.proceed(with: metadata)
      case .failure(let error): try walk.skip(for: error)
      }
    }
    refusals = walk.refusals
  }

  /// Searches for a file.
  /// - Parameter read: not needed once all was read.
  /// - Throws: why a role on the way can't be trusted, or `tooManyDelegations`.
  public mutating func find(_ path: TargetPath, _ read: Reader = { _ in nil }) throws(VerificationError) -> Lookup {
    do { return try search(path, read) } catch { throw error.error }
  }

  mutating func search(_ path: TargetPath, _ read: Reader) throws(BrokenSearch) -> Lookup {
    var search: TargetSearch
    do { search = try TargetSearch(forKept: path, in: manifest, limits: limits) } catch {
      throw BrokenSearch(error: error, way: [.init(role: .targets, metadata: manifest.targets)], delegation: nil)
    }
    while let delegation = search.delegation {
      switch verify(delegation, read) {
      case .failure(let error): throw BrokenSearch(error: error, way: search.way, delegation: delegation)
      case .success(let metadata):
        do throws(VerificationError) { try search.proceed(with: metadata) } catch {
          let link = TargetSearch.Link(role: .delegated(delegation.role.name), metadata: metadata)
          throw BrokenSearch(error: error, way: search.way + [link], delegation: nil)
        }
      }
    }
    return Lookup(finding: search.finding, visited: search.visited)
  }

  private mutating func verify(_ delegation: Delegation, _ read: Reader) -> Result<Trusted<Targets>, VerificationError> {
    if let known = verified[delegation.edge] { return known }
    let result: Result<Trusted<Targets>, VerificationError>
    do throws(VerificationError) {
      result = .success(try delegation.verifyKept(read(delegation.role.name), in: manifest, mayLag: mayLag))
    } catch {
      result = .failure(error)
    }
    verified[delegation.edge] = result
    return result
  }

  /// Whose each file is that delegated roles list, once all was read: the searches for all of them in one walk.
  public func delegatedFiles() -> DelegatedFiles { DelegatedFiles(of: self, listedBy: walked.map(\.metadata.payload)) }

  /// What is known of a delegation, once all was read.
  func known(_ delegation: Delegation) -> Result<Trusted<Targets>, VerificationError>? { verified[delegation.edge] }

  /// The number of files that delegated roles list, those that no search comes to included.
  public var delegatedCount: Int { walked.reduce(0) { $0 &+ $1.metadata.payload.count } }

  /// The roles whose metadata has expired at a time, and since when: the four, and of the delegated ones those that were visited.
  /// - Parameter visited: nil for all that were read.
  public func expired(at now: UTCTime, visiting visited: Set<ByteString>?) -> [(role: MetadataRole, since: UTCTime)] {
    var expired: [(role: MetadataRole, since: UTCTime)] = manifest.expired(at: now).map { (.topLevel($0.role), $0.since) }
    var told: Set<ByteString> = []
    for (edge, result) in verified.sorted(by: { $0.key.role < $1.key.role }) where visited?.contains(edge.role) ?? true {
      guard case .success(let metadata) = result, metadata.payload.expires <= now, told.insert(edge.role).inserted else { continue }
      expired.append((.delegated(edge.role), metadata.payload.expires))
    }
    return expired
  }
}
