internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import Digests
internal import ManifestVerifier
internal import TUFMetadata

enum ListVerb {
  static let verb = Verb(
    "list", "List every file that is trusted: length, SHA-256, path.",
    options: [DeviceState.state, DeviceState.root, ReportTime.option],
    discussion: [
      "Files of delegated roles are listed where a search comes to them there. Where a delegated role can't be trusted, the others' files are "
        + "listed and the command fails.",
      "With --json: {\"files\":[{\"path\",\"length\",\"sha256\",\"sha512\",\"fsverity\"}…]}; sha512 and fsverity only where the manifest has them.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .locked, .malformed],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let now = try ReportTime.of(invocation)
    let kept = try DeviceState.kept(invocation, at: now, output) { kept, read throws(VerificationError) in try kept.readAll(read) }
    DeviceState.warnOfExpiry(kept.expired(at: now, visiting: nil), at: now, invocation, output)
    var table = Table([.right, .left, .left])
    var files: [JSONResult] = []
    func add(_ path: TargetPath, _ file: TargetFile) {
      if output.isJSON {
        files.append(json(path, file))
      } else {
        table.append(["\(file.byteCount)", "\(file.hashes.sha256)", EscapedText(bytes: path.name.bytes)])
      }
    }
    for (path, file) in kept.manifest.targets.payload.all { add(path, file) }
    var undecided: [String] = []
    kept.delegatedFiles().visit { path, result in
      switch result {
      case .success(let file): add(path, file)
      case .failure: undecided.append(path.description)
      }
    }
    output.table(table)
    output.report("files", .array(files))
    guard let refusal = kept.refusals.first else { return .done }
    // What can be listed was; what is missing from the list must not go unnoticed.
    output.show(DeviceState.failure(of: kept.refusals, first: refusal, undecided: undecided, invocation))
    return Failure(refusal.error).code
  }

  /// What the manifest says of a file.
  static func json(_ path: TargetPath, _ file: TargetFile) -> JSONResult {
    var members: [JSONResult.Member] = [
      .init("path", .string(path.description)), .init("length", .integer(file.byteCount)),
      .init("sha256", .string(file.hashes.sha256.description)),
    ]
    if let sha512 = file.hashes.sha512 { members.append(.init("sha512", .string(sha512.description))) }
    if let fsverity = file.fsverity { members.append(.init("fsverity", .string(fsverity.description))) }
    return .object(members)
  }
}
