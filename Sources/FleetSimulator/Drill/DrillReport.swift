package import TUFMetadata

/// All that a drill found.
package struct DrillReport: Sendable {
  package let seed: UInt64
  /// The time that the drill was played at.
  package let now: UTCTime
  package let findings: [DrillFinding]

  /// Whether nothing failed.
  package var passed: Bool { !findings.contains { $0.result == .failed } }

  package func count(_ result: DrillFinding.Result) -> Int { findings.count { $0.result == result } }

  /// The scenarios in their order, each with its rows.
  package var scenarios: [(scenario: DrillScenario, findings: [DrillFinding])] {
    DrillScenario.allCases.map { scenario in (scenario, findings.filter { $0.scenario == scenario }) }.filter { !$0.1.isEmpty }
  }
}
