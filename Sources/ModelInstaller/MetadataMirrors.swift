internal import FileIO
package import ManifestVerifier
package import TUFMetadata
package import TrustStore

/// Refreshes a device's trust from several mirrors, in the order in which they were given.
///
/// - Where one fails, in whatever way, the next is asked. What no mirror can answer ends the refresh with the most telling of their errors:
///   what can't be trusted before what can't be reached, and that before what is not there.
/// - The chain of roots ends only where every mirror says that the next root is not available: one that fails may hold it
///   (TUF 1.0.34 §5.3.3). The error names that mirror, which can then be left out.
/// - What one mirror served and the workflow refused is never tried again, and leaves no trace in the state.
package struct MetadataMirrors<Network: Transport> {
  private let mirrors: [Mirror]
  private let network: Network
  /// The mirror that answered last: where another does not answer, that is not waited for at each request.
  private var current = 0

  package init(_ mirrors: [Mirror], over network: Network) {
    self.mirrors = mirrors
    self.network = network
  }

  /// Runs a refresh to its end.
  /// - Parameter store: gets each change durably before the next request.
  /// - Returns: what is trusted now, the roles of which something new was kept, and those whose kept files were damaged and are replaced.
  package mutating func refresh(
    _ workflow: ClientWorkflow, keepingIn store: inout TrustStore
  ) throws(InstallationError) -> (manifest: TrustedManifest, changed: Set<TopLevelRole>, replaced: Set<TopLevelRole>) {
    var workflow = workflow
    var changed: Set<TopLevelRole> = []
    while let request = workflow.request {
      for change in try answer(request, consumer: &workflow) {
        do { try store.keep(change) } catch { throw .store(error) }
        switch change {
        case .root: changed.insert(.root)
        case .metadata(.topLevel(let role), _, _): changed.insert(role)
        case .metadata(.delegated, _, _), .discardTimestampAndSnapshot, .refreshed: break
        }
      }
    }
    guard let manifest = workflow.manifest else { throw .verification(.neverRefreshed(role: TopLevelRole.timestamp.name)) }
    return (manifest, changed, workflow.replaced)
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
      let kept: [UInt8]?
      do { kept = try store.delegatedMetadata(request.role.name) } catch { throw .store(error) }
      if let kept, search.offerKept(kept) { continue }
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
    _ request: MetadataRequest, consumer workflow: inout some MetadataConsumer
  ) throws(InstallationError) -> [TrustChange] {
    var worst: InstallationError?
    var failed: Mirror?
    var isDenied = false
    for step in mirrors.indices {
      let index = (current + step) % mirrors.count
      do throws(InstallationError) {
        guard let bytes = try fetch(request, from: mirrors[index]) else {
          isDenied = true
          continue
        }
        // On a copy, so that nothing remains of an answer that is refused.
        var attempt = workflow
        let changes: [TrustChange]
        do { changes = try attempt.supply(bytes) } catch { throw .served(error, by: mirrors[index]) }
        workflow = attempt
        current = index
        return changes
      } catch {
        if error == .cancelled { throw error }
        workflow.supplyFailure()
        guard error.weight > worst?.weight ?? 0 else { continue }
        (worst, failed) = (error, mirrors[index])
      }
    }
    // What was refused is told before what is not there.
    if let worst, !(isDenied && request.role == .root) { throw worst }
    do { return try workflow.supplyNothing() } catch {
      if case .undecidedRoot = error, let worst, let failed { throw .undecidedRoot(urlPath: request.urlPath, failed: failed, worst) }
      throw .verification(error)
    }
  }

  /// - Returns: nil where the mirror says that there is no such file.
  private func fetch(_ request: MetadataRequest, from mirror: Mirror) throws(InstallationError) -> [UInt8]? {
    switch mirror {
    case .folder(let path):
      do {
        if let bytes = try MetadataFolder(path).read(request) { return bytes }
      } catch { throw .served(error, by: mirror) }
      // A folder that is not there, not mounted say, has no answer to give.
      let status = try onDisk(.open, path) { () throws(Errno) in try FileSystem.status(of: path, followingLinks: true) }
      guard status.kind == .directory else { throw .file(.system(.open, path: path, .notDirectory)) }
      return nil
    case .server(let url):
      var bytes: [UInt8] = []
      do throws(InstallationError) {
        try network.get(url.appending(encoded: request.urlPath), byteLimit: Int64(request.byteLimit)) { piece in
          for index in piece.indices { bytes.append(piece[index]) }
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

private func onDisk<Result>(_ operation: FileOperation, _ path: String, _ body: () throws(Errno) -> Result) throws(InstallationError)
  -> Result
{
  do { return try FileError.describing(operation, path, body) } catch { throw .file(error) }
}
