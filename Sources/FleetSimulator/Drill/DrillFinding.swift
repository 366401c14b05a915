/// One row of a drill's report.
package struct DrillFinding: Equatable, Sendable {
  package enum Result: String, Sendable {
    case passed, failed
    /// Nothing could be told: the second client is not installed, say. That is not a failure.
    case notRun = "not-run"
  }

  /// How long devices are without updates in such a case.
  package struct Outage: Equatable, Sendable {
    /// Nil where it has no end of its own.
    package let seconds: Int64?
    package let text: String

    package static let none = Outage(seconds: 0, text: "none")

    package static func lasting(_ seconds: Int64, _ text: String) -> Outage { Outage(seconds: seconds, text: text) }
    package static func openEnded(_ text: String) -> Outage { Outage(seconds: nil, text: text) }
  }

  /// Stands for a device where the files are held against one another.
  package static let noDevice = "no device"

  package let scenario: DrillScenario
  /// What it is played for: a role, a key, a file.
  package let role: String
  package let device: String
  package let expected: String
  package let observed: String
  package let result: Result
  package let outage: Outage

  init(
    _ scenario: DrillScenario, role: String, device: String, expected: String, observed: String, result: Result,
    outage: Outage = .none
  ) {
    self.scenario = scenario
    self.role = role
    self.device = device
    self.expected = expected
    self.observed = observed
    self.result = result
    self.outage = outage
  }

  /// - Parameter faults: what was not as expected; none where all was.
  init(
    _ scenario: DrillScenario, role: String, device: String, expected: String, good: String, faults: [String], outage: Outage = .none
  ) {
    let shown = 5
    var observed = faults.prefix(shown).joined(separator: "; ")
    if faults.count > shown { observed += "; and \(faults.count - shown) more" }
    self.init(
      scenario, role: role, device: device, expected: expected, observed: faults.isEmpty ? good : observed,
      result: faults.isEmpty ? .passed : .failed, outage: faults.isEmpty ? outage : .openEnded("until it is mended"))
  }
}
