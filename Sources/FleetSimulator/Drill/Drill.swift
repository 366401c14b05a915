package import TUFMetadata

/// A rehearsal of everything that can happen to keys and mirrors, on what is published now: its bytes are replayed to devices of every age, and
/// then its structure is told again with throw-away keys, and played, the publisher's part by the code that real ceremonies run on, in temporary
/// folders. Nothing else is written, and no secret is needed.
package struct Drill: Sendable {
  private let material: DrillMaterial
  private let seed: UInt64
  private let now: UTCTime
  private let days: Int?
  private let faults: Set<DrillFault>
  private let scenarios: Set<DrillScenario>
  private let peer: Result<PeerClient, PeerProblem>
  private let temporaryFolder: String

  /// - Parameters:
  ///   - seed: what the throw-away keys derive from: whatever happens in a drill happens again with the same seed.
  ///   - now: the time that it is played at.
  ///   - days: for how many days everything published must last; nil for half of each role's renewal window.
  ///   - faults: what a test plants.
  ///   - scenarios: those that are played with throw-away keys, of which a test may want some only.
  ///   - peer: the second client, or why there is none.
  ///   - temporaryFolder: where copies are laid out for a moment.
  package init(
    _ material: DrillMaterial, seed: UInt64, now: UTCTime, days: Int? = nil, faults: Set<DrillFault> = [],
    scenarios: Set<DrillScenario> = Set(DrillScenario.allCases), peer: Result<PeerClient, PeerProblem>, temporaryFolder: String
  ) {
    self.material = material
    self.seed = seed
    self.now = now
    self.days = days
    self.faults = faults
    self.scenarios = scenarios
    self.peer = peer
    self.temporaryFolder = temporaryFolder
  }

  /// Plays all scenarios.
  /// - Parameter willPlay: told of each before it is played; nothing more is where it returns false.
  /// - Returns: what was found; nil where it was stopped.
  package func run(_ willPlay: (DrillScenario) -> Bool = { _ in true }) -> DrillReport? {
    var findings: [DrillFinding] = []
    var trials: [PeerTrial] = []
    guard willPlay(.rootChain) else { return nil }
    findings += PublishedChecks(material: material, now: now, days: days).findings
    let replays = PublishedReplays(material: material, now: now, faults: faults)
    guard willPlay(.replayFresh) else { return nil }
    findings += Self.attempt(.replayFresh) { () throws(SimulationError) in try replays.findings() }
    trials += replays.trials
    guard let rehearsed = rehearse(willPlay, &trials) else { return nil }
    findings += rehearsed
    findings += followed(trials)
    return DrillReport(seed: seed, now: now, findings: findings)
  }

  private func rehearse(_ willPlay: (DrillScenario) -> Bool, _ trials: inout [PeerTrial]) -> [DrillFinding]? {
    let scenarios = DrillScenario.allCases.filter { !$0.isReplay && self.scenarios.contains($0) }
    let rehearsal: Rehearsal
    do { rehearsal = try Rehearsal(material, seed: seed, now: now, faults: faults, temporaryFolder: temporaryFolder) } catch {
      return scenarios.map { Self.unplayable($0, error) }
    }
    var findings: [DrillFinding] = []
    for scenario in scenarios {
      guard willPlay(scenario) else { return nil }
      findings += play(scenario, rehearsal, &trials)
    }
    return findings
  }

  private func play(_ scenario: DrillScenario, _ rehearsal: Rehearsal, _ trials: inout [PeerTrial]) -> [DrillFinding] {
    func each(_ roles: [RehearsedRole], _ body: (RehearsedRole) throws(SimulationError) -> [DrillFinding]) -> [DrillFinding] {
      roles.flatMap { role in Self.attempt(scenario, role.words) { () throws(SimulationError) in try body(role) } }
    }
    let roles = rehearsal.roles
    switch scenario {
    case .rotation: return each(roles) { (role) throws(SimulationError) in [try rehearsal.rotation(role, &trials)] }
    case .rotationOverlap: return each(roles) { (role) throws(SimulationError) in [try rehearsal.rotationWithOverlap(role, &trials)] }
    case .keyLoss: return each(roles) { (role) throws(SimulationError) in try rehearsal.losses(of: role) }
    case .compromise:
      return each(roles.filter { !$0.isRoot }) { (role) throws(SimulationError) in [try rehearsal.compromise(of: role)] }
    case .compromiseBelowThreshold:
      let guarded = roles.filter { rehearsal.publisher.threshold(of: $0) > 1 }
      guard !guarded.isEmpty else { return [Self.noThreshold] }
      return each(guarded) { (role) throws(SimulationError) in [try rehearsal.compromiseBelowThreshold(of: role)] }
    case .compromiseRootThreshold: return each([.root]) { (_) throws(SimulationError) in [try rehearsal.compromiseOfRoot()] }
    case .expiry:
      return each(roles + [rehearsal.bins].compactMap(\.self)) { (role) throws(SimulationError) in [try rehearsal.expiry(of: role)] }
    case .returnAfterYears: return each([.root]) { (_) throws(SimulationError) in [try rehearsal.returnAfterYears(&trials)] }
    case .missedRoot: return each([.root]) { (_) throws(SimulationError) in [try rehearsal.missedRoot(&trials)] }
    case .publisherCrash:
      return rehearsal.works.flatMap { work in
        Self.attempt(scenario, work.name) { () throws(SimulationError) in [try rehearsal.crash(in: work)] }
      }
    case .interruptedUpload:
      return rehearsal.works.flatMap { work in
        Self.attempt(scenario, work.name) { () throws(SimulationError) in [try rehearsal.interruption(of: work)] }
      }
    case .laggingMirror: return each([.timestamp]) { (_) throws(SimulationError) in [try rehearsal.laggingMirror()] }
    case .fastForward:
      let attacked: [TopLevelRole] = [.timestamp, .snapshot, .targets]
      return attacked.flatMap { role in
        Self.attempt(scenario, role.rawValue) { () throws(SimulationError) in [try rehearsal.fastForward(of: role)] }
      }
    case .rootChain, .keyIDs, .keyMembers, .cascade, .renewal, .catalog, .replayFresh, .replayCached, .replayFastForwarded, .replayOffline:
      return []
    }
  }

  private static let noThreshold = DrillFinding(
    .compromiseBelowThreshold, role: "all", device: DrillFinding.noDevice, expected: "what one key fewer than needed signs is refused",
    observed: "every threshold is 1: whoever steals one key has enough of them", result: .notRun)

  private static func attempt(
    _ scenario: DrillScenario, _ role: String = "all", _ body: () throws(SimulationError) -> [DrillFinding]
  ) -> [DrillFinding] {
    do { return try body() } catch { return [unplayable(scenario, error, role)] }
  }

  private static func unplayable(_ scenario: DrillScenario, _ error: SimulationError, _ role: String = "all") -> DrillFinding {
    DrillFinding(
      scenario, role: role, device: "all", expected: "it can be played", good: "", faults: ["it can't be played: \(error)"])
  }

  // MARK: The second client

  private func followed(_ trials: [PeerTrial]) -> [DrillFinding] {
    let problem: PeerProblem
    switch peer {
    case .success(let client):
      switch client.run(trials) {
      case .success(let outcomes):
        return trials.enumerated().map { number, trial in trial.finding(client.name, number < outcomes.count ? outcomes[number] : []) }
      case .failure(let reason): problem = reason
      }
    case .failure(let reason): problem = reason
    }
    var seen: Set<DrillScenario> = []
    return trials.filter { seen.insert($0.scenario).inserted }.map { trial in
      DrillFinding(
        trial.scenario, role: "all", device: "python-tuf", expected: "it follows as our own devices do", observed: problem.reason,
        result: .notRun, outage: .openEnded("not known"))
    }
  }
}
