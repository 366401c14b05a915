internal import CommandLineSupport
internal import FleetSimulator
internal import TUFMetadata

/// A drill's report as one page of HTML: nothing is loaded from elsewhere, nothing runs, and it prints as it stands.
struct DrillPage {
  let text: String

  init(_ report: DrillReport) {
    var page = Self.head(report)
    page += Self.summary(report)
    for (isReplay, heading) in [(true, "The published bytes, unmodified"), (false, "The same structure with throw-away keys")] {
      page += "<h2>\(heading)</h2>\n"
      for (scenario, findings) in report.scenarios where scenario.isReplay == isReplay { page += Self.section(scenario, findings) }
    }
    text = page + "</main>\n</body>\n</html>\n"
  }

  // MARK: Parts

  private static func head(_ report: DrillReport) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>Rotation drill of \(escaped(day(report))): \(report.passed ? "passed" : "failed")</title>
    <style>
    \(DrillPageStyle.text)
    </style>
    </head>
    <body>
    <main>

    """
  }

  private static func day(_ report: DrillReport) -> String { HumanReadable.date(secondsSince1970: report.now.secondsSince1970) }

  private static func summary(_ report: DrillReport) -> String {
    let failed = report.findings.filter { $0.result == .failed }
    var page = """
      <h1>Rotation drill</h1>
      <p class="verdict \(report.passed ? "passed" : "failed")">\(mark(report.passed ? .passed : .failed))
      \(report.passed ? "Everything that was played ended as it should." : "Something did not end as it should.")</p>
      <dl class="facts">
      <div><dt>Played at</dt><dd>\(escaped(report.now.description))</dd></div>
      <div><dt>Passed</dt><dd>\(report.count(.passed))</dd></div>
      <div><dt>Failed</dt><dd>\(report.count(.failed))</dd></div>
      <div><dt>Not run</dt><dd>\(report.count(.notRun))</dd></div>
      </dl>
      <p class="replay">To replay it: <code>manifest-sign drill --seed \(report.seed)</code></p>

      """
    if !failed.isEmpty {
      page += "<h2>What failed</h2>\n<ul>\n"
      for scenario in DrillScenario.allCases {
        let roles = failed.filter { $0.scenario == scenario }.map(\.role)
        guard !roles.isEmpty else { continue }
        page += "<li><a href=\"#\(scenario.rawValue)\">\(escaped(scenario.title))</a>: \(escaped(roles.joined(separator: ", ")))</li>\n"
      }
      page += "</ul>\n"
    }
    return page
  }

  private static func section(_ scenario: DrillScenario, _ findings: [DrillFinding]) -> String {
    let failedCount = findings.count { $0.result == .failed }
    let state = failedCount > 0 ? "\(failedCount) failed" : findings.contains { $0.result == .passed } ? "passed" : "not run"
    var page = """
      <section id="\(scenario.rawValue)">
      <h3>\(escaped(scenario.title)) <span class="state \(failedCount > 0 ? "failed" : "passed")">\(escaped(state))</span></h3>
      <p>\(escaped(scenario.summary)) <code>\(scenario.rawValue)</code></p>
      <table>
      <thead><tr><th>Result</th><th>For</th><th>Device</th><th>Expected</th><th>Observed</th><th>Without updates</th></tr></thead>
      <tbody>

      """
    for finding in findings {
      page += """
        <tr class="\(finding.result.rawValue)"><td data-label="Result">\(mark(finding.result))</td>\
        \(cell("For", finding.role))\(cell("Device", finding.device))\(cell("Expected", finding.expected))\
        \(cell("Observed", finding.observed))\(cell("Without updates", finding.outage.text))</tr>

        """
    }
    return page + "</tbody>\n</table>\n</section>\n"
  }

  private static func cell(_ label: String, _ text: String) -> String {
    "<td data-label=\"\(label)\"><span>\(escaped(text))</span></td>"
  }

  /// A sign and a word: colour only adds to them.
  private static func mark(_ result: DrillFinding.Result) -> String {
    switch result {
    case .passed: "<strong class=\"mark\">✓ passed</strong>"
    case .failed: "<strong class=\"mark\">✗ FAILED</strong>"
    case .notRun: "<strong class=\"mark\">– not run</strong>"
    }
  }

  // MARK: Escaping

  /// Names come from metadata that others wrote.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in EscapedText(text).text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
