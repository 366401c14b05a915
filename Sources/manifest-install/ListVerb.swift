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
      "Reads the store alone: no network, no trusted state. A file that is not the one that was verified makes its version \"changed\": repair tells more.",
      "With --json: {\"models\":[{\"model\",\"version\",\"variant\",\"active\",\"previous\",\"bytes\",\"unchanged\",\"withdrawn\",\"folder\"}…]}.",
    ],
    exitCodes: [.disk, .malformed],
    examples: [.init("manifest-install list", "of the store in its usual place")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    guard let store = try ModelStore.reading(StoreOptions.folder(invocation)) else {
      output.line("Nothing is installed.")
      output.report("models", .array([]))
      return .done
    }
    var table = Table([("MODEL", .left), ("VERSION", .left), ("VARIANT", .left), ("SIZE", .right), ("STATE", .left)])
    var report: [JSONResult] = []
    for model in try store.models() {
      let record = try store.record(of: model)
      for entry in record.entries {
        let isUnchanged = try store.isUnchanged(entry, of: model)
        var words: [String] = []
        if entry.key == record.active { words.append("active") }
        if entry.key == record.previous { words.append("way back") }
        if let reason = entry.withdrawal { words.append("withdrawn: \(reason)") }
        if !isUnchanged { words.append("changed") }
        table.append([
          "\(model)", "\(entry.key.version)", "\(entry.key.variant)", "\(HumanReadable.bytes(entry.byteCount))",
          "\(words.isEmpty ? "installed" : words.joined(separator: ", "))",
        ])
        report.append([
          "model": .string(model.description), "version": .string(entry.key.version.description),
          "variant": .string(entry.key.variant.description), "active": .bool(entry.key == record.active),
          "previous": .bool(entry.key == record.previous), "bytes": .integer(entry.byteCount), "unchanged": .bool(isUnchanged),
          "withdrawn": .optional(entry.withdrawal), "folder": .string(store.folderPath(of: entry.key, model)),
        ])
      }
    }
    if report.isEmpty { output.line("Nothing is installed.") } else { output.table(table) }
    output.report("models", .array(report))
    return .done
  }
}
