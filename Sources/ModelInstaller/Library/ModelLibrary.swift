internal import Dispatch
internal import ModelCatalog
internal import Synchronization
internal import TUFMetadata

/// The models of an app: which are installed, and how one comes to be.
///
/// Everything that waits or reads much happens on threads of its own, never on the caller's and never on Swift's. Callers that ask for one model at the
/// same time share one download. Cancelling the task of the last of them ends it: what was fetched stays, and is continued the next time.
public final class ModelLibrary: Sendable {
  /// What installing would do.
  public enum Plan: Equatable, Sendable {
    case plan(InstallPlan)
    /// There is nothing for this device, but for others.
    case nothingForDevice(NothingForDevice)
  }

  /// Gets the folder of a version that is verified and not active yet; what it throws keeps it from becoming so.
  public typealias ReadinessCheck = @Sendable (_ folder: String) throws -> Void

  private struct Running {
    var installations: [String: SharedInstallation] = [:]
    var nextNumber = 0
  }

  private let settings: LibrarySettings
  private let makeTransport: @Sendable () throws(InstallationError) -> any Transport
  /// What changes the store is done here, one after another.
  private let queue = DispatchQueue(label: "signed-manifest models")
  private let running = Mutex(Running())

  /// - Parameter transport: makes a transport for one thread: an `HTTPTransport`, usually.
  public init(_ settings: LibrarySettings, transport: @escaping @Sendable () throws(InstallationError) -> any Transport) {
    self.settings = settings
    makeTransport = transport
  }

  // MARK: What is here

  /// The active version of a model: what an app uses, online or not. Nothing is contacted, and no file is read. One of which files are missing is told as such, by
  /// `isComplete`.
  /// - Parameter model: `ORG/NAME`.
  /// - Returns: nil where none is installed.
  public func active(_ model: String) throws(InstallationError) -> InstalledModel? {
    let request = try ModelRequest(model)
    guard let store = try ModelStore.reading(settings.store, for: settings.device) else { return nil }
    return InstalledModel.active(of: try store.record(of: request.model), in: store)
  }

  /// Everything that is installed. A model whose record is damaged is left out; `active` tells why.
  public func installed() throws(InstallationError) -> [InstalledModel] {
    guard let store = try ModelStore.reading(settings.store, for: settings.device) else { return [] }
    return try store.readableRecords().flatMap { InstalledModel.all(of: $0, in: store) }
  }

  /// Opens a file of an installed model for use.
  ///
  /// The very file that was verified, unchanged since, is known by its identity, its size and its change time, without being read; any other is read
  /// and verified now.
  /// - Parameters:
  ///   - name: of the file, below the model's folder.
  ///   - thorough: whether it is read in any case.
  /// - Throws: `model` with `notInstalled`, or with `damaged` or `missing`: then `repair` helps, and without a network `rollBack`.
  public func open(_ name: String, of model: InstalledModel, thorough: Bool = false) async throws(InstallationError) -> ModelFile {
    let settings = settings
    let box = await onThread { () throws(InstallationError) -> FileBox in
      let request = try ModelRequest("\(model.model)@\(model.version):\(model.variant)")
      let none = InstallationError.model(.notInstalled(model: model.model, version: model.version))
      guard let store = try ModelStore.reading(settings.store, for: settings.device) else { throw none }
      guard
        let entry = try store.record(of: request.model).entries.first(where: {
          $0.key.version == request.version && $0.key.variant == request.variant
        })
      else { throw none }
      guard let file = entry.files.first(where: { $0.name.map(\.description).joined(separator: "/") == name }) else {
        throw .model(.unusableName(model: model.model, name: name))
      }
      let session = TrustedSession(settings: settings, context: .silent(settings))
      let target = thorough ? session.kept(file.path) : nil
      guard let usable = try store.use(file, of: entry, request.model, isThorough: thorough, target: target) else {
        throw store.missing(entry, request.model)
      }
      return FileBox(ModelFile(usable))
    }
    guard let file = try box.get().take() else { throw .cancelled }
    return file
  }

  // MARK: Installing

  /// What installing would do, and take, here and now. The manifest is refreshed; no file is fetched but the model's description.
  public func plan(_ model: String) async throws(InstallationError) -> Plan {
    let (settings, makeTransport) = (settings, makeTransport)
    let flag = CancellationFlag()
    return try await withTaskCancellationHandler {
      await onThread { () throws(InstallationError) -> Plan in
        let context = DownloadContext(settings, makeTransport, isCancelled: { flag.isSet }, report: { _ in })
        let store = try ModelStore.reading(settings.store, for: settings.device)
        switch try TrustedSession(settings: settings, context: context).lookUp(ModelRequest(model), in: store) {
        case nil: throw .model(.unknownModel(model))
        case .nothing(let nothing): return .nothingForDevice(nothing)
        case .found(let lookup): return .plan(try InstallPlan(rehearsing: lookup, in: store, at: settings.store, staging: settings.staging))
        }
      }
    } onCancel: {
      flag.set()
    }.get()
  }

  /// Installs a model: refreshes trust, chooses, fetches what is missing, verifies, and makes it active.
  /// - Parameters:
  ///   - model: `ORG/NAME[@VERSION][:VARIANT]`.
  ///   - progress: called on other threads.
  ///   - check: see `ReadinessCheck`.
  /// - Returns: what is active now. Where the newest version could not be fetched and another serves, `standsInBecause` tells why.
  /// - Throws: `cancelled` where the task was; then nothing has changed, and what was fetched is kept.
  public func install(
    _ model: String, progress: @escaping @Sendable (InstallEvent) -> Void = { _ in }, check: ReadinessCheck? = nil
  ) async throws(InstallationError) -> InstalledModel {
    let request = try ModelRequest(model)
    let number = running.withLock { running in
      running.nextNumber += 1
      return running.nextNumber
    }
    let place = SharedPlace()
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (installation, isNew) = join(request, number, check, progress) { continuation.resume(returning: $0) }
        place.set(installation, number)
        if isNew { start(installation, request, check) }
      }
    } onCancel: {
      place.cancel()
    }.get()
  }

  private func join(
    _ request: ModelRequest, _ number: Int, _ check: ReadinessCheck?, _ progress: @escaping @Sendable (InstallEvent) -> Void,
    resume: @escaping @Sendable (SharedInstallation.Outcome) -> Void
  ) -> (SharedInstallation, isNew: Bool) {
    running.withLock { running in
      let key = request.description
      // Two checks can't be told to be the same one.
      if check == nil, let installation = running.installations[key],
        installation.join(number, isFirst: false, progress: progress, resume: resume)
      {
        return (installation, false)
      }
      let installation = SharedInstallation()
      _ = installation.join(number, isFirst: true, progress: progress, resume: resume)
      if check == nil { running.installations[key] = installation }
      return (installation, true)
    }
  }

  private func start(_ installation: SharedInstallation, _ request: ModelRequest, _ check: ReadinessCheck?) {
    queue.async { [self] in
      let outcome: SharedInstallation.Outcome
      do throws(InstallationError) { outcome = .success(try install(request, check, installation)) } catch { outcome = .failure(error) }
      running.withLock { running in
        if running.installations[request.description] === installation { running.installations[request.description] = nil }
      }
      installation.finish(outcome)
    }
  }

  private func install(
    _ request: ModelRequest, _ check: ReadinessCheck?, _ installation: SharedInstallation
  ) throws(InstallationError) -> InstalledModel {
    guard !installation.isAbandoned else { throw .cancelled }
    let store = try ModelStore.changing(settings.store, staging: settings.staging, for: settings.device)
    let context = DownloadContext(
      settings, makeTransport, isCancelled: { installation.isAbandoned }, report: { installation.report($0) })
    let lookup: ModelLookup
    let session = TrustedSession(settings: settings, context: context)
    let found: ModelLookup.Outcome?
    do throws(InstallationError) { found = try session.lookUp(request, in: store) } catch {
      guard
        try store.standIn(
          for: error, request, on: settings.device, trust: session.keptTrust, isCancelled: { installation.isAbandoned }) != nil,
        var installed = InstalledModel.active(of: try store.record(of: request.model), in: store)
      else { throw error }
      installed.standsInBecause = error
      return installed
    }
    switch found {
    case nil: throw .model(.unknownModel(request.model.description))
    case .nothing(let nothing): throw .model(.nothingForDevice(nothing))
    case .found(let found): lookup = found
    }
    let outcome = try Installation(lookup, into: store, context).run { folder throws(InstallationError) in
      do { try check?(folder) } catch {
        throw .model(.notReady(model: request.model.description, version: lookup.key.version.description, detail: "\(error)"))
      }
    }
    guard var installed = InstalledModel.active(of: try store.record(of: request.model), in: store) else {
      throw .model(.notInstalled(model: request.model.description, version: nil))
    }
    if case .standIn(_, _, let reason) = outcome { installed.standsInBecause = reason }
    return installed
  }

  // MARK: Upkeep

  /// Goes back to the version that was active before, once it is read and verified; where that was withdrawn, or files of it are missing, to the latest
  /// other one of its variant that is for this device.
  public func rollBack(_ model: String) async throws(InstallationError) -> InstalledModel {
    let settings = settings
    return try await onQueue { () throws(InstallationError) -> InstalledModel in
      let request = try ModelRequest(model)
      guard try ModelStore.reading(settings.store, for: settings.device) != nil else {
        throw .model(.notInstalled(model: model, version: nil))
      }
      let store = try ModelStore.changing(settings.store, staging: settings.staging, for: settings.device)
      _ = try store.rollBack(request.model)
      guard let active = InstalledModel.active(of: try store.record(of: request.model), in: store) else {
        throw .model(.notInstalled(model: model, version: nil))
      }
      return active
    }.get()
  }

  /// Reads and verifies what is installed, and fetches what is damaged or missing. Metadata that has expired, or can't be reached, hinders no repair.
  /// - Parameter model: nil for all.
  /// - Returns: what was repaired.
  public func repair(
    _ model: String? = nil, progress: @escaping @Sendable (InstallEvent) -> Void = { _ in }
  ) async throws(InstallationError) -> [String] {
    let (settings, makeTransport) = (settings, makeTransport)
    let flag = CancellationFlag()
    return try await withTaskCancellationHandler {
      await onQueue { () throws(InstallationError) -> [String] in
        let requests: [ModelRequest] = if let model { [try ModelRequest(model)] } else { [] }
        guard try ModelStore.reading(settings.store, for: settings.device) != nil else {
          guard let model else { return [] }
          throw .model(.notInstalled(model: model, version: nil))
        }
        let store = try ModelStore.changing(settings.store, staging: settings.staging, for: settings.device)
        let checked = try store.findDamaged(requests, isCancelled: { flag.isSet })
        let context = DownloadContext(settings, makeTransport, isCancelled: { flag.isSet }, report: progress)
        var repaired: [String] = []
        var refused = checked.refused
        if !checked.damaged.isEmpty {
          let session = TrustedSession(settings: settings, context: context)
          let outcomes = try session.lookUpForRepair(checked.damaged.map(\.request), in: store)
          refused += outcomes.refused
          refused += try Installation.repair(outcomes.lookups, in: store, context) { repaired.append($0.description) }
        }
        // The others are in order by now.
        if let refused = refused.first { throw refused.error }
        return repaired
      }
    } onCancel: {
      flag.set()
    }.get()
  }

  /// Removes what is neither active nor the way back, and what was never finished; nothing of a model whose record is
  /// damaged or lost, or whose active version is damaged or missing.
  /// - Returns: the bytes that went, storage that others share included.
  @discardableResult
  public func prune() async throws(InstallationError) -> Int64 {
    let settings = settings
    return try await onQueue { () throws(InstallationError) -> Int64 in
      try ModelStore.changing(settings.store, staging: settings.staging, for: settings.device).prune(isRehearsal: false).reduce(0) {
        $0 &+ $1.byteCount
      }
    }.get()
  }

  // MARK: Threads

  private func onQueue<Value: Sendable>(
    _ body: @escaping @Sendable () throws(InstallationError) -> Value
  ) async -> Result<Value, InstallationError> { await Self.run(on: queue, body) }

  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(InstallationError) -> Value
  ) async -> Result<Value, InstallationError> { await Self.run(on: DispatchQueue(label: "signed-manifest reading"), body) }

  private static func run<Value: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () throws(InstallationError) -> Value
  ) async -> Result<Value, InstallationError> {
    await withCheckedContinuation { continuation in
      queue.async {
        do throws(InstallationError) { continuation.resume(returning: .success(try body())) } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
  }
}

extension DownloadContext {
  init(
    _ settings: LibrarySettings, _ makeTransport: @escaping @Sendable () throws(InstallationError) -> any Transport,
    isCancelled: @escaping @Sendable () -> Bool, report: @escaping @Sendable (InstallEvent) -> Void
  ) {
    self.init(
      makeTransport: makeTransport, hub: settings.hub, retry: settings.retry, connections: settings.connections, isCancelled: isCancelled,
      report: report)
  }

  /// For what contacts nobody.
  static func silent(_ settings: LibrarySettings) -> DownloadContext {
    DownloadContext(settings, { () throws(InstallationError) in throw .cancelled }, isCancelled: { false }, report: { _ in })
  }
}
