internal import CommandFailures
internal import CommandLineSupport
internal import ModelCatalog
internal import ModelInstaller

enum PruneVerb {
  private static let rehearse = Option.flag("--dry-run", "Tell what would be removed; change nothing.")

  static let verb = Verb(
    "prune", "Remove installed versions that are neither active nor the way back, and unfinished downloads.",
    options: [StoreOptions.store, StoreOptions.staging, rehearse],
    discussion: [
      "Never the active version, and never the one that rollback leads to. Storage that several versions share is freed when the last of them goes. A model is left alone, "
        + "and that is told, whose record is damaged or lost, or whose active version is damaged or missing: any other version may be the last one that works.",
      "Unfinished downloads that were fetched into a folder of --staging are removed where that is given here too. A folder that nothing was fetched into is left as it is.",
      "With --json: {\"rehearsal\",\"removed\":[{\"what\",\"bytes\"}…],\"left_alone\":[{\"model\",\"error\"}…]}.",
    ],
    exitCodes: [.disk, .locked, .malformed],
    examples: [.init("manifest-install prune --dry-run", "look first")],
    run: GivenOptions.remembering(run))

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let path = try StoreOptions.folder(invocation)
    let isRehearsal = invocation.flag(rehearse.name)
    let staging = invocation.value(StoreOptions.staging.name)
    guard let existing = try ModelStore.reading(path, staging: staging) else {
      output.line("Nothing is installed.")
      output.report("removed", .array([]))
      output.report("left_alone", .array([]))
      return .done
    }
    try StoreOptions.tellLosses(in: existing, isOfActive: false) { output.warning("\($0)") }
    var leftAlone: [JSONResult] = []
    let leaveAlone = { (model: ModelName, error: InstallationError) in
      StoreOptions.warn(of: error, model.description, in: existing, output)
      leftAlone.append(["model": .string(model.description), "error": StoreOptions.failure(of: error, in: existing).json])
    }
    let pruned = try (isRehearsal ? existing : ModelStore.changing(path, staging: staging)).prune(
      isRehearsal: isRehearsal, isCancelled: { Interruption.isRequested },
      leaveAlone: leaveAlone)
    for (model, record) in try existing.records() {
      if case .failure(let error) = record { leaveAlone(model, error) }
    }
    var report: [JSONResult] = []
    for item in pruned {
      let name =
        switch item.kind {
        case .version(let model, let key): "\(model)@\(key)"
        case .unrecorded(let model, let key): "\(model)@\(key), not on record"
        case .staging: "unfinished downloads"
        }
      output.line("\(isRehearsal ? "would remove" : "removed")  \(name)  \(HumanReadable.bytes(item.byteCount))")
      report.append(["what": .string(name), "bytes": .integer(item.byteCount)])
    }
    if pruned.isEmpty { output.line("Nothing to remove.", style: .good) }
    output.report("rehearsal", .bool(isRehearsal))
    output.report("removed", .array(report))
    output.report("left_alone", .array(leftAlone))
    return .done
  }
}
