internal import ManifestVerifier
internal import TUFMetadata

/// Time that goes by.
extension Rehearsal {
  func expiry(of role: RehearsedRole) throws(SimulationError) -> DrillFinding {
    let top: TopLevelRole = if case .topLevel(let role) = role.kind { role } else { .targets }
    let lifetime = lifetimes[top] ?? 1
    let end = now.adding(days: lifetime)
    var current = publisher
    if role.isRoot { try renewRoot(&current, at: now) }
    let rootExpiry = current.root.expires
    Self.setExpiries(&current, lifetimes, end)
    if !role.isRoot {
      // The role alone expires: everything else lives longer.
      try replaceKeys(&current, [(.root, current.root.keys)], at: end)
      current.setExpiry(of: role, end)
    } else {
      current.root.expires = rootExpiry
    }
    try current.publishNext()
    var devices = self.devices
    let words = words(devices)
    guard let lastSecond = UTCTime(secondsSince1970: end.secondsSince1970 - 1) else { throw .unreachable(urlPath: "the year 10000") }
    var found = faults(&devices, following: current, at: lastSecond)
    found += faults(&devices, refusing: [SimulatedMirror(current.files)], at: end) { $0.isExpired(role) }
    for device in devices where (try? device.device.manifest()) == nil {
      found.append("\(device.name): what is installed can't be checked any more")
    }
    let late = end.adding(days: 1)
    var renewed = current
    if role.isRoot { try renewRoot(&renewed, at: late) }
    try publishNext(&renewed, at: late)
    var mirror = SimulatedMirror(renewed.files)
    if faults.contains(.renewalWithoutCascade), !role.isRoot, role != .timestamp {
      mirror.files[TopLevelRole.timestamp.fileName] = current.files[TopLevelRole.timestamp.fileName]
    }
    found += faults(&devices, following: renewed, from: [mirror], at: late)
    let window = lifetime - lifetime / 3
    return DrillFinding(
      .expiry, role: role.words, device: words,
      expected: "they refresh until \(end), then refuse as expired and go on using what they have; renewed a day later, all follow",
      good: "so it was; renew it \(Words.count(window, "day")) after signing at the latest, then none of this happens", faults: found,
      outage: .lasting(86_400, "from \(Words.count(lifetime, "day")) after signing until it is renewed: a day here"))
  }
}
