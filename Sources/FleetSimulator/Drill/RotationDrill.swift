internal import ManifestSigning
internal import TUFMetadata

/// Scheduled rotations.
extension Rehearsal {
  func rotation(_ role: RehearsedRole, _ trials: inout [PeerTrial]) throws(SimulationError) -> DrillFinding {
    var next = publisher
    let new = try newKeys(for: role)
    if faults.contains(.rotationWithoutResigning) {
      try replaceKeys(&next, [(role, new)], at: now)
    } else {
      try exchange(&next, role, pairs(role, new), .replace, at: now)
    }
    if faults.contains(.newRootUnsignedByOldKeys), role.isRoot { try signRoot(&next, by: new) }
    var devices = self.devices
    let words = words(devices)
    let faults = faults(&devices, following: next, at: now)
    let expected = "all follow to \(DrillGoal(next).words)"
    trials.append(trial(.rotation, role, expected, [(publisher, now), (next, now)]))
    return DrillFinding(
      .rotation, role: role.words, device: words, expected: expected, good: "all follow in their next refresh", faults: faults)
  }

  func rotationWithOverlap(_ role: RehearsedRole, _ trials: inout [PeerTrial]) throws(SimulationError) -> DrillFinding {
    let old = publisher.keys(of: role)
    let new = try newKeys(for: role)
    var overlap = publisher
    try exchange(&overlap, role, pairs(role, new), faults.contains(.overlapEndsAtOnce) ? .replace : .overlap, at: now)
    var travellers = devices
    var found = faults(&travellers, following: overlap, at: now)
    // In the overlap each group is enough by itself, for devices that saw the first root and for those that did not.
    for (signers, group) in [(old, "the old keys alone"), (new, "the new keys alone")] {
      var next = overlap
      if role.isRoot {
        try renewRoot(&next, at: now)
        try signRoot(&next, by: signers)
      } else {
        next.setSigners(of: role, signers)
      }
      try publishNext(&next, at: now)
      var devices = mixed(travellers)
      found += faults(&devices, following: next, at: now).map { "signed by \(group): \($0)" }
    }
    var end = overlap
    if !faults.contains(.overlapEndsAtOnce) { try exchange(&end, role, pairs(role, new), .dropOld, at: now) }
    var devices = mixed(travellers)
    let words = words(devices)
    found += faults(&devices, following: end, at: now)
    trials.append(
      trial(.rotationOverlap, role, "it follows all three to \(DrillGoal(end).words)", [(publisher, now), (overlap, now), (end, now)]))
    return DrillFinding(
      .rotationOverlap, role: role.words, device: words,
      expected: "in the overlap the old keys alone do and so do the new ones; at the end all follow to \(DrillGoal(end).words)",
      good: "so it was, for devices that saw the overlap and for those that did not", faults: found)
  }

  /// Devices of which every other one has gone through something, and the rest has not.
  private func mixed(_ travellers: [DrillDevice]) -> [DrillDevice] {
    zip(travellers, devices).enumerated().map { $0.offset.isMultiple(of: 2) ? $0.element.0 : $0.element.1 }
  }

  func returnAfterYears(_ trials: inout [PeerTrial]) throws(SimulationError) -> DrillFinding {
    let years = 5
    var next = publisher
    var time = now
    for year in 1...years {
      time = now.adding(days: 365 * year)
      let role = roles[(year - 1) % roles.count]
      try refresh(&next, at: time)
      try exchange(&next, role, pairs(role, try newKeys(for: role, "year \(year)"), in: next), .replace, at: time)
    }
    var mirror = SimulatedMirror(next.files)
    if faults.contains(.oldRootsRemoved) {
      for path in mirror.files.keys where path.hasSuffix(".root.json") && path != "\(next.root.version).root.json" {
        mirror.files[path] = nil
      }
    }
    var devices = self.devices
    let words = words(devices)
    let found = faults(&devices, following: next, from: [mirror], at: time)
    let expected = "all follow to \(DrillGoal(next).words)"
    trials.append(trial(.returnAfterYears, .root, expected, [(publisher, now), (next, time)]))
    return DrillFinding(
      .returnAfterYears, role: "root", device: words, expected: expected,
      good: "all follow in one refresh, over roots that had expired long ago",
      faults: found)
  }

  /// Each key of a role with the new one for it.
  func pairs(
    _ role: RehearsedRole, _ new: [SimulatedKey], in publisher: SimulatedPublisher? = nil
  ) -> [(old: SimulatedKey, new: SimulatedKey)] {
    zip((publisher ?? self.publisher).keys(of: role), new).map { (old: $0, new: $1) }
  }

  /// The same for the second client.
  private func trial(
    _ scenario: DrillScenario, _ role: RehearsedRole, _ expected: String, _ steps: [(SimulatedPublisher, UTCTime)]
  ) -> PeerTrial {
    PeerTrial(
      scenario: scenario, role: role.words, device: "up to date before", expected: expected, anchor: publisher.anchor,
      steps: steps.map { PeerTrial.Step(files: $0.files, now: $1, goal: DrillGoal($0)) })
  }
}
