internal import CommandFailures
internal import CommandLineSupport
internal import ManifestSigning
internal import ManifestVerifier
internal import ModelFormats
internal import TUFMetadata

enum PublishVerb {
  private static let folder = Argument("DIR", "The models: DIR/<org>/<name>/<version>/files…")
  private static let stage = Option.flag("--stage", "Put the models themselves into manifests/targets too, ready to be served.")
  private static let replace = Option.flag("--allow-replace", "Let a file of a published version get another content.")
  private static let remove = Option.flag("--allow-remove", "Let files that are published be missing now.")

  static let verb = Verb(
    "publish", "Hash a folder of models and sign the whole catalog.",
    arguments: [folder],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, stage, replace, remove, .jobs] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict],
    discussion: [
      "Every file is checked against its format (GGUF, safetensors), hashed, and signed with the catalog: targets, then snapshot, then timestamp. "
        + "Devices see all of it at once, when the timestamp is replaced at the end. Without a change nothing is signed, unless the last third of "
        + "a lifetime has begun: then all three are signed again. The root is never renewed here.",
      "A model is described by DIR/<org>/<name>/model.json where you write one, and otherwise by what lies in its folder.",
      RepositoryOptions.passphraseText,
      "SOURCE_DATE_EPOCH sets the time from which expiries are counted.",
    ],
    exitCodes: [.signature, .fileMismatch, .disk, .locked, .malformed, .key],
    examples: [.init("manifest-sign publish models --stage", "sign the catalog, and lay the models ready for a web server")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    try ProcessHardening.apply()
    let passphrases = try RepositoryOptions.passphraseSource(invocation)
    let repository = try Repository(RepositoryOptions.layout(invocation))
    var options = PublishingOptions()
    options.stages = invocation.flag(stage.name)
    options.allowsReplacing = invocation.flag(replace.name)
    options.allowsRemoving = invocation.flag(remove.name)
    options.jobs = invocation.integer(Option.jobs.name)
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let report = try repository.publish(
      invocation.required(folder.name), options, passphrases: passphrases, now: ReleaseClock.signingTime(), observer: observer)
    observer.finish()
    try show(report, output)
    return .done
  }

  private static func show(_ report: PublishingReport, _ output: Output) throws(Failure) {
    if !report.changes.isEmpty { for warning in report.warnings { output.warning("\(warning)") } }
    let manifest = report.manifest
    if report.isRenewed {
      output.line(
        "Nothing changed in the catalog; signed again because it was due: targets version \(manifest.targets.payload.version), snapshot "
          + "\(manifest.snapshot.payload.version), timestamp \(manifest.timestamp.payload.version).", style: .good)
    } else if report.changes.isEmpty {
      output.line("Nothing changed: targets version \(manifest.targets.payload.version) stays as it is.", style: .good)
    } else {
      for (sign, paths) in [("+", report.changes.added), ("~", report.changes.replaced), ("-", report.changes.removed)] {
        for path in paths { output.line("\(sign) \(path)") }
      }
      output.line(
        "Published \(report.modelCount) \(report.modelCount == 1 ? "model" : "models"), \(report.fileCount) "
          + "\(report.fileCount == 1 ? "file" : "files"), \(HumanReadable.bytes(report.byteCount)): targets version "
          + "\(manifest.targets.payload.version), snapshot \(manifest.snapshot.payload.version), timestamp "
          + "\(manifest.timestamp.payload.version).", style: .good)
    }
    if !report.changes.isEmpty { noteUnknown(report, output) }
    if report.stagedCount > 0 { output.line("Put \(report.stagedCount) files into manifests/targets.") }
    // A SOURCE_DATE_EPOCH of long ago, or a publication that nobody has renewed.
    let expired = manifest.expired(at: try ReportTime.now())
    if !expired.isEmpty {
      output.warning("\(expired.map(\.role.rawValue).joined(separator: ", ")) expired: devices can't refresh until it is signed again")
    }
    output.line("Devices need a new timestamp before \(manifest.timestamp.payload.expires).")
    output.report("changed", .bool(!report.changes.isEmpty))
    output.report("renewed", .bool(report.isRenewed))
    output.report("versions", .object(manifest.roles.map { JSONResult.Member($0.role.rawValue, .integer($0.version.number)) }))
    output.report("expires", .object(manifest.roles.map { JSONResult.Member($0.role.rawValue, .string($0.expires.description)) }))
    output.report("added", json(report.changes.added))
    output.report("replaced", json(report.changes.replaced))
    output.report("removed", json(report.changes.removed))
    output.report("models", .count(report.modelCount))
    output.report("files", .count(report.fileCount))
    output.report("bytes", .integer(report.byteCount))
    output.report("staged", .count(report.stagedCount))
    output.report(
      "unknown_formats",
      .array(report.unknownFiles.map { ["path": .string($0.path.description), "content": .string($0.content.rawValue)] }))
    output.report("warnings", .array(report.warnings.map(JSONResult.string)))
  }

  /// Names what is published without its format having been checked.
  private static func noteUnknown(_ report: PublishingReport, _ output: Output) {
    let shownCount = 20
    for file in report.unknownFiles.prefix(shownCount) {
      output.note("\(file.path): unknown format, not checked; it looks like \(file.content.rawValue)")
    }
    if report.unknownFiles.count > shownCount { output.note("and \(report.unknownFiles.count - shownCount) more of unknown format") }
  }

  private static func json(_ paths: [TargetPath]) -> JSONResult { .array(paths.map { JSONResult.string($0.description) }) }
}
