package import TUFMetadata

/// What the second client is to follow: a device that refreshes once or several times, keeping its cache.
package struct PeerTrial: Sendable {
  package struct Step: Sendable {
    /// What the mirror serves, by URL path.
    package let files: [String: [UInt8]]
    package let now: UTCTime
    let goal: DrillGoal
  }

  /// What became of one step.
  package enum Outcome: Equatable, Sendable {
    /// The versions that are trusted.
    case trusts(root: Int64, timestamp: Int64, targets: Int64)
    case refused(String)
  }

  let scenario: DrillScenario
  let role: String
  let device: String
  let expected: String
  package let anchor: [UInt8]
  package let steps: [Step]

  /// - Parameters:
  ///   - client: what the second client is called.
  ///   - outcomes: of the steps, in their order.
  func finding(_ client: String, _ outcomes: [Outcome]) -> DrillFinding {
    var faults: [String] = []
    for (number, step) in steps.enumerated() {
      let prefix = steps.count > 1 ? "refresh \(number + 1): " : ""
      guard number < outcomes.count else {
        faults.append(prefix + "it gave no answer")
        break
      }
      switch outcomes[number] {
      case .refused(let reason): faults.append(prefix + reason)
      case .trusts(let root, let timestamp, let targets):
        let wanted = [step.goal.root.number, step.goal.timestamp.number, step.goal.targets.number]
        if wanted != [root, timestamp, targets] {
          faults.append(prefix + "it stays at root \(root), timestamp \(timestamp), targets \(targets)")
        }
      }
    }
    return DrillFinding(
      scenario, role: role, device: "\(client), \(device)", expected: expected, good: steps.last?.goal.words ?? "nothing to do",
      faults: faults)
  }
}

/// A second TUF client that is run beside our own.
package struct PeerClient: Sendable {
  /// `python-tuf 7.0.1`
  package let name: String
  /// Runs all trials, each with a cache of its own.
  /// - Returns: the outcomes of each trial's steps; or why it can't be run, in words.
  package let run: @Sendable ([PeerTrial]) -> Result<[[PeerTrial.Outcome]], PeerProblem>

  package init(name: String, run: @escaping @Sendable ([PeerTrial]) -> Result<[[PeerTrial.Outcome]], PeerProblem>) {
    self.name = name
    self.run = run
  }
}

/// Why the second client can't be run.
package struct PeerProblem: Error, Equatable, Sendable {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
