internal import ManifestSigning
internal import TUFMetadata

/// Keys that are lost, one at a time.
extension Rehearsal {
  func losses(of role: RehearsedRole) throws(SimulationError) -> [DrillFinding] {
    var findings: [DrillFinding] = []
    for key in publisher.keys(of: role) { findings.append(try loss(of: key, role)) }
    return findings
  }

  private func loss(of lost: SimulatedKey, _ role: RehearsedRole) throws(SimulationError) -> DrillFinding {
    let left = publisher.keys(of: role).filter { $0.key.id != lost.key.id }
    let threshold = publisher.threshold(of: role)
    let isEnough = left.count >= threshold
    let rootIsEnough = publisher.root.keys.count >= publisher.root.threshold
    let spare = try publisher.key("spare for \(lost.name)")
    var next = publisher
    var time = now
    var devices = self.devices
    let words = words(devices)
    var found: [String] = []
    var good: String
    var outage = DrillFinding.Outage.none
    if role.isRoot, !isEnough || !rootIsEnough {
      found.append(
        "root can never be changed again: it needs \(threshold) signatures and \(left.count) of its keys are left. Before that happens, add a "
          + "key or lower the threshold")
      good = ""
    } else if role.isRoot {
      try exchange(&next, role, [(old: lost, new: spare)], .replace, without: lost, at: now)
      good = "the other \(left.count) sign root \(next.root.version), which replaces it"
    } else if isEnough {
      time = dueTime(role, of: publisher)
      try refresh(&next, without: lost, at: time)
      good = "the other \(left.count) sign when it is due; replace it when there is time"
    } else {
      try exchange(&next, role, [(old: lost, new: spare)], .replace, without: lost, at: now)
      let deadline = publisher.expiry(of: role)
      let who = if case .topLevel = role.kind { "root \(next.root.version)" } else { "the delegating role" }
      good = "nothing can be signed until \(who) replaces it: every key of this role is needed. That must be done before the role expires"
      outage = .lasting(0, "none, if it is replaced within \(Words.duration(deadline.secondsSince1970 - now.secondsSince1970))")
    }
    if found.isEmpty { found = faults(&devices, following: next, at: time) }
    return DrillFinding(
      .keyLoss, role: "\(role.words): \(name(of: lost))", device: words,
      expected: role.isRoot ? "the other root keys can replace it, and all follow" : "the role can still be signed, and all follow",
      good: good, faults: found, outage: outage)
  }
}
