internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import ModelCatalog
internal import ModelInstaller
internal import TUFMetadata

enum ListVerb {
  static let verb = Verb(
    "list", "Show what is installed, what is active, and what was withdrawn.",
    options: [StoreOptions.store],
    discussion: [
      "Reads the store alone: no network, no trusted state. A file that is not the very one that was verified, in a copy of the store or after a crash, is read; one that "
        + "is not as signed makes its version \"changed\", or \"missing\" where files are gone: repair brings them back. A model whose record is damaged or lost is told as such.",
      "With --json: {\"models\":[{\"model\",\"version\",\"variant\",\"active\",\"previous\",\"bytes\",\"unchanged\",\"missing\",\"withdrawn\",\"folder\"}…],"
        + "\"unreadable\":[{\"model\",\"error\"}…]}.",
    ],
    exitCodes: [.disk, .malformed],
    examples: [.init("manifest-install list", "of the store in its usual place")],
    run: GivenOptions.remembering(run))

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    guard let store = try ModelStore.reading(StoreOptions.folder(invocation)) else {
      output.line("Nothing is installed.")
      output.report("models", .array([]))
      output.report("unreadable", .array([]))
      return .done
    }
    var table = Table([("MODEL", .left), ("VERSION", .left), ("VARIANT", .left), ("SIZE", .right), ("STATE", .left)])
    var report: [JSONResult] = []
    var unreadable: [JSONResult] = []
    for (model, found) in try store.records() {
      let record: ModelRecord
      do { record = try found.get() } catch {
        table.append(["\(model)", "", "", "", "record can't be read"])
        unreadable.append(["model": .string(model.description), "error": Failure(explainingInstallation: error).json])
        StoreOptions.warn(of: error, model.description, in: store, output)
        continue
      }
      for (isActive, error) in store.losses(of: record) {
        let failure = StoreOptions.failure(of: error, in: store)
        output.warning("\(StoreOptions.lost(isActive, of: record, in: store)): \(failure.description)")
        guard isActive, record.activeEntry == nil else { continue }
        table.append([
          "\(model)", "\(record.active?.version.description ?? "")", "\(record.active?.variant.description ?? "")", "",
          record.active == nil ? "no active version" : "active, not on record",
        ])
        unreadable.append(["model": .string(model.description), "error": failure.json])
      }
      let wayBack = store.wayBack(of: record)
      for entry in record.entries {
        let isUnchanged = try store.isIntact(entry, of: model, isCancelled: { Interruption.isRequested })
        var words: [String] = []
        if entry.key == record.active { words.append("active") }
        // Nobody could go back to one that is damaged.
        let isWayBack = entry.key == wayBack && isUnchanged
        if isWayBack { words.append("way back") }
        if let reason = entry.withdrawal { words.append("withdrawn: \(reason)") }
        let isMissing = !isUnchanged && store.missingPath(of: entry, model) != nil
        if !isUnchanged { words.append(isMissing ? "missing" : "changed") }
        table.append([
          "\(model)", "\(entry.key.version)", "\(entry.key.variant)", "\(HumanReadable.bytes(entry.byteCount))",
          "\(words.isEmpty ? "installed" : words.joined(separator: ", "))",
        ])
        report.append([
          "model": .string(model.description), "version": .string(entry.key.version.description),
          "variant": .string(entry.key.variant.description), "active": .bool(entry.key == record.active),
          "previous": .bool(isWayBack), "bytes": .integer(entry.byteCount), "unchanged": .bool(isUnchanged),
          "missing": .bool(isMissing), "withdrawn": .optional(entry.withdrawal), "folder": .string(store.folderPath(of: entry.key, model)),
        ])
      }
    }
    for model in try store.modelsWithoutRecord() {
      let failure = Failure(explainingInstallation: InstallationError.model(.noRecord(model: model.description)))
      output.warning("\(failure.description)")
      table.append(["\(model)", "", "", "", "not on record"])
      unreadable.append(["model": .string(model.description), "error": failure.json])
    }
    if report.isEmpty, unreadable.isEmpty { output.line("Nothing is installed.") } else { output.table(table) }
    output.report("models", .array(report))
    output.report("unreadable", .array(unreadable))
    return .done
  }
}
