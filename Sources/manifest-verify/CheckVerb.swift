internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

enum CheckVerb {
  private static let paths = Argument("PATH", "A file of the manifest, as its path below the base folder.", .any)
  private static let base = Option.value("--base", "DIR", "The folder that the paths of the manifest begin in.", default: ".")
  private static let all = Option.flag("--all", "Check every file of the manifest, and name files that it does not list.")
  private static let whole = Option.flag(
    "--whole", "Let the digests of the whole file decide, not the fs-verity tree, even where the manifest has it.")
  private static let fresh = Option.flag("--fresh", "Fail where the trusted metadata has expired, before any file is read.")

  static let verb = Verb(
    "check", "Hold local files against the trusted manifest.",
    arguments: [paths],
    options: [DeviceState.state, DeviceState.root, base, all, whole, fresh, .jobs, ReportTime.option],
    discussion: [
      "Every file that fails is named, with the length and digest that were expected and found. Nothing is read of a file that is too long, nor of a large one that is too short. A symbolic "
        + "link below the base folder is not followed but refused: what it leads to could change after the check. A PATH that is not listed and begins "
        + "with the base folder's own path, as a shell completes it, is taken without it.",
      "With --all each file of the manifest has to be there, except catalog.json and each ORG/NAME/model.json: a folder of models as it was published "
        + "need not have them. A state folder that lies below the base folder is left out.",
      "Expired metadata is a warning, for it never stops the use of what is installed; with --fresh it is a failure.",
      "A NAME.verity beside a file of more than 512 KiB, as publish puts one beside the staged file, names the digest of each 512 KiB: with it the "
        + "first bad one ends the reading of the file and is named. It needs no signature: one that does not lead to the file's signed fs-verity "
        + "digest is not used, of which a warning tells, and --all names it as extra.",
      "With --json: {\"files\":[{\"path\",\"status\",\"expected\":{\"length\",\"digest\"},\"found\":{\"length\",\"digest\"},\"reason\",\"segment\":{\"offset\",\"length\",\"expected\",\"found\"}}…],\"failed\":N,"
        + "\"absent\":[PATH…],\"expired\":[{\"role\",\"since\"}…],\"roles\":[{\"role\",\"delegator\",\"reason\"}…]}. The status is one of: ok, wrong length, wrong digest, missing, not listed, extra, "
        + "changed while read, unreadable, not trusted. A digest is sha256:…, sha512:… or fs-verity sha256:… Members that say nothing are left out or null; "
        + "absent names files that --all missed and that need not be there; roles names delegated roles that --all could not use.",
      "A file that a delegated role lists counts where a search comes to it there. Where a role on the way can't be trusted, the file is not trusted.",
      "The exit code is 12 where any file differs, is missing, is not listed or is extra, and 14 where the only fault is that some can't be read.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .disk, .locked, .malformed],
    examples: [
      .init("manifest-verify check --state trust --base models org/name/1.0/weights.gguf", "one file"),
      .init("manifest-verify check --state trust --base models --all", "everything, and nothing else may be there"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let texts = invocation.values(paths.name)
    guard texts.isEmpty == invocation.flag(all.name) else {
      throw Failure(
        .usage, texts.isEmpty ? "nothing is named to be checked" : "PATH and \(all.name) exclude each other",
        expected: "at least one PATH, or \(all.name)", found: texts.isEmpty ? "neither" : "both")
    }
    let now = try ReportTime.of(invocation)
    let folder = invocation.required(base.name)
    var requests: [CheckRequest] = []
    var visited: Set<ByteString> = []
    var kept = try DeviceState.kept(invocation, at: now, isStrict: invocation.flag(fresh.name), output) {
      kept, read throws(VerificationError) in
      if texts.isEmpty { return try kept.readAll(read) }
      requests = texts.map { CheckRequest($0, below: folder, in: &kept, &visited, read) }
    }
    try judgeExpiry(kept.expired(at: now, visiting: texts.isEmpty ? nil : visited), now, invocation, output)
    let report = CheckReport(output)
    defer { report.finish() }
    var check = try FileCheck(
      below: folder, method: invocation.flag(whole.name) ? .whole : .tree, jobs: invocation.integer(Option.jobs.name))
    if texts.isEmpty {
      try checkAll(&kept, &check, report, leavingOut: DeviceState.folder(invocation))
    } else {
      report.begin(fileCount: requests.count) { requests.compactMap(\.byteCount) }
      for request in requests { try request.run(&check, report) }
    }
    for (path, reason) in check.unusableSegments {
      output.warning("\(path)\(TargetFile.segmentsSuffix) can't be used, so that all of the file was read: \(reason)")
    }
    return report.conclude()
  }

  private static func checkAll(
    _ kept: inout KeptManifest, _ check: inout FileCheck, _ report: CheckReport, leavingOut state: String
  ) throws(Interrupted) {
    let targets = kept.manifest.targets.payload
    let delegated = kept.delegatedFiles()
    report.begin(fileCount: targets.count + kept.delegatedCount) {
      var counts = targets.all.map(\.file.byteCount)
      delegated.visit { _, result in if case .success(let file) = result { counts.append(file.byteCount) } }
      return counts
    }
    for (path, file) in targets.all { try report.run(&check, path, file, mayBeAbsent: isDescription(path)) }
    try delegated.visit { path, result throws(Interrupted) in
      switch result {
      case .success(let file): try report.run(&check, path, file, mayBeAbsent: isDescription(path))
      case .failure(let error):
        report.add(CheckedFile(path: path.name, file: nil, outcome: .notTrusted(error)))
      }
    }
    kept.refusals.forEach(report.add)
    try check.findExtraFiles(
      leavingOut: state,
      isKnown: { path in
        if targets[path] != nil || delegated.tells(of: path) { return true }
        if check.isSegments(path, find: { owner in (try? kept.find(owner).finding?.file) ?? nil }) { return true }
        // What no role lists is not looked for in thousands of them, unless one that can't be trusted might.
        guard !kept.refusals.isEmpty else { return false }
        do throws(VerificationError) { return try kept.find(path).finding != nil } catch {
          report.add(CheckedFile(path: path.name, file: nil, outcome: .notTrusted(error)))
          return true
        }
      }, report: report.add)
  }

  private static func judgeExpiry(
    _ expired: [(role: MetadataRole, since: UTCTime)], _ now: UTCTime, _ invocation: Invocation, _ output: Output
  ) throws {
    output.report("expired", .array(expired.map { ["role": .string($0.role.name.description), "since": .string($0.since.description)] }))
    guard invocation.flag(fresh.name), let (role, since) = expired.first else {
      return DeviceState.warnOfExpiry(expired, at: now, invocation, output)
    }
    var failure = Failure(VerificationError.expired(role: role.name, since: since, now: now))
    failure.hint = "run \(DeviceState.refreshCommand(invocation)); without \(fresh.name) this is a warning"
    throw failure
  }

  /// Descriptions of models, which lie beside the models only where people wrote them there.
  private static func isDescription(_ path: TargetPath) -> Bool {
    let bytes = path.name.bytes
    if bytes == catalog { return true }
    return bytes.count > description.count && bytes.suffix(description.count).elementsEqual(description)
      && bytes.count { $0 == UInt8(ascii: "/") } == 2
  }

  private static let catalog = Array("catalog.json".utf8)
  private static let description = Array("/model.json".utf8)
}
