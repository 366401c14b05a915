internal import CommandFailures
internal import CommandLineSupport
internal import ManifestSigning
internal import ManifestVerifier
internal import ModelFormats
internal import TUFMetadata

enum PublishVerb {
  private static let folder = Argument("DIR", "The models: DIR/<org>/<name>/<version>/files…", .optional)
  private static let fragment = Option.repeated(
    "--fragment", "FILE", "Instead of DIR, what manifest-sign hash wrote on the machines where the models lie; may be repeated.")
  private static let stage = Option.flag("--stage", "Put the models themselves into manifests/targets too, ready to be served.")
  private static let replace = Option.flag("--allow-replace", "Let a file of a published version get another content.")
  private static let moving = Option.flag(
    "--allow-moving", "Let hf: sources name a branch or a tag: what it leads to can change, and devices then refuse it.")
  private static let role = Option.value("--role", "TEAM", "Sign as this team: what targets delegates to it, and nothing else.")
  private static let remove = Option.flag(
    "--allow-remove", "Let files that are published be missing now, those too that were handed to a team which does not list them.")

  private static let rehash = Option.flag("--rehash", "Read every file, those too that have not changed since they were hashed.")
  private static let bins = Option.integer(
    "--bins", "N", "Spread the files over N roles from now on, a power of two; 1 lists all in one manifest again.",
    in: 1...HashBins.greatestCount)

  static let verb = Verb(
    "publish", "Hash a folder of models and sign the whole catalog.",
    arguments: [folder],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, stage, replace, remove, moving, bins, role, rehash, fragment, .jobs]
      + RepositoryOptions.passphrases,
    conflicts: [
      RepositoryOptions.passphraseConflict, [bins.name, role.name], [fragment.name, stage.name], [fragment.name, rehash.name],
    ],
    discussion: [
      "Every file is checked against its format (GGUF, safetensors), hashed, and signed with the catalog: targets, then snapshot, then timestamp. "
        + "Devices see all of it at once, when the timestamp is replaced at the end. Without a change nothing is signed, unless the last third of "
        + "a lifetime has begun: then all three are signed again. The root is never renewed here.",
      "A model is described by DIR/<org>/<name>/model.json where you write one, and otherwise by what lies in its folder.",
      "Digests are remembered in .manifest-sign-cache of the repository, beside the path, device, inode, length and times of each file: what has not "
        + "changed since is not read again. Nothing else ever uses it; verify reads every file.",
      "Where targets needs more signatures than there are keys at hand, the result waits in pending: others add theirs with sign. What a team is "
        + "trusted with is left to it; --role signs as that team.",
      RepositoryOptions.passphraseText,
      "SOURCE_DATE_EPOCH sets the time from which expiries are counted.",
    ],
    exitCodes: [.signature, .fileMismatch, .disk, .locked, .malformed, .key],
    examples: [
      .init("manifest-sign publish models --stage", "sign the catalog, and lay the models ready for a web server"),
      .init("manifest-sign publish team-models --role speech", "sign the models of the team speech with its keys"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let fragments = invocation.values(fragment.name)
    let folder = invocation.value(Self.folder.name)
    guard (folder == nil) != fragments.isEmpty else {
      throw Failure(
        .usage, folder == nil ? "nothing is named to be published" : "DIR and \(fragment.name) exclude each other",
        expected: "DIR, or \(fragment.name) FILE", found: folder == nil ? "neither" : "both")
    }
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let layout = RepositoryOptions.layout(invocation)
    let repository = try Repository(layout)
    var options = PublishingOptions()
    options.stages = invocation.flag(stage.name)
    options.allowsReplacing = invocation.flag(replace.name)
    options.allowsRemoving = invocation.flag(remove.name)
    options.allowsMovingSources = invocation.flag(moving.name)
    options.rehashes = invocation.flag(rehash.name)
    options.binCount = invocation.integer(bins.name)
    options.jobs = invocation.integer(Option.jobs.name)
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let report = try repository.publish(
      folder.map { .folder($0) } ?? .fragments(fragments), options, as: invocation.value(role.name).map { ByteString($0) },
      passphrases: passphrases, now: ReleaseClock.signingTime(), observer: observer)
    observer.finish()
    try show(report, output, layout)
    return .done
  }

  private static func show(_ report: PublishingReport, _ output: Output, _ layout: RepositoryLayout) throws {
    for warning in report.cacheWarnings { output.warning("\(warning)") }
    output.report("hashed", .count(report.hashedCount))
    if !report.changes.isEmpty {
      for warning in report.warnings.prefix(shownCount) { output.warning("\(warning)") }
      let hiddenCount = report.warnings.count - shownCount
      if hiddenCount > 0 { output.warning("and \(HumanReadable.grouped(hiddenCount)) more of models without a licence; --json tells all") }
    }
    output.report("changed", .bool(!report.changes.isEmpty))
    output.report("renewed", .bool(report.isRenewed))
    if report.waiting.isEmpty, let manifest = report.manifest {
      try show(report, manifest, output)
    } else {
      showChanges(report.changes, output)
      output.line("Devices see nothing of it yet: signatures are missing.", style: .heading)
    }
    if !report.waiting.isEmpty {
      try CeremonyOutput.show(report.waiting, layout, output)
      output.line("Next: manifest-sign sign, where the other keys are; hand on keys, manifests and pending.")
    }
    output.report("waiting", CeremonyOutput.json(report.waiting))
    output.report("added", json(report.changes.added))
    output.report("replaced", json(report.changes.replaced))
    output.report("removed", json(report.changes.removed + report.changes.notTakenOver))
    output.report("handed_over", json(report.changes.handedOver))
    output.report("models", .count(report.modelCount))
    output.report("files", .count(report.fileCount))
    output.report("bytes", .integer(report.byteCount))
    output.report("staged", .count(report.stagedCount))
    output.report(
      "unknown_formats",
      .array(report.unknownFiles.map { ["path": .string($0.path.description), "content": .string($0.content.rawValue)] }))
    output.report("warnings", .array(report.warnings.map(JSONResult.string)))
  }

  private static func showChanges(_ changes: ManifestChanges, _ output: Output) {
    for (sign, paths) in [("+", changes.added), ("~", changes.replaced), ("-", changes.removed)] {
      for path in paths { output.line("\(sign) \(path)") }
    }
    for path in changes.handedOver { output.line("→ \(path): its team lists it from now on, and targets no longer") }
    for path in changes.notTakenOver { output.line("- \(path): no team lists it, and targets no longer") }
  }

  private static func show(_ report: PublishingReport, _ manifest: TrustedManifest, _ output: Output) throws(Failure) {
    if report.isRenewed {
      output.line(
        "Nothing changed in the catalog; signed again because it was due: targets version \(manifest.targets.payload.version), snapshot "
          + "\(manifest.snapshot.payload.version), timestamp \(manifest.timestamp.payload.version).", style: .good)
    } else if report.isSpreadAnew {
      output.line(
        "Nothing changed in the catalog; the files were spread anew: targets version \(manifest.targets.payload.version).", style: .good)
    } else if report.changes.isEmpty {
      output.line("Nothing changed: targets version \(manifest.targets.payload.version) stays as it is.", style: .good)
    } else {
      showChanges(report.changes, output)
      output.line(
        "Published \(report.modelCount) \(report.modelCount == 1 ? "model" : "models"), \(report.fileCount) "
          + "\(report.fileCount == 1 ? "file" : "files"), \(HumanReadable.bytes(report.byteCount)): targets version "
          + "\(manifest.targets.payload.version), snapshot \(manifest.snapshot.payload.version), timestamp "
          + "\(manifest.timestamp.payload.version).", style: .good)
    }
    if let bins = report.bins {
      output.line("Bins: \(HumanReadable.grouped(bins.count)), of which \(HumanReadable.grouped(bins.signedCount)) were signed.")
      output.report("bins", ["count": .count(bins.count), "signed": .count(bins.signedCount)])
    }
    if !report.changes.isEmpty { noteUnknown(report, output) }
    if report.stagedCount > 0 { output.line("Put \(report.stagedCount) files into manifests/targets.") }
    // A SOURCE_DATE_EPOCH of long ago, or a publication that nobody has renewed.
    let expired = manifest.expired(at: try ReportTime.now())
    if !expired.isEmpty {
      output.warning("\(expired.map(\.role.rawValue).joined(separator: ", ")) expired: devices can't refresh until it is signed again")
    }
    output.line("Devices need a new timestamp before \(manifest.timestamp.payload.expires).")
    output.report("versions", .object(manifest.roles.map { JSONResult.Member($0.role.rawValue, .integer($0.version.number)) }))
    output.report("expires", .object(manifest.roles.map { JSONResult.Member($0.role.rawValue, .string($0.expires.description)) }))
  }

  /// Names what is published without its format having been checked.
  /// How many of what may be thousands are told one by one.
  private static let shownCount = 20

  private static func noteUnknown(_ report: PublishingReport, _ output: Output) {
    for file in report.unknownFiles.prefix(shownCount) {
      output.note("\(file.path): unknown format, not checked; it looks like \(file.content.rawValue)")
    }
    let hiddenCount = report.unknownFiles.count - shownCount
    if hiddenCount > 0 { output.note("and \(HumanReadable.grouped(hiddenCount)) more of unknown format") }
  }

  private static func json(_ paths: [TargetPath]) -> JSONResult { .array(paths.map { JSONResult.string($0.description) }) }
}
