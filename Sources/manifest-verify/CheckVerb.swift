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
    options: [DeviceState.state, DeviceState.root, base, all, whole, fresh, ReportTime.option],
    discussion: [
      "Every file that fails is named, with the length and digest that were expected and found. Nothing is read of a file that is too long, nor of a large one that is too short. A symbolic "
        + "link below the base folder is not followed but refused: what it leads to could change after the check. A PATH that is not listed and begins "
        + "with the base folder's own path, as a shell completes it, is taken without it.",
      "With --all each file of the manifest has to be there, except catalog.json and each ORG/NAME/model.json: a folder of models as it was published "
        + "need not have them. A state folder that lies below the base folder is left out.",
      "Expired metadata is a warning, for it never stops the use of what is installed; with --fresh it is a failure.",
      "With --json: {\"files\":[{\"path\",\"status\",\"expected\":{\"length\",\"digest\"},\"found\":{\"length\",\"digest\"},\"reason\"}…],\"failed\":N,"
        + "\"absent\":[PATH…],\"expired\":[{\"role\",\"since\"}…]}. The status is one of: ok, wrong length, wrong digest, missing, not listed, extra, "
        + "changed while read, unreadable. A digest is sha256:…, sha512:… or fs-verity sha256:… Members that say nothing are left out or null; "
        + "absent names files that --all missed and that need not be there.",
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
    let manifest = try DeviceState.manifest(invocation)
    try judgeExpiry(manifest, now, invocation, output)
    let folder = invocation.required(base.name)
    let report = CheckReport(output)
    defer { report.finish() }
    var check = try FileCheck(below: folder, method: invocation.flag(whole.name) ? .whole : .tree)
    if texts.isEmpty {
      report.begin(fileCount: manifest.targets.payload.count) { manifest.targets.payload.all.lazy.map(\.file.byteCount) }
      for (path, file) in manifest.targets.payload.all { try report.run(&check, path, file, mayBeAbsent: isDescription(path)) }
      try check.findExtraFiles(manifest.targets.payload, leavingOut: DeviceState.folder(invocation), report: report.add)
    } else {
      let files = texts.map { (text: $0, found: find($0, folder, manifest)) }
      report.begin(fileCount: files.count) { files.compactMap { $0.found?.file.byteCount } }
      for (text, found) in files {
        guard let found else {
          report.add(CheckedFile(path: ByteString(text), file: nil, outcome: .notListed))
          continue
        }
        try report.run(&check, found.path, found.file)
      }
    }
    return report.conclude()
  }

  private static func judgeExpiry(_ manifest: TrustedManifest, _ now: UTCTime, _ invocation: Invocation, _ output: Output) throws {
    let expired = manifest.expired(at: now)
    output.report("expired", .array(expired.map { ["role": .string($0.role.rawValue), "since": .string($0.since.description)] }))
    guard invocation.flag(fresh.name), let (role, since) = expired.first else {
      return DeviceState.warnOfExpiry(manifest, at: now, invocation, output)
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

  /// The file of the manifest that a person means.
  private static func find(_ text: String, _ base: String, _ manifest: TrustedManifest) -> (path: TargetPath, file: TargetFile)? {
    var prefixes = ["", "./"]
    var folder = base[...]
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    prefixes.append(folder == "/" ? "/" : "\(folder)/")
    for prefix in prefixes where text.utf8.starts(with: prefix.utf8) {
      let rest = ByteString(Array(text.utf8.dropFirst(prefix.utf8.count)))
      if let path = try? TargetPath(rest), let file = manifest.targets.payload[path] { return (path, file) }
    }
    return nil
  }
}
