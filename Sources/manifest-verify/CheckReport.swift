internal import CommandFailures
internal import CommandLineSupport
internal import ManifestVerifier
internal import TUFMetadata

/// Tells what a check finds as it goes, and the sum of it at the end.
final class CheckReport {
  private let output: Output
  private var progress: Progress?
  private var checkedCount = 0
  private var failedCount = 0
  private var code = ExitCode.done
  private var absent: [ByteString] = []
  private var files: [JSONResult] = []
  private var refusals: [JSONResult] = []

  init(_ output: Output) { self.output = output }

  /// - Parameter byteCounts: asked for only where a bar is drawn, for adding them up reads the whole manifest; nil where they are not known.
  func begin(fileCount: Int, byteCounts: () -> [Int64]?) {
    var bytes: UInt64?
    if output.drawsProgress {
      bytes = byteCounts()?.reduce(0) { sum, count in
        let (next, overflow) = sum.addingReportingOverflow(UInt64(max(count, 0)))
        return overflow ? .max : next
      }
    }
    progress = output.progress("Checking", bytes: bytes, files: UInt64(max(fileCount, 0)))
  }

  /// Checks one file.
  /// - Parameter mayBeAbsent: where it is not there, that is noted and no fault.
  func run(_ check: inout FileCheck, _ path: TargetPath, _ file: TargetFile, mayBeAbsent: Bool = false) throws(Interrupted) {
    if output.drawsProgress { progress?.begin(EscapedText(bytes: path.name.bytes)) }
    let outcome = try check.check(path, file) { [progress] count in progress?.advance(bytes: UInt64(max(count, 0))) }
    progress?.advance(files: 1)
    if mayBeAbsent, case .missing = outcome { return absent.append(path.name) }
    add(CheckedFile(path: path.name, file: file, outcome: outcome))
  }

  func add(_ checked: CheckedFile) {
    checkedCount += 1
    if output.isJSON { files.append(checked.json) }
    guard checked.exitCode != .done else { return }
    failedCount += 1
    weigh(checked.exitCode)
    if output.isJSON { return }
    output.line("\(EscapedText(bytes: checked.path.bytes)): \(checked.status)", style: .bad)
    for line in checked.details { output.line(line) }
  }

  /// Tells of a delegated role that can't be trusted, so that files may be missing from the check.
  func add(_ refusal: DelegationWalk.Refusal) {
    weigh(Failure(refusal.error).code)
    refusals.append([
      "role": .string(refusal.role.description), "delegator": .string(refusal.delegator.description),
      "reason": .string(refusal.error.description),
    ])
    output.line("the delegated role \(refusal.role) can't be used, and its files are not known: \(refusal.error)", style: .bad)
  }

  /// One file that differs weighs more than any number whose metadata can't be trusted, and these more than any that can't be read.
  private func weigh(_ new: ExitCode) {
    if code == .done || code == .disk || new == .fileMismatch { code = new }
  }

  /// Takes the progress bar away.
  func finish() { progress?.finish() }

  func conclude() -> ExitCode {
    finish()
    output.report("files", .array(files))
    output.report("roles", .array(refusals))
    output.report("failed", .count(failedCount))
    output.report("absent", .array(absent.map { .string($0.description) }))
    if !absent.isEmpty {
      let names = absent.prefix(3).map(\.description).joined(separator: ", ") + (absent.count > 3 ? " and \(absent.count - 3) more" : "")
      output.note("not there, which is no fault: \(names)")
    }
    let files = HumanReadable.grouped(checkedCount) + (checkedCount == 1 ? " file" : " files")
    guard code != .done else {
      output.line("\(files) checked: all as signed.", style: .good)
      return .done
    }
    output.show(
      Failure(
        code, failedCount > 0 ? "\(HumanReadable.grouped(failedCount)) of \(files) failed the check" : "not all files could be known",
        hint: hint))
    return code
  }

  private var hint: String {
    switch code {
    case .disk: "run the check as a user who may read them"
    case .fileMismatch: "do not use the files named above; get them again, then check again"
    default: "refresh the metadata, then check again; explain tells more of one file"
    }
  }
}
