internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

/// Keys that are stolen.
extension Rehearsal {
  /// As many keys of a role other than root as it needs are stolen, and replaced.
  func compromise(of role: RehearsedRole) throws(SimulationError) -> DrillFinding {
    let keys = publisher.keys(of: role)
    let stolen = Array(keys.prefix(publisher.threshold(of: role)))
    let spares = try newKeys(for: role, "after the theft")
    var next = publisher
    if faults.contains(.stolenKeyStays) {
      try replaceKeys(&next, [(role, keys + spares.prefix(stolen.count))], at: now)
      try publishNext(&next, at: now)
    } else {
      try exchange(&next, role, zip(stolen, spares).map { (old: $0, new: $1) }, .compromised, at: now)
    }
    var devices = self.devices
    let words = words(devices)
    var found = faults(&devices, following: next, at: now)
    let forged = try forge(next, role, by: stolen, at: now)
    found += faults(&devices, refusing: [forged], at: now) { $0.isUnsigned(role) }
    return DrillFinding(
      .compromise, role: role.words, device: words,
      expected: "after the keys are replaced all follow, and none accepts what the stolen ones sign",
      good: "all follow in their next refresh, and refuse what the stolen keys sign; \(exposure(of: role))", faults: found)
  }

  /// What a thief can do before devices have refreshed.
  private func exposure(of role: RehearsedRole) -> String {
    guard role == .timestamp else { return "without the timestamp key a thief reaches no device with them" }
    let left = publisher.snapshot.expires.secondsSince1970 - now.secondsSince1970
    return "a device that the thief keeps from the new root can be held at what was published until the snapshot expires, at most "
      + Words.duration(left)
  }

  /// One key fewer than a role needs is stolen.
  func compromiseBelowThreshold(of role: RehearsedRole) throws(SimulationError) -> DrillFinding {
    let stolen = Array(publisher.keys(of: role).prefix(publisher.threshold(of: role) - 1))
    var current = publisher
    if faults.contains(.thresholdOneLower), case .topLevel(let name) = role.kind {
      try current.rotate { $0[name].threshold -= 1 }
      try publishNext(&current, at: now)
    }
    var devices = self.devices
    let words = words(devices)
    let forged = role.isRoot ? try forgeRoot(current, by: stolen, at: now).mirror : try forge(current, role, by: stolen, at: now)
    var found = faults(&devices, refusing: [forged], at: now) { $0.isUnsigned(role) }
    let spares = try newKeys(for: role, "after the theft")
    let left = current.keys(of: role).filter { key in !stolen.contains { $0.key.id == key.key.id } }
    // Those that were not stolen sign, as far as they are enough: what the thief holds need not.
    let honest = left.count >= current.threshold(of: role) ? left + spares : nil
    try replaceKeys(
      &current, [(role, left + spares.prefix(stolen.count))], at: now, rootSigners: role.isRoot ? honest : nil)
    // The thief's publication, otherwise a right one, has used up the next versions.
    try publishNext(&current, at: now)
    try publishNext(&current, at: now)
    found += faults(&devices, following: current, at: now)
    return DrillFinding(
      .compromiseBelowThreshold, role: role.words, device: words,
      expected: "what \(Words.count(stolen.count, "stolen key")) sign is refused; once replaced, all follow",
      good: "refused by all; all follow to \(DrillGoal(current).words)", faults: found)
  }

  /// As many root keys are stolen as root needs.
  func compromiseOfRoot() throws(SimulationError) -> DrillFinding {
    let stolen = Array(publisher.root.keys.prefix(publisher.root.threshold))
    let (thief, forged) = try forgeRoot(publisher, by: stolen, at: now)
    var devices = self.devices
    let words = words(devices)
    var found = faults(&devices, following: forged, at: now)
    // The publisher answers with a root of its own: those who follow the thief never will follow it.
    var answer = publisher
    try replaceKeys(&answer, [(.root, try newKeys(for: .root))], at: now)
    try renewRoot(&answer, at: now)
    try publishNext(&answer, at: now)
    found += faults(&devices, refusing: [SimulatedMirror(answer.files)], at: now) { $0.isUnsigned(.root) || $0.isUnsigned(.timestamp) }
    // A new root, in an update of the app that forgets what was trusted before.
    let fresh = try SimulatedPublisher(seed: publisher.seed ^ 1, expires: now.adding(days: 1)) { (fresh) throws(SimulationError) in
      fresh.targets.targets = publisher.targets.targets
    }
    let shipped = faults.contains(.appShipsStolenRoot) ? publisher.anchor : fresh.anchor
    for index in devices.indices { devices[index] = DrillDevice(devices[index].name + ", updated", SimulatedDevice(anchor: shipped)) }
    var deceived = devices
    found += faults(&deceived, refusing: [thief], at: now) { _ in true }
    found += faults(&devices, following: fresh, at: now)
    return DrillFinding(
      .compromiseRootThreshold, role: "root", device: words,
      expected:
        "no cure in band: devices follow the thief and refuse the publisher from then on; an app update that ships a new root and begins "
        + "with empty trust cures them",
      good:
        "as expected: with \(Words.count(stolen.count, "stolen root key")) the thief takes over every device that he reaches; after the app "
        + "update all follow the new root",
      faults: found, outage: .openEnded("until an update of the app, with a new root, is installed"))
  }

  /// A thief signs the highest version that there is, with the keys of a role and of those above it.
  func fastForward(of role: TopLevelRole) throws(SimulationError) -> DrillFinding {
    let order: [TopLevelRole] = [.timestamp, .snapshot, .targets]
    let stolen = Array(order.prefix((order.firstIndex(of: role) ?? 0) + 1))
    var attack = publisher
    for name in stolen {
      attack[name].version = Version(Int64.max) ?? .first
      attack[name].signers = Array(attack[name].keys.prefix(attack[name].threshold))
    }
    try attack.publish()
    var devices = self.devices
    let words = words(devices)
    var found = faults(&devices, following: attack, at: now).map { "in the attack: \($0)" }
    var next = publisher
    try publishNext(&next, at: now)
    var stuck = devices
    found += faults(&stuck, refusing: [SimulatedMirror(next.files)], at: now) { $0.isRolledBack }
    var changes: [(RehearsedRole, [SimulatedKey])] = []
    for name in stolen {
      let new = try newKeys(for: RehearsedRole(name))
      changes.append((RehearsedRole(name), faults.contains(.fastForwardedKeyStays) ? publisher[name].keys + new : new))
    }
    try replaceKeys(&next, changes, at: now)
    try publishNext(&next, at: now)
    found += faults(&devices, following: next, at: now)
    return DrillFinding(
      .fastForward, role: role.rawValue, device: words,
      expected: "stuck until the keys are replaced, then all follow to \(DrillGoal(next).words)",
      good: "all recover in their next refresh after root \(next.root.version)", faults: found,
      outage: .openEnded("until root replaces the keys"))
  }
}
