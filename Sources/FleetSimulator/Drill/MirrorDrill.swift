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

  // MARK: Crash

  /// One piece of work of the publisher's, and the files that it writes, in their order.
  struct Work {
    let name: String
    let before: SimulatedPublisher
    let after: SimulatedPublisher
    let writes: [String]
    /// Whether devices may have to wait until the publisher has finished.
    let mayInterrupt: Bool
  }

  func crash(in work: Work) throws(SimulationError) -> DrillFinding {
    var found: [String] = []
    var waiting: [String] = []
    let start = devices
    let writes = faults.contains(.timestampWrittenFirst) ? work.writes.reversed() : work.writes
    for count in 0...writes.count {
      var files = work.before.files
      for path in writes.prefix(count) { files[path] = work.after.files[path] }
      var devices = start
      for index in devices.indices {
        let outcome = devices[index].outcome(from: SimulatedMirror(files), at: now, [DrillGoal(work.before), DrillGoal(work.after)])
        guard let outcome else { continue }
        let place = "stopped after \(count) of \(writes.count) files, \(outcome)"
        if work.mayInterrupt { waiting.append(place) } else { found.append(place) }
      }
      found += faults(&devices, following: work.after, at: now).map { "after the publisher began again: \($0)" }
    }
    return DrillFinding(
      .publisherCrash, role: work.name, device: words(start),
      expected: work.mayInterrupt
        ? "each device sees the old state, the new one, or waits; all follow once the publisher has begun again"
        : "each device sees the old state or the new one; all follow once the publisher has begun again",
      good: "\(Words.count(writes.count + 1, "place")) to stop at; "
        + (waiting.isEmpty
          ? "no device had to wait"
          : "devices have to wait at \(Words.count(Set(waiting.map { $0.prefix { $0 != "," } }).count, "place"))"),
      faults: found, outage: waiting.isEmpty ? .none : .openEnded("until the publisher has finished"))
  }

  /// A publication, and the rotation of each top-level role.
  func works() throws(SimulationError) -> [Work] {
    var next = publisher
    try publishNext(&next, at: now)
    var works = [Work(name: "a publication", before: publisher, after: next, writes: writes(publisher, next), mayInterrupt: false)]
    for role in TopLevelRole.allCases {
      var next = publisher
      let rehearsed = RehearsedRole(role)
      try replaceKeys(&next, [(rehearsed, try newKeys(for: rehearsed))], at: now)
      try publishNext(&next, at: now)
      works.append(
        Work(
          name: "a rotation of \(role)", before: publisher, after: next, writes: writes(publisher, next), mayInterrupt: role != .root))
    }
    return works
  }

  /// The files in the order in which they are written: whatever is named comes before what names it, and the root right before the timestamp.
  private func writes(_ before: SimulatedPublisher, _ after: SimulatedPublisher) -> [String] {
    let changed = after.files.keys.filter { after.files[$0] != before.files[$0] }
    func rank(_ path: String) -> Int {
      switch path {
      case TopLevelRole.timestamp.fileName: 4
      case "\(after.root.version).root.json": 3
      case "\(after.snapshot.version).snapshot.json": 2
      case "\(after.targets.version).targets.json": 1
      default: 0
      }
    }
    return changed.sorted { (rank($0), $0) < (rank($1), $1) }
  }
}

extension DrillDevice {
  /// Refreshes, and has to come to one of several goals.
  /// - Returns: in words what was otherwise; nil where nothing was.
  fileprivate mutating func outcome(from mirror: SimulatedMirror, at now: UTCTime, _ goals: [DrillGoal]) -> String? {
    do throws(SimulationError) {
      let manifest = try refresh(from: [mirror], at: now)
      // Between the root and the timestamp the old publication is seen under the new root.
      let isKnown = goals.contains { goal in
        goal.timestamp == manifest.timestamp.payload.version && goal.targets == manifest.targets.payload.version
      }
      return isKnown ? nil : "\(name): it trusts targets \(manifest.targets.payload.version)"
    } catch { return "\(name): \(error)" }
  }
}
