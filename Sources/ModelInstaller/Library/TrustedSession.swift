internal import ManifestVerifier
internal import ModelCatalog
internal import TUFMetadata
internal import TrustStore

/// What a library's settings lead to: the device's trust, refreshed once, and what is then signed of a model.
struct TrustedSession {
  let settings: LibrarySettings
  let context: DownloadContext

  /// Refreshes, and looks a request up in the one targets version that it came to.
  func lookUp(_ request: ModelRequest, in store: ModelStore?) throws(InstallationError) -> ModelLookup.Outcome? {
    let outcomes = try lookUpEach([request], in: store)
    if let error = outcomes.error { throw error }
    return outcomes.found.first
  }

  private func lookUpEach(_ requests: [ModelRequest], in store: ModelStore?) throws(InstallationError) -> ModelLookup.Outcomes {
    context.report(.state(.refreshing))
    let now = try time()
    do { _ = try TrustStore.initialise(settings.state, root: settings.root) } catch {
      // Begun with the root of an older release of the app: the chain is walked from this release's all the same.
      guard case .alreadyInitialised = error else { throw .store(error) }
    }
    let network = AnyTransport(try context.makeTransport())
    var mirrors = MetadataMirrors(settings.metadata, over: network) { mirror, error in
      context.report(.warning("the metadata mirror \(mirror) did not bring what was asked for: \(error.reason)"))
    }
    var trust = try open()
    let stored: StoredMetadata
    do { stored = try trust.metadata() } catch { throw .store(error) }
    let workflow: ClientWorkflow
    do { workflow = try ClientWorkflow(anchor: settings.root, stored: stored, now: now) } catch { throw .verification(error) }
    var manifest = try mirrors.refresh(workflow, keepingIn: &trust).manifest
    while true {
      var outcomes = ModelLookup.Outcomes()
      for request in requests {
        try outcomes.add(request) { () throws(InstallationError) in
          try ModelLookup.run(
            request, for: settings.device, in: store, mirrors: settings.targets,
            consistentSnapshot: manifest.root.payload.consistentSnapshot, context, over: network
          ) { path throws(InstallationError) in try mirrors.find(path, in: manifest, now: now, keepingIn: &trust) }
        }
      }
      guard !outcomes.failed.isEmpty, let further = try mirrors.refreshFurther(keepingIn: &trust) else { return outcomes }
      manifest = further.manifest
    }
  }

  /// As above, for versions that are installed. Where no newer metadata can be had the record tells what was signed of them.
  func lookUpForRepair(_ requests: [ModelRequest], in store: ModelStore) throws(InstallationError) -> ModelLookup.Outcomes {
    var outcomes: ModelLookup.Outcomes
    do throws(InstallationError) { outcomes = try lookUpEach(requests, in: store) } catch {
      guard error.saysNothingOfInstalled else { throw error }
      outcomes = ModelLookup.Outcomes(failed: requests, error)
    }
    guard !outcomes.failed.isEmpty else { return outcomes }
    let consistentSnapshot = keptTrust?.consistentSnapshot ?? true
    try outcomes.useRecords(of: requests, context) { request throws(InstallationError) in
      try ModelLookup(recorded: request, in: store, mirrors: settings.targets, consistentSnapshot: consistentSnapshot, context)
    }
    return outcomes
  }

  /// What was trusted last; nil where that can't be read.
  var keptTrust: KeptTrust? { try? KeptTrust(settings.state, anchor: settings.root) }

  private func open() throws(InstallationError) -> TrustStore {
    do { return try TrustStore(settings.state) } catch { throw .store(error) }
  }

  /// What the kept manifest says of a file, without asking anybody; nil where it says nothing.
  func kept(_ path: TargetPath) -> TargetFile? { try? keptTrust?.find(path) }

  private func time() throws(InstallationError) -> UTCTime {
    guard let time = UTCTime(secondsSince1970: settings.clock()) else {
      throw .model(.clockOutOfRange(seconds: settings.clock()))
    }
    return time
  }
}
