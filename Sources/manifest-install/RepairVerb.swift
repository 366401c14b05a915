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
      Network.discussion, Hub.discussion, MirrorOptions.discussion,
      "With --json: one object a line, events and last the result: {\"repaired\":[…],\"intact\":[…]}.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .network, .disk, .locked, .malformed, .nothingForDevice],
    examples: [.init("manifest-install repair", "everything"), .init("manifest-install repair org/name", "one model")],
    hasEvents: true, run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let store = try ModelStore.changing(StoreOptions.folder(invocation), staging: invocation.value(StoreOptions.staging.name))
    let requests = try invocation.values(models.name).map { try StoreOptions.request($0) }
    let checked = try store.findDamaged(requests, isCancelled: { Interruption.isRequested })
    for item in checked.intact { output.line("intact  \(item)", style: .good) }
    output.report("intact", .array(checked.intact.map { .string($0.description) }))
    output.report("repaired", .array([]))
    guard !checked.damaged.isEmpty else { return .done }
    for (request, error) in checked.damaged { output.note("\(request): \(error)") }
    let session = try ModelSession(invocation, output)
    defer { session.progress.finish() }
    let found = try session.lookUp(checked.damaged.map(\.request), in: store, device: .current)
    var repaired: [ModelRequest] = []
    for (outcome, damaged) in zip(found, checked.damaged) {
      // A variant that is named is found whatever the device.
      guard case .found(let lookup) = outcome else { continue }
      _ = try Installation(lookup, into: store, session.context, isRepair: true).run { _ in }
      session.progress.finish()
      repaired.append(damaged.request)
      output.line("repaired  \(damaged.request)", style: .good)
      output.report("repaired", .array(repaired.map { .string($0.description) }))
    }
    return .done
  }
}
