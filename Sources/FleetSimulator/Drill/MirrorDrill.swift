internal import ManifestVerifier
internal import TUFMetadata

/// Mirrors that miss something, and a publisher that is cut off in the middle.
extension Rehearsal {
  func missedRoot(_ trials: inout [PeerTrial]) throws(SimulationError) -> DrillFinding {
    var next = publisher
    try replaceKeys(&next, [(.timestamp, try newKeys(for: .timestamp))], at: now)
    try publishNext(&next, at: now)
    let complete = SimulatedMirror(next.files)
    var incomplete = complete
    let missed = "\(next.root.version).root.json"
    incomplete.files[missed] = nil
    var alone = devices
    let words = words(alone)
    var found = faults(&alone, refusing: [incomplete], at: now) { $0.isUnsigned(.timestamp) }
    var both = devices
    found += faults(&both, following: next, from: [incomplete, complete], at: now).map { "with a second mirror: \($0)" }
    let repaired = faults.contains(.mirrorStaysIncomplete) ? incomplete : complete
    found += faults(&alone, following: next, from: [repaired], at: now)
    trials.append(
      PeerTrial(
        scenario: .missedRoot, role: missed, device: "after the mirror is whole", expected: "it follows to \(DrillGoal(next).words)",
        anchor: publisher.anchor,
        steps: [(publisher, publisher.files), (next, repaired.files)].map { .init(files: $1, now: now, goal: DrillGoal($0)) }))
    return DrillFinding(
      .missedRoot, role: missed, device: words,
      expected: "refused for want of signatures as long as it is missing; a second mirror does; all follow once it is there",
      good: "nothing wrong was trusted; all follow to \(DrillGoal(next).words)", faults: found,
      outage: .openEnded("with this mirror alone until it has \(missed); with another one none"))
  }

  func laggingMirror() throws(SimulationError) -> DrillFinding {
    var current = publisher
    try publishNext(&current, at: now)
    let lagging = SimulatedMirror(current.files)
    let lifetime = lifetimes[.timestamp] ?? 1
    // A day, but no longer than half of what a timestamp lives.
    let later = UTCTime(secondsSince1970: now.secondsSince1970 + min(86_400, Int64(lifetime) * 43_200)) ?? now
    var next = current
    try publishNext(&next, at: later)
    var devices = self.devices
    let words = words(devices)
    var found = faults(&devices, following: current, from: [lagging], at: now)
    if faults.contains(.versionGivenTwice) {
      next.timestamp.version = .first
      try next.publish()
    }
    found += faults(&devices, following: next, at: later)
    found += faults(&devices, refusing: [lagging], at: later) { $0.isRolledBack }
    found += faults(&devices, following: next, from: [lagging, SimulatedMirror(next.files)], at: later)
    // Whoever knows only this mirror is frozen, but not for long.
    var frozen = self.devices
    found += faults(&frozen, following: current, from: [lagging], at: later)
    let end = current.timestamp.expires
    found += faults(&frozen, refusing: [lagging], at: end) { error in if case .expired = error { true } else { false } }
    return DrillFinding(
      .laggingMirror, role: "timestamp", device: words,
      expected: "versions never go down; a second mirror does; with the one alone devices notice when the timestamp expires",
      good: "so it was", faults: found,
      outage: .lasting(
        Int64(lifetime) * 86_400,
        "with this mirror alone at most the \(Words.count(lifetime, "day")) that a timestamp lives; with another one none")
    )
  }
}
