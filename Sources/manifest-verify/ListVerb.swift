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
      "With --json: {\"files\":[{\"path\",\"length\",\"sha256\",\"sha512\",\"fsverity\"}…]}; sha512 and fsverity only where the manifest has them."
    ],
    exitCodes: [.signature, .disk, .locked, .malformed],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let now = try ReportTime.of(invocation)
    let manifest = try DeviceState.manifest(invocation)
    DeviceState.warnOfExpiry(manifest, at: now, invocation, output)
    var table = Table([.right, .left, .left])
    var files: [JSONResult] = []
    for (path, file) in manifest.targets.payload.all {
      if output.isJSON {
        files.append(json(path, file))
      } else {
        table.append(["\(file.byteCount)", "\(file.hashes.sha256)", EscapedText(bytes: path.name.bytes)])
      }
    }
    output.table(table)
    output.report("files", .array(files))
    return .done
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
