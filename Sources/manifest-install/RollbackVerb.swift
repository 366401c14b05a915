internal import CommandFailures
internal import CommandLineSupport
internal import ModelCatalog
internal import ModelInstaller
internal import TUFMetadata

enum RollbackVerb {
  private static let model = Argument("MODEL", "ORG/NAME.")

  static let verb = Verb(
    "rollback", "Go back to the version of a model that was active before.",
    arguments: [model], options: [StoreOptions.store],
    discussion: [
      "The earlier version is read and verified first. A second rollback leads forward again. No network is needed, and no trusted state.",
      "A version that its publisher withdrew is not gone back to (exit 18), nor one whose files are not as signed (12). Where the version before was withdrawn, or files of it "
        + "are missing, the latest other one of the same variant that is here, and for this device, is gone back to, as list shows it. Where there is no earlier version, or nothing "
        + "is installed, the exit code is 1.",
    ],
    exitCodes: [.fileMismatch, .disk, .locked, .malformed, .nothingForDevice],
    examples: [.init("manifest-install rollback org/name", "to the version before")],
    run: GivenOptions.remembering(run))

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let request = try StoreOptions.request(invocation.required(model.name))
    guard request.version == nil, request.variant == nil else {
      throw Failure(
        .usage, "rollback takes no version", expected: "ORG/NAME", found: request.description,
        hint: "it leads to the version before; install makes any other one active")
    }
    let path = try StoreOptions.folder(invocation)
    guard try ModelStore.reading(path) != nil else {
      throw InstallationError.model(.notInstalled(model: request.model.description, version: nil))
    }
    let store = try ModelStore.changing(path)
    let (active, former): (active: StoreKey, former: StoreKey?)
    do throws(InstallationError) { (active, former) = try store.rollBack(request.model, isCancelled: { Interruption.isRequested }) } catch {
      var failure = StoreOptions.failure(of: error, in: store)
      if error != .cancelled, let other = try? store.alternativeToWayBack(of: request.model, isCancelled: { Interruption.isRequested }) {
        let advice =
          "or use \(other), which is as signed: manifest-install install \(request.model)@\(other) --offline\(GivenOptions.current.all)"
        failure.hint = [failure.hint, advice].compactMap { $0 }.joined(separator: "; ")
      }
      throw failure
    }
    output.line("active  \(request.model)@\(active)", style: .good)
    output.line("Folder:     \(store.folderPath(of: active, request.model))")
    if let wayBack = try store.intactWayBack(of: store.record(of: request.model), isCancelled: { Interruption.isRequested }) {
      output.line("Way back:   \(wayBack)")
    }
    try StoreOptions.tellLosses(of: request.model, in: store) { output.warning("\($0)") }
    output.report("model", .string(request.model.description))
    output.report("version", .string(active.version.description))
    output.report("variant", .string(active.variant.description))
    output.report("former", .optional(former?.description))
    return .done
  }
}
