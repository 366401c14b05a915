internal import FileIO
package import ManifestVerifier
package import TUFMetadata
package import TrustStore

/// Refreshes a device's trust from several mirrors, in the order in which they were given.
///
/// - Where one fails, in whatever way, the next is asked. What no mirror can answer ends the refresh with the most telling of their errors:
///   what can't be trusted before what can't be reached, and that before what is not there.
/// - The chain of roots ends only where every mirror says that the next root is not available: one that can't be reached may hold it
///   (TUF 1.0.34 §5.3.3).
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
  /// - Returns: what is trusted now, and the roles of which something new was kept.
  package mutating func refresh(
    _ workflow: ClientWorkflow, keepingIn store: inout TrustStore
  ) throws(InstallationError) -> (manifest: TrustedManifest, changed: Set<TopLevelRole>) {
    var workflow = workflow
    var changed: Set<TopLevelRole> = []
    while let request = workflow.request {
      for change in try answer(request, of: &workflow) {
        do { try store.keep(change) } catch { throw .store(error) }
        switch change {
        case .root: changed.insert(.root)
        case .metadata(.topLevel(let role), _, _): changed.insert(role)
        case .metadata(.delegated, _, _), .discardTimestampAndSnapshot: break
        }
      }
    }
    guard let manifest = workflow.manifest else { throw .verification(.neverRefreshed(role: TopLevelRole.timestamp.name)) }
    return (manifest, changed)
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
      for change in try answer(request, of: &search) {
        do { try store.keep(change) } catch { throw .store(error) }
      }
    }
    guard let finding = search.finding else { throw .verification(.notListed(path: path)) }
    return finding.file
  }

  private mutating func answer(
    _ request: MetadataRequest, of workflow: inout some MetadataConsumer
  ) throws(InstallationError) -> [TrustChange] {
    var worst: InstallationError?
    for step in mirrors.indices {
      let index = (current + step) % mirrors.count
      do throws(InstallationError) {
        guard let bytes = try fetch(request, from: mirrors[index]) else { continue }
        // On a copy, so that nothing remains of an answer that is refused.
        var attempt = workflow
        let changes: [TrustChange]
        do { changes = try attempt.supply(bytes) } catch { throw .served(error, by: mirrors[index]) }
        workflow = attempt
        current = index
        return changes
      } catch {
        if error == .cancelled { throw error }
        if error.weight > worst?.weight ?? 0 { worst = error }
      }
    }
    if let worst { throw worst }
    do { return try workflow.supplyNothing() } catch { throw .verification(error) }
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
}

extension ClientWorkflow: MetadataConsumer {
  fileprivate mutating func supplyNothing() throws(VerificationError) -> [TrustChange] { try supplyNotAvailable() }
}

extension TargetSearch: MetadataConsumer {
  fileprivate mutating func supplyNothing() throws(VerificationError) -> [TrustChange] {
    try supplyNotAvailable()
    return []
  }
}

private func onDisk<Result>(_ operation: FileOperation, _ path: String, _ body: () throws(Errno) -> Result) throws(InstallationError)
  -> Result
{
  do { return try FileError.describing(operation, path, body) } catch { throw .file(error) }
}
