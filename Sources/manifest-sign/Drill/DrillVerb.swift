internal import CommandFailures
internal import CommandLineSupport
internal import FileIO
internal import FleetSimulator
internal import ManifestSigning
internal import TUFMetadata

enum DrillVerb {
  private static let page = Option.value("--html", "FILE", "Write the report as one HTML page too.")
  private static let seed = Option.integer("--seed", "N", "Replay the drill of this number.", in: 0...Int.max)
  private static let days = Option.integer(
    "--days", "N", "For how many days everything published must last; half of each role's renewal window otherwise.", in: 0...36_500)
  private static let python = Option.value(
    "--python", "PATH", "The Python that has python-tuf, the second client; otherwise the first python3 on PATH.")

  static let verb = Verb(
    "drill", "Rehearse lost, stolen and expired keys against simulated devices of every age.",
    options: [RepositoryOptions.repository, page, seed, days, python, ReportTime.option],
    discussion: [
      "First the published bytes are replayed, unmodified, to devices that shipped with each published root: fresh, up to date, fast-forwarded by a "
        + "thief, offline for years. Then every key is replaced by a throw-away one, and rotations, losses, thefts, expiries, crashes and bad "
        + "mirrors are played on that copy, in memory.",
      "Nothing in the repository is changed, no secret key is looked for and no passphrase asked for. Where python-tuf is installed it plays the part of "
        + "the device as well.",
    ],
    exitCodes: [.disk, .malformed, .found],
    examples: [.init("manifest-sign drill --html drill.html", "rehearse, and keep a report to show around")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let now = try ReportTime.of(invocation)
    let material = try DrillMaterial(RepositoryOptions.publishedLayout(invocation))
    guard material.isPublished else {
      throw Failure(.failure, "nothing is published yet", hint: "run manifest-sign publish DIR")
    }
    if let file = invocation.value(page.name) { try requireWritable(file) }
    let path = invocation.value(python.name)
    let peer = PythonTUF.client(path, searchPath: Surroundings.variable("PATH"))
    if let path, case .failure(let problem) = peer {
      throw Failure(.failure, "python-tuf can't be run: \(problem.reason)", at: path, hint: "install it there: PATH -m pip install tuf")
    }
    // Short enough to be typed again.
    let number = UInt64(invocation.integer(seed.name) ?? Int.random(in: 0...999_999_999))
    let drill = Drill(
      material, seed: number, now: now, days: invocation.integer(days.name), peer: peer,
      temporaryFolder: Surroundings.variable("TMPDIR") ?? "/tmp")
    let progress = output.progress("drill", files: UInt64(DrillScenario.allCases.count))
    let played = drill.run { scenario in
      progress.advance(files: 1)
      progress.begin("\(scenario.title)")
      return !Interruption.isRequested
    }
    progress.finish()
    guard let report = played else { throw Failure(.interrupted, "interrupted", hint: "nothing was changed; run the drill again") }
    show(report, output)
    if let file = invocation.value(page.name) {
      try replaceFile(at: file, with: Array(DrillPage(report).text.utf8))
      output.line("The report is in \(file).")
    }
    return report.passed ? .done : .found
  }

  /// A page that can't be written is better known before minutes of a drill than after them.
  private static func requireWritable(_ path: String) throws(FileError) {
    guard try FileSystem.statusIfPresent(of: path, followingLinks: true)?.kind != .directory else {
      throw .system(.create, path: path, .isDirectory)
    }
    _ = try TemporaryFile(for: path, permissions: 0o644)
  }

  // MARK: Showing

  private static func show(_ report: DrillReport, _ output: Output) {
    var table = Table([("RESULT", .left), ("SCENARIO", .left), ("FOR", .left), ("DEVICE", .left), ("WITHOUT UPDATES", .left)])
    for line in lines(report) { table.append(line) }
    output.table(table)
    let failed = report.findings.filter { $0.result == .failed }
    for finding in failed {
      output.line()
      output.line("FAILED: \(finding.scenario.title) (\(finding.scenario.rawValue)), \(finding.role)", style: .bad)
      output.line("  device:   \(finding.device)")
      output.line("  expected: \(finding.expected)")
      output.line("  observed: \(finding.observed)")
    }
    for reason in Set(report.findings.filter { $0.result == .notRun }.map(\.observed)).sorted() { output.note("not run: \(reason)") }
    output.line()
    let counts = "\(report.count(.passed)) passed, \(report.count(.failed)) failed, \(report.count(.notRun)) not run"
    output.line("\(counts). Replay with --seed \(report.seed).", style: failed.isEmpty ? .good : .bad)
    output.report("passed", .bool(report.passed))
    output.report("seed", .count(report.seed))
    output.report("time", .string(report.now.description))
    output.report("scenarios", .array(report.findings.map(json)))
  }

  /// One line for each row, but one for all rows of a replay that passed: a repository may have a hundred roots.
  private static func lines(_ report: DrillReport) -> [[EscapedText]] {
    var lines: [[EscapedText]] = []
    for (scenario, findings) in report.scenarios {
      let passed = findings.filter { $0.result == .passed }
      let isShort = scenario.isReplay && passed.count > 1
      if isShort {
        for (client, rows) in Dictionary(grouping: passed, by: { $0.client }).sorted(by: { $0.key < $1.key }) {
          let outages = Set(rows.map(\.outage.text))
          lines.append(
            [
              "\(word(.passed))", "\(scenario.rawValue)", "\(roles(rows.map(\.role)))", "\(client)",
              "\(outages.sorted().joined(separator: "; "))",
            ])
        }
      }
      for finding in findings where !isShort || finding.result != .passed {
        lines.append(
          ["\(word(finding.result))", "\(scenario.rawValue)", "\(finding.role)", "\(finding.client)", "\(finding.outage.text)"])
      }
    }
    return lines
  }

  private static func roles(_ names: [String]) -> String {
    let shown = 4
    return names.prefix(shown).joined(separator: ", ") + (names.count > shown ? " and \(names.count - shown) more" : "")
  }

  private static func word(_ result: DrillFinding.Result) -> String {
    switch result {
    case .passed: "passed"
    case .failed: "FAILED"
    case .notRun: "not run"
    }
  }

  private static func json(_ finding: DrillFinding) -> JSONResult {
    [
      "id": .string(finding.scenario.rawValue), "role": .string(finding.role), "device": .string(finding.device),
      "expected": .string(finding.expected), "observed": .string(finding.observed),
      "passed": finding.result == .notRun ? .null : .bool(finding.result == .passed), "result": .string(finding.result.rawValue),
      "without_updates": .string(finding.outage.text),
      "without_updates_seconds": finding.outage.seconds.map { .integer($0) } ?? .null,
    ]
  }
}

extension DrillFinding {
  /// Which client played: in a table there is no room for more.
  fileprivate var client: String {
    device.hasPrefix("python-tuf") ? String(device.prefix { $0 != "," }) : device == DrillFinding.noDevice ? "-" : "own"
  }
}
