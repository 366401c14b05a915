internal import FileIO
package import ManifestVerifier
package import TUFMetadata
package import TrustStore

/// Refreshes a device's trust from several mirrors, in the order in which they were given.
///
/// - Where one fails, in whatever way, the next is asked. What no mirror can answer ends the refresh with the most telling of their errors:
///   what can't be trusted before what can't be reached, and that before what is not there. The others' are told besides.
/// - The chain of roots ends only where every mirror says that the next root is not available: one that fails may hold it
///   (TUF 1.0.34 §5.3.3). The error names that mirror, which can then be left out.
/// - Where what a timestamp names can't be had from any mirror, or does not fit it, the next mirror's own timestamp is asked for, and what
///   that names. So a mirror that lags, or serves a timestamp and nothing else, hinders none that is whole. What was accepted stays what
///   newer versions are held against: trust goes on from it, and never back.
/// - What one mirror served and the workflow refused is never tried again, and leaves no trace in the state.
package struct MetadataMirrors<Network: Transport> {
  /// What a refresh came to.
  package struct Outcome {
    package let manifest: TrustedManifest
    /// The roles of which something new was kept.
    package let changed: Set<TopLevelRole>
    /// The roles whose kept files were damaged, and are replaced.
    package let replaced: Set<TopLevelRole>
  }

  private let mirrors: [Mirror]
  private let network: Network
  private let tell: (Mirror, InstallationError) -> Void
  /// The mirror that answered last: where another does not answer, that is not waited for at each request.
  private var current = 0
  private var told: Set<String> = []
  /// The refresh as far as it came.
  private var workflow: ClientWorkflow?
  private var changed: Set<TopLevelRole> = []
  /// The mirrors whose own timestamp was not asked for yet.
  private var untried: [Int] = []

  /// - Parameter tell: is told of each mirror that failed where there are several, of each failure once, whatever becomes of the refresh.
  package init(_ mirrors: [Mirror], over network: Network, tell: @escaping (Mirror, InstallationError) -> Void = { _, _ in }) {
    self.mirrors = mirrors
    self.network = network
    self.tell = tell
  }

  /// Runs a refresh to its end.
  /// - Parameter store: gets each change durably before the next request.
  package mutating func refresh(_ workflow: ClientWorkflow, keepingIn store: inout TrustStore) throws(InstallationError) -> Outcome {
    var workflow = workflow
    changed = []
    while let request = workflow.request, request.role == .root { try step(request, &workflow, among: inOrder, &store) }
    untried = inOrder
    return try finish(&workflow, keepingIn: &store)
  }

  /// Goes on to what the next mirror's own timestamp names, where something that the targets of this one delegate can't be had.
  /// - Returns: nil where no mirror has another timestamp that leads on; why is told.
  /// - Throws: what is no mirror's fault.
  package mutating func refreshFurther(keepingIn store: inout TrustStore) throws(InstallationError) -> Outcome? {
    guard var workflow, !untried.isEmpty else { return nil }
    let old = workflow.acceptedTimestamp
    workflow.askForNewerTimestamp()
    do { return try finish(&workflow, failing: old, keepingIn: &store) } catch {
      guard error.isOfMirror else { throw error }
      return nil
    }
  }

  /// Asks for timestamp, snapshot and targets, as long as there is a mirror whose timestamp was not asked for.
  /// - Parameter failed: a timestamp of which something could not be had.
  private mutating func finish(
    _ workflow: inout ClientWorkflow, failing failed: [UInt8]? = nil, keepingIn store: inout TrustStore
  ) throws(InstallationError) -> Outcome {
    var failed = failed
    var worst: InstallationError?
    while true {
      do throws(InstallationError) {
        if let request = workflow.request, request.role == .timestamp {
          defer { untried = Array(untried.drop { $0 != current }.dropFirst()) }
          try step(request, &workflow, among: untried, &store)
        }
        // Another mirror with the same timestamp: all were asked for what it names.
        if workflow.acceptedTimestamp != failed {
          while let request = workflow.request { try step(request, &workflow, among: inOrder, &store) }
          guard let manifest = workflow.manifest else { throw .verification(.neverRefreshed(role: TopLevelRole.timestamp.name)) }
          self.workflow = workflow
          return Outcome(manifest: manifest, changed: changed, replaced: workflow.replaced)
        }
      } catch {
        guard error.isOfMirror else { throw error }
        if workflow.acceptedTimestamp == nil { untried = [] }
        if error.weight > worst?.weight ?? 0 { worst = error }
      }
      failed = workflow.acceptedTimestamp ?? failed
      guard !untried.isEmpty else { throw worst ?? .verification(.unavailable(role: "timestamp", urlPath: "timestamp.json")) }
      workflow.askForNewerTimestamp()
    }
  }

  /// The mirrors, that which answered last first.
  private var inOrder: [Int] { mirrors.indices.map { (current + $0) % mirrors.count } }

  /// Has one request answered, and keeps what comes of it.
  private mutating func step(
    _ request: MetadataRequest, _ workflow: inout ClientWorkflow, among asked: [Int], _ store: inout TrustStore
  ) throws(InstallationError) {
    for change in try answer(request, consumer: &workflow, among: asked) {
      do { try store.keep(change) } catch { throw .store(error) }
      switch change {
      case .root: changed.insert(.root)
      case .metadata(.topLevel(let role), _, _): changed.insert(role)
      case .metadata(.delegated, _, _), .supersedeTimestampAndSnapshot, .refreshed: break
      }
    }
  }

  /// Finds a target, through as many delegated roles as it takes.
  /// - Parameters:
  ///   - manifest: what the refresh came to trust.
  ///   - now: the time of the refresh.
  ///   - store: what it keeps of a role is used where it is still what is signed; what is fetched is kept.
  /// - Throws: `verification` with `notListed` where no role that may lists it.
  package mutating func find(
    _ path: TargetPath, in manifest: TrustedManifest, now: UTCTime, keepingIn store: inout TrustStore
  ) throws(InstallationError) -> TargetFile {
    var search: TargetSearch
    do { search = try TargetSearch(for: path, in: manifest, now: now) } catch { throw .verification(error) }
    while let request = search.request {
      // A file that can't be read is fetched anew.
      if let kept = (try? store.kept(request.role.name)) ?? nil, search.offerKept(kept) { continue }
      for change in try answer(request, consumer: &search) {
        do { try store.keep(change) } catch { throw .store(error) }
      }
    }
    guard let finding = search.finding else { throw .verification(.notListed(path: path)) }
    return finding.file
  }

  /// Answers one request of a walk over the delegated roles.
  /// - Throws: a `VerificationError` for what is this role's fault, `InstallationError` for what is not: no connection, say.
  package mutating func answer(_ request: MetadataRequest, of walk: inout DelegationWalk) throws -> [TrustChange] {
    do throws(InstallationError) { return try answer(request, consumer: &walk) } catch {
      switch error {
      case .served(let error, _), .verification(let error): throw error
      case .transport(.connection): throw error
      case .transport: throw VerificationError.unavailable(role: request.role.name, urlPath: request.urlPath)
      default: throw error
      }
    }
  }

  private mutating func answer(
    _ request: MetadataRequest, consumer workflow: inout some MetadataConsumer, among asked: [Int]? = nil
  ) throws(InstallationError) -> [TrustChange] {
    var failures: [(mirror: Mirror, error: InstallationError)] = []
    var isDenied = false
    for index in asked ?? inOrder {
      let mirror = mirrors[index]
      do throws(InstallationError) {
        guard let bytes = try fetch(request, from: mirror) else {
          isDenied = true
          // Of the next root it is how the chain ends.
          guard request.role != .root else { continue }
          throw .served(.unavailable(role: request.role.name, urlPath: request.urlPath), by: mirror)
        }
        // On a copy, so that nothing remains of an answer that is refused.
        var attempt = workflow
        let changes: [TrustChange]
        do { changes = try attempt.supply(bytes) } catch { throw .served(error, by: mirror) }
        workflow = attempt
        current = index
        return changes
      } catch {
        if error == .cancelled { throw error }
        workflow.supplyFailure()
        failures.append((mirror, error))
        tellOnce(mirror, error)
      }
    }
    // The first of the heaviest.
    let worst = failures.reduce(nil) { worst, failure in failure.error.weight > worst?.error.weight ?? 0 ? failure : worst } as Failed?
    if let worst, !(isDenied && request.role == .root) { throw worst.error }
    do { return try workflow.supplyNothing() } catch {
      if case .undecidedRoot = error, let worst { throw .undecidedRoot(urlPath: request.urlPath, failed: worst.mirror, worst.error) }
      throw .verification(error)
    }
  }

  private typealias Failed = (mirror: Mirror, error: InstallationError)

  /// Tells of a mirror that failed, where that is not all that there is to tell.
  private mutating func tellOnce(_ mirror: Mirror, _ error: InstallationError) {
    guard mirrors.count > 1, told.insert("\(mirror) \(error)").inserted else { return }
    tell(mirror, error)
  }

  /// - Returns: nil where the mirror says that there is no such file.
  private func fetch(_ request: MetadataRequest, from mirror: Mirror) throws(InstallationError) -> [UInt8]? {
    switch mirror {
    case .folder(let path):
      do {
        if let bytes = try MetadataFolder(path).read(request) { return bytes }
      } catch { throw .served(error, by: mirror) }
      // A folder that is not there, not mounted say, has no answer to give.
      let status = try at(.open, path) { () throws(Errno) in try FileSystem.status(of: path, followingLinks: true) }
      guard status.kind == .directory else { throw .file(.system(.open, path: path, .notDirectory)) }
      return nil
    case .server(let url):
      var bytes: [UInt8] = []
      do throws(InstallationError) {
        try network.get(url.appending(encoded: request.urlPath), byteLimit: Int64(request.byteLimit)) { piece in
          // Copied as long as the piece is lent.
          unsafe piece.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        }
      } catch {
        switch error {
        case .transport(.notAvailable): return nil
        case .transport(.tooLong): throw .served(.tooLarge(role: request.role.name, byteLimit: request.byteLimit), by: mirror)
        default: throw error
        }
      }
      return bytes
    }
  }
}

/// What asks for metadata and judges it, apart from where it comes from.
private protocol MetadataConsumer {
  mutating func supply(_ bytes: [UInt8]) throws(VerificationError) -> [TrustChange]
  mutating func supplyNothing() throws(VerificationError) -> [TrustChange]
  mutating func supplyFailure()
}

extension ClientWorkflow: MetadataConsumer {
  fileprivate mutating func supplyNothing() throws(VerificationError) -> [TrustChange] { try supplyNotAvailable() }
}

extension TargetSearch: MetadataConsumer {
  fileprivate mutating func supplyNothing() throws(VerificationError) -> [TrustChange] {
    try supplyNotAvailable()
    return []
  }

  fileprivate mutating func supplyFailure() {}
}

extension DelegationWalk: MetadataConsumer {
  fileprivate mutating func supplyNothing() throws(VerificationError) -> [TrustChange] {
    guard let request else { return [] }
    throw .unavailable(role: request.role.name, urlPath: request.urlPath)
  }

  fileprivate mutating func supplyFailure() {}
}
