internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata
internal import TrustStore

enum ExplainVerb {
  private static let file = Argument("FILE", "A file of the manifest, as its path below the base folder.")
  private static let base = Option.value("--base", "DIR", "The folder that the paths of the manifest begin in.", default: ".")

  static let verb = Verb(
    "explain", "Tell why a file is trusted, link by link, or which link does not hold.",
    arguments: [file],
    options: [DeviceState.state, DeviceState.root, base, ReportTime.option],
    discussion: [
      "Begins at the file and goes down to the root that was shipped: what the file is and should be, the role that lists it, the roles that delegate "
        + "to it, snapshot, timestamp and each root. Of each it tells version, expiry, and which keys have signed, of how many and how many must. Where "
        + "the file is not trusted, the first link that fails is marked and told with the reason; what depends on it stands there as it is kept, not verified.",
      "It works on a damaged or expired state too, changes nothing, and prints no secret: meant to be pasted into a bug report. That metadata has expired "
        + "is told and is no failure, for it never stops the use of what is installed.",
      "With --json: {\"tool\",\"version\",\"time\",\"state\",\"newest_refresh\",\"clock\":{\"verdict\",\"reason\"},\"base\",\"path\",\"trusted\",\"file\":{\"verdict\",\"length\",\"sha256\",\"found\":{\"length\",\"sha256\"},\"unreadable\",\"reason\"},"
        + "\"searched\":[ROLE…],"
        + "\"links\":[{\"role\",\"version\",\"expires\",\"expired\",\"verdict\",\"signed\":[{\"delegator\",\"threshold\",\"keys\",\"signers\"}…],\"reason\"}…]}, the "
        + "shipped root first; where the state as a whole can't be used, one link of the role state. A verdict is one of: holds, fails, not reached.",
      "The exit code is that of the first link that fails.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .disk, .locked, .malformed],
    examples: [.init("manifest-verify explain --state trust --base models org/name/1.0/weights.gguf", "why one file is trusted")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let now = try ReportTime.of(invocation)
    let text = invocation.required(file.name)
    let folder = invocation.required(base.name)
    let paths = CheckRequest.paths(text, below: folder)
    guard let first = paths.first else {
      throw Failure(
        .usage, "no file of a manifest can have this path", expected: "a relative path below the base folder, without . and ..", found: text
      )
    }
    let report = ExplanationReport(output, now)
    report.begin(state: try DeviceState.folder(invocation), base: folder)
    var explanation: TrustExplanation
    do { explanation = try explain(paths, first, invocation, report) } catch let error where !(error is Interrupted) {
      // The state itself can't be used: what the file is can be told all the same.
      report.show(first, measurement: measure(first, below: folder), Failure(explaining: error, program: invocation.program))
      throw error
    }
    let path = explanation.path
    explanation.examine("\(folder)/\(path)") { () throws(FileError) in try open(path, below: folder) }
    report.show(explanation)
    guard let error = explanation.failure else { return .done }
    var failure = Failure(error)
    switch error {
    case .neverRefreshed, .notKept, .refusedAtRefresh, .damagedState, .missingFromState, .unusableState, .gapInRoots, .thresholdNotMet:
      do { try DeviceState.explaining(invocation) { () throws(VerificationError) in throw error } } catch { failure = error }
    case .file(let fault) where fault.errno == .notFound:
      failure.code = .fileMismatch
      failure.hint = "get the file, or name the folder with \(base.name)"
    default: break
    }
    output.show(failure)
    return failure.code
  }

  /// Explains the path that is listed, or the likeliest of those that may be meant.
  private static func explain(
    _ paths: [TargetPath], _ first: TargetPath, _ invocation: Invocation, _ report: ExplanationReport
  ) throws -> TrustExplanation {
    let store = try TrustReader(DeviceState.folder(invocation))
    var (anchor, stored, faults) = store.inspect()
    if let given = try DeviceState.givenRoot(invocation) { anchor = given }
    report.tellNewestRefresh(stored)
    func explanation(of path: TargetPath) -> TrustExplanation {
      TrustExplanation(of: path, anchor: anchor, stored: stored, faults: faults) { name throws(VerificationError) in try store.kept(name) }
    }
    let likeliest = explanation(of: first)
    guard likeliest.listed == nil else { return likeliest }
    for path in paths.dropFirst() {
      let other = explanation(of: path)
      if other.listed != nil { return other }
    }
    return likeliest
  }

  private static func measure(_ path: TargetPath, below folder: String) -> Result<FileMeasurement, FileError> {
    do throws(FileError) {
      return .success(try FileMeasurement(of: try open(path, below: folder), path: "\(folder)/\(path)"))
    } catch { return .failure(error) }
  }

  private static func open(_ path: TargetPath, below folder: String) throws(FileError) -> FileDescriptor {
    var check = try FileCheck(below: folder, method: .every)
    return try FileError.describing(.open, "\(folder)/\(path)") { () throws(Errno) in try check.open(path) }
  }
}
