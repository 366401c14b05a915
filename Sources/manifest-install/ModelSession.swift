internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import HTTPTransport
internal import ManifestVerifier
internal import ModelCatalog
internal import ModelInstaller
internal import TUFMetadata
internal import TrustStore

/// What the verbs share that bring models into the store: mirrors, transports, and what one targets version says of a model.
struct ModelSession {
  static let options =
    [
      DeviceState.state, DeviceState.root, StoreOptions.store, StoreOptions.staging, MirrorOptions.metadata, MirrorOptions.targets,
      connections, retries, retryDelay,
    ]
    + Network.options

  static let connections = Option.integer(
    "--connections", "NUMBER", "How many parts of a file to fetch at once.", in: 1...32, default: 4)

  static let retries = Option.integer(
    "--retries", "NUMBER", "How often a source is asked again that brings nothing, before the next one is.", in: 0...20, default: 3)
  static let retryDelay = Option.integer(
    "--retry-delay", "MILLISECONDS", "How long to wait before that; twice as long each time, a random part less.", in: 0...60_000,
    default: 500)

  let context: DownloadContext
  let progress: InstallProgress
  private let invocation: Invocation
  private let output: Output
  private let mirrors: [Mirror]
  private let hub: HuggingFaceHub
  private let network: HTTPTransport

  init(_ invocation: Invocation, _ output: Output) throws {
    (self.invocation, self.output) = (invocation, output)
    mirrors = try MirrorOptions.mirrors(MirrorOptions.targets, invocation, remembered: \.targets)
    var options = try Network.options(invocation)
    let (hub, tokens) = try Hub.settings()
    options.tokens = tokens
    self.hub = hub
    let progress = InstallProgress(output)
    self.progress = progress
    let fixed = options
    var retry = RetryPolicy()
    retry.attempts = invocation.requiredInteger(Self.retries.name) + 1
    retry.firstDelay = UInt32(clamping: invocation.requiredInteger(Self.retryDelay.name))
    network = try HTTPTransport(fixed, isCancelled: { Interruption.isRequested })
    context = DownloadContext(
      makeTransport: { () throws(InstallationError) in try HTTPTransport(fixed, isCancelled: { Interruption.isRequested }) }, hub: hub,
      retry: retry,
      connections: invocation.requiredInteger(Self.connections.name), isCancelled: { Interruption.isRequested },
      report: { progress.take($0) })
  }

  /// Refreshes, and reads what the manifest then says of each request. All of them are looked up in one targets version.
  func lookUp(_ requests: [ModelRequest], in store: ModelStore?, device: Device) throws -> [ModelLookup.Outcome] {
    let outcomes = try lookUpEach(requests, in: store, device: device)
    if let error = outcomes.error { throw error }
    return outcomes.found
  }

  private func lookUpEach(_ requests: [ModelRequest], in store: ModelStore?, device: Device) throws -> ModelLookup.Outcomes {
    context.report(.state(.refreshing))
    var outcomes = ModelLookup.Outcomes()
    try DeviceRefresh(invocation, over: network, output) { refresh, source, trust in
      outcomes = ModelLookup.Outcomes()
      for request in requests {
        try outcomes.add(request) { () throws(InstallationError) in
          try lookUp(request, in: store, device, mirrors, consistentSnapshot: refresh.manifest.root.payload.consistentSnapshot) {
            path throws(InstallationError) in
            try source.find(path, in: refresh.manifest, now: refresh.now, keepingIn: &trust)
          }
        }
      }
      return outcomes.failed.isEmpty
    }
    return outcomes
  }

  /// As above, for versions that are installed. Where no newer metadata can be had the record tells what was signed of them.
  func lookUpForRepair(_ requests: [ModelRequest], in store: ModelStore) throws -> ModelLookup.Outcomes {
    var outcomes: ModelLookup.Outcomes
    do {
      guard try MirrorOptions.areKnown(MirrorOptions.metadata, invocation, remembered: \.metadata) else {
        throw InstallationError.verification(.unavailable(role: TopLevelRole.timestamp.name, urlPath: "timestamp.json"))
      }
      // A variant that is named is found whatever the device.
      outcomes = try lookUpEach(requests, in: store, device: .current)
    } catch let error as InstallationError where error.saysNothingOfInstalled {
      outcomes = ModelLookup.Outcomes(failed: requests, error)
    }
    guard !outcomes.failed.isEmpty else { return outcomes }
    let consistentSnapshot = (try? Self.keptTrust(invocation))?.consistentSnapshot ?? true
    try outcomes.useRecords(of: requests, context) { request throws(InstallationError) in
      try ModelLookup(
        recorded: request, in: store, mirrors: mirrors, consistentSnapshot: consistentSnapshot, context)
    }
    return outcomes
  }

  /// What was trusted last, as it lies on this disk.
  static func keptTrust(_ invocation: Invocation) throws -> KeptTrust {
    let trust = try TrustReader(DeviceState.folder(invocation))
    let (anchor, stored) = (try DeviceState.anchor(invocation, trust), try trust.metadata())
    return KeptTrust(
      trust, try DeviceState.explaining(invocation) { () throws(VerificationError) in try KeptManifest(anchor: anchor, stored: stored) })
  }

  /// Reads what the kept manifest says, without the network.
  func lookUpOffline(_ request: ModelRequest, in store: ModelStore, device: Device) throws -> ModelLookup.Outcome {
    let now = try ReportTime.now()
    let trust = try Self.keptTrust(invocation)
    DeviceState.warnOfExpiry(trust.expired(at: now), at: now, invocation, output)
    return try lookUp(request, in: store, device, [], consistentSnapshot: trust.consistentSnapshot, find: trust.find)
  }

  private func lookUp(
    _ request: ModelRequest, in store: ModelStore?, _ device: Device, _ mirrors: [Mirror], consistentSnapshot: Bool,
    find: (TargetPath) throws(InstallationError) -> TargetFile
  ) throws(InstallationError) -> ModelLookup.Outcome {
    try ModelLookup.run(
      request, for: device, in: store, mirrors: mirrors, consistentSnapshot: consistentSnapshot, context, over: AnyTransport(network),
      find: find)
  }
}
