public import FileIO
public import TUFMetadata

/// Why a file is trusted, link by link, from the root that the app shipped to the file; or which link is the first that does not hold.
///
/// It is made from what a device has kept, damaged or expired as that may be, and never fails itself. Every verdict is one of the code that
/// decides in earnest. Expiry is no failure, for it never stops the use of what is installed: each link says when it expires.
public struct TrustExplanation: Sendable {
  public enum Verdict: Equatable, Sendable {
    case holds
    case fails(VerificationError)
    /// A link before it fails, so that nothing can be said; what the link tells of itself is not verified.
    case notReached
  }

  /// Whose keys have signed metadata, as one who may say so lists them.
  public struct Endorsement: Equatable, Sendable {
    /// Who lists the keys: `root version 2`, `targets`, the name of a delegated role.
    public let delegator: ByteString
    public let keys: RoleKeys
    /// The keys whose signatures counted.
    public let signers: [KeyID]
  }

  /// The metadata of one role.
  public struct Link: Equatable, Sendable {
    public let role: MetadataRole
    /// Nil where nothing readable is kept.
    public let version: Version?
    public let expires: UTCTime?
    /// Two for a root that follows another, one for any other metadata; none where it can't be read or was not reached.
    public let endorsements: [Endorsement]
    public let verdict: Verdict
  }

  /// The file that is asked about.
  public let path: TargetPath
  /// From the root that was shipped to the role that lists the file.
  public private(set) var links: [Link] = []
  /// What the last link says of the file; nil where none lists it or one fails.
  public private(set) var listed: TargetFile?
  /// Whether the local file is what is listed.
  public private(set) var file = Verdict.notReached
  private let faults: [TopLevelRole: VerificationError]
  /// The delegated roles that the search came by; empty where one of them could not be verified.
  public private(set) var searched: [ByteString] = []
  /// What the local file is, where that was needed to tell, or why it can't be read; nil for a file that is as listed.
  public private(set) var found: Result<FileMeasurement, FileError>?

  /// The error of the first link that fails, the file being the last.
  public var failure: VerificationError? {
    for verdict in links.map(\.verdict) + [file] {
      if case .fails(let error) = verdict { return error }
    }
    return nil
  }

  /// Whether everything holds; false as long as the file itself was not examined.
  public var isTrusted: Bool { failure == nil && file == .holds }

  /// Explains the metadata, up to what it says of the file; `examine` goes on with the file itself.
  /// - Parameters:
  ///   - anchor: the root file that the app shipped; nil where it can't be read.
  ///   - stored: what earlier refreshes have kept.
  ///   - faults: why a role's kept file can't be read, for those that can't.
  ///   - read: reads what is kept of a delegated role.
  public init(
    of path: TargetPath, anchor: [UInt8]?, stored: StoredMetadata, faults: [TopLevelRole: VerificationError] = [:],
    limits: VerificationLimits = .init(), _ read: KeptManifest.Reader
  ) {
    self.path = path
    self.faults = faults
    explain(anchor, stored, limits, read)
  }

  private mutating func explain(_ anchor: [UInt8]?, _ stored: StoredMetadata, _ limits: VerificationLimits, _ read: KeptManifest.Reader) {
    guard let chain = walkRoots(anchor, stored) else { return addUnreached(of: stored, after: .root) }
    guard let timestamp = add(Timestamp.self, stored.timestamp, chain, stored, nil) else {
      return addUnreached(of: stored, after: .timestamp)
    }
    guard let snapshot = add(Snapshot.self, stored.snapshot, chain, stored, timestamp.payload.snapshot) else {
      return addUnreached(of: stored, after: .snapshot)
    }
    guard let targets = add(Targets.self, stored.targets, chain, stored, snapshot.payload.targets) else { return }
    let manifest = TrustedManifest(root: chain.newest, timestamp: timestamp, snapshot: snapshot, targets: targets)
    search(KeptManifest(manifest, mayLag: stored.lag != .none, limits: limits), read)
  }

  // MARK: Roots

  private mutating func walkRoots(_ anchor: [UInt8]?, _ stored: StoredMetadata) -> RootChain? {
    guard let anchor else {
      add(.root, nil, .fails(faults[.root] ?? .neverRefreshed(role: TopLevelRole.root.name)))
      return nil
    }
    var newest: Trusted<Root>
    do { newest = try Trusted(selfSigned: anchor) } catch {
      add(.root, Self.claim(Root.self, anchor), .fails(error))
      return nil
    }
    add(.root, newest.payload, [Endorsement(by: "itself", newest)])
    for bytes in stored.roots {
      do throws(VerificationError) {
        let metadata = try UnverifiedMetadata<Root>(role: TopLevelRole.root.name, parsing: bytes)
        guard metadata.payload.version == newest.payload.version.next else { continue }
        let next = try newest.successor(bytes)
        let delegator = ByteString("root version \(newest.payload.version)")
        let byOlder = try Trusted(
          verifying: metadata, role: "root", keys: newest.payload[.root], known: newest.payload.keys, delegator: delegator)
        add(.root, next.payload, [Endorsement(by: delegator, byOlder), Endorsement(by: "itself", next)])
        newest = next
      } catch {
        add(.root, Self.claim(Root.self, bytes), .fails(.damagedState(role: "root", error)))
        return nil
      }
    }
    do throws(VerificationError) {
      if let fault = faults[.root] { throw fault }
      let chain = try RootChain(anchor: anchor, stored: stored)
      try chain.requireComplete(stored)
      return chain
    } catch {
      add(.root, nil, .fails(error))
      return nil
    }
  }

  // MARK: Roles

  private mutating func add<Payload: ReadableRolePayload>(
    _: Payload.Type, _ bytes: [UInt8]?, _ chain: RootChain, _ stored: StoredMetadata, _ expected: MetadataFile?
  ) -> Trusted<Payload>? {
    do throws(VerificationError) {
      if let fault = faults[Payload.role] { throw fault }
      let trusted = try TrustedManifest.verify(Payload.self, bytes, by: chain, stored, expected: expected)
      add(
        .topLevel(Payload.role), trusted.metadata.payload, [Endorsement(by: ByteString("root version \(trusted.root)"), trusted.metadata)])
      return trusted.metadata
    } catch {
      let root = chain.newest.payload
      let endorsement = Endorsement(
        of: Payload.self, bytes, by: ByteString("root version \(root.version)"), keys: root[Payload.role], known: root.keys)
      add(.topLevel(Payload.role), Self.claim(Payload.self, bytes), .fails(error), endorsement)
      return nil
    }
  }

  /// The roles after one that fails, as they stand there.
  private mutating func addUnreached(of stored: StoredMetadata, after role: TopLevelRole) {
    if role == .root { add(.timestamp, Self.claim(Timestamp.self, stored.timestamp), .notReached) }
    if role != .snapshot { add(.snapshot, Self.claim(Snapshot.self, stored.snapshot), .notReached) }
    add(.targets, Self.claim(Targets.self, stored.targets), .notReached)
  }

  private typealias Claim = (version: Version, expires: UTCTime)

  /// What metadata says of itself, verified or not.
  private static func claim<Payload: ReadableRolePayload>(_: Payload.Type, _ bytes: [UInt8]?) -> Claim? {
    // What can't be read says nothing.
    bytes.flatMap { try? UnverifiedMetadata<Payload>(parsing: $0).payload }.map { ($0.version, $0.expires) }
  }

  private mutating func add(_ role: MetadataRole, _ claim: Claim?, _ verdict: Verdict, _ endorsement: Endorsement? = nil) {
    links.append(
      Link(role: role, version: claim?.version, expires: claim?.expires, endorsements: endorsement.map { [$0] } ?? [], verdict: verdict))
  }

  private mutating func add(_ role: MetadataRole, _ payload: some RolePayload, _ endorsements: [Endorsement]) {
    links.append(Link(role: role, version: payload.version, expires: payload.expires, endorsements: endorsements, verdict: .holds))
  }

  // MARK: Delegations and the file

  private mutating func search(_ kept: KeptManifest, _ read: KeptManifest.Reader) {
    var kept = kept
    do throws(KeptManifest.BrokenSearch) {
      let lookup = try kept.search(path, read)
      let finding = lookup.finding
      searched = lookup.visited.sorted()
      add(finding?.chain ?? [])
      listed = finding?.file
      if finding == nil { file = .fails(.notListed(path: path)) }
    } catch {
      add(error.way)
      if let delegation = error.delegation {
        let role = delegation.role.name
        // A file that can't be read says nothing.
        let bytes = (try? read(role)) ?? nil
        let endorsement = Endorsement(
          of: Targets.self, bytes, by: delegation.delegator, keys: delegation.role.keys, known: delegation.keys)
        add(.delegated(role), Self.claim(Targets.self, bytes), .fails(error.error), endorsement)
      } else if case .notInSnapshot(let role) = error.error {
        add(.delegated(role), nil, .fails(error.error))
      } else {
        file = .fails(error.error)
      }
    }
  }

  private mutating func add(_ chain: [TargetSearch.Link]) {
    for (delegator, link) in zip(chain, chain.dropFirst()) {
      add(link.role, link.metadata.payload, [Endorsement(by: delegator.role.name, link.metadata)])
    }
  }

  /// Holds a local file against what is listed, all its digests; where nothing is, or it differs, measures it.
  /// - Parameter localPath: where it lies.
  public mutating func examine(_ localPath: String) {
    examine(localPath) { () throws(FileError) in try openRegularFile(localPath, followingLinks: true) }
  }

  /// The same of a file that the caller opens.
  /// - Parameter localPath: for messages.
  package mutating func examine(_ localPath: String, opening open: () throws(FileError) -> FileDescriptor) {
    do throws(FileError) {
      if let listed {
        var verifier = FileVerifier(method: .every)
        do throws(VerificationError) {
          _ = try verifier.verify(try Self.open(open), path: localPath, against: listed)
          file = .holds
          return
        } catch { file = .fails(error) }
      }
      found = .success(try FileMeasurement(of: try open(), path: localPath))
    } catch { found = .failure(error) }
  }

  private static func open(_ open: () throws(FileError) -> FileDescriptor) throws(VerificationError) -> FileDescriptor {
    do { return try open() } catch { throw .file(error) }
  }
}

extension TrustExplanation.Endorsement {
  fileprivate init<Payload>(by delegator: ByteString, _ trusted: Trusted<Payload>) {
    self.init(delegator: delegator, keys: trusted.keys, signers: trusted.signers)
  }

  /// Who has signed metadata that fails; nil where it can't be read.
  fileprivate init?<Payload: ReadableRolePayload>(
    of _: Payload.Type, _ bytes: [UInt8]?, by delegator: ByteString, keys: RoleKeys, known: [KeyID: Key]
  ) {
    guard let metadata = bytes.flatMap({ try? UnverifiedMetadata<Payload>(parsing: $0) }) else { return nil }
    self.init(delegator: delegator, keys: keys, signers: metadata.document.signers(among: keys, known: known))
  }
}
