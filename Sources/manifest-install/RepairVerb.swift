internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import ModelCatalog
internal import ModelInstaller

enum RepairVerb {
  private static let models = Argument("MODEL", "ORG/NAME, with @VERSION if only that; all that is installed where none is given.", .any)

  static let verb = Verb(
    "repair", "Read and verify what is installed, and fetch what is damaged or missing.",
    arguments: [models], options: ModelSession.options,
    discussion: [
      "Every installed file is read. Where all is as signed, nobody is contacted. Of a damaged file only the bad parts are fetched, where its publisher "
        + "gives their hashes; the good ones are copied into a new file, which takes the old one's place at once when it is whole. No file is "
        + "changed in its place.",
      "Where newer metadata can't be had, or has expired, that is told, and what the record says was signed is enough. A version that its publisher withdrew is not "
        + "repaired, unless that was taken back. Nothing that can't be repaired keeps anything else from it.",
      Network.discussion, Hub.discussion, MirrorOptions.discussion,
      "With --json: one object a line, events and last the result: {\"repaired\":[…],\"intact\":[…],\"failed\":[{\"model\",\"error\"}…],\"left_alone\":[{\"model\",\"error\"}…]}.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .network, .disk, .locked, .malformed, .nothingForDevice],
    examples: [.init("manifest-install repair", "everything"), .init("manifest-install repair org/name", "one model")],
    hasEvents: true, run: GivenOptions.remembering(run))

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let requests = try invocation.values(models.name).map { try StoreOptions.request($0) }
    let path = try StoreOptions.folder(invocation)
    guard try ModelStore.reading(path) != nil else {
      if let request = requests.first { throw InstallationError.model(.notInstalled(model: request.model.description, version: nil)) }
      output.line("Nothing is installed.")
      for name in ["intact", "repaired", "failed", "left_alone"] { output.report(name, .array([])) }
      return .done
    }
    var told = Told(output)
    let store = try ModelStore.changing(path, staging: invocation.value(StoreOptions.staging.name))
    let checked = try store.findDamaged(requests, isCancelled: { Interruption.isRequested })
    for item in checked.intact { output.line("intact  \(item)", style: .good) }
    output.report("intact", .array(checked.intact.map { .string($0.description) }))
    output.report("repaired", .array([]))
    told.report()
    for request in checked.intact { try warnIfWithdrawn(request, store, output) }
    for (what, error) in checked.refused { told.add(what, StoreOptions.failure(of: error, in: store), .leftAlone(error)) }
    if !checked.damaged.isEmpty { try repair(checked.damaged, in: store, invocation, output, &told) }
    // The others are in order by now.
    if let failure = told.first { throw failure }
    return .done
  }

  /// What is not in order, each told at once and standing in the result.
  private struct Told {
    private let output: Output
    private(set) var first: Failure?
    private var failed: [JSONResult] = []
    private var leftAlone: [JSONResult] = []

    init(_ output: Output) { self.output = output }

    func report() {
      output.report("failed", .array(failed))
      output.report("left_alone", .array(leftAlone))
    }

    enum Kind {
      case failed
      /// Nothing was tried with it.
      case leftAlone(InstallationError)

      var isLeftAlone: Bool { if case .leftAlone = self { true } else { false } }

      var words: String {
        switch self {
        case .failed: "could not be repaired"
        // Its versions are repaired all the same.
        case .leftAlone(.model(.contradictoryRecord)): "has a record that is left as it is"
        case .leftAlone: "is left alone"
        }
      }
    }

    mutating func add(_ what: String, _ failure: Failure, _ kind: Kind) {
      let isLeftAlone = kind.isLeftAlone
      first = first ?? failure
      output.warning("\(what) \(kind.words): \(failure.description)")
      output.event(["event": isLeftAlone ? "left_alone" : "failed", "model": .string(what), "error": failure.json])
      let item: JSONResult = ["model": .string(what), "error": failure.json]
      if isLeftAlone { leftAlone.append(item) } else { failed.append(item) }
      report()
    }
  }

  private static func warnIfWithdrawn(_ request: ModelRequest, _ store: ModelStore, _ output: Output) throws {
    let entry = try store.record(of: request.model).entries.first { $0.key.version == request.version && $0.key.variant == request.variant }
    if let reason = entry?.withdrawal { output.warning("\(request) was withdrawn by its publisher: \(reason)") }
  }

  private static func repair(
    _ damaged: [(request: ModelRequest, error: InstallationError)], in store: ModelStore, _ invocation: Invocation, _ output: Output,
    _ told: inout Told
  ) throws {
    for (request, error) in damaged {
      output.note("\(request): \(error)")
      var failure = StoreOptions.failure(of: error, in: store)
      // To repair it is what is being done.
      failure.hint = nil
      output.event(["event": "damaged", "model": .string(request.description), "error": failure.json])
    }
    let session = try ModelSession(invocation, output)
    defer { session.progress.finish() }
    var repaired: [ModelRequest] = []
    let outcomes = try session.lookUpForRepair(damaged.map(\.request), in: store)
    for (what, error) in outcomes.refused { told.add(what, StoreOptions.failure(of: error, in: store), .leftAlone(error)) }
    let failed = try Installation.repair(outcomes.lookups, in: store, session.context) { request in
      session.progress.finish()
      repaired.append(request)
      output.line("repaired  \(request)", style: .good)
      output.report("repaired", .array(repaired.map { .string($0.description) }))
    }
    session.progress.finish()
    for (what, error) in failed { told.add(what, StoreOptions.failure(of: error, in: store), .failed) }
  }
}
