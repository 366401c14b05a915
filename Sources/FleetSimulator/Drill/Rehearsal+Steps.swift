internal import ManifestVerifier
internal import TUFMetadata

/// What publishers and thieves do in a rehearsal.
extension Rehearsal {
  /// Signs the next version of everything but root, for as long as each role lives.
  func publishNext(_ publisher: inout SimulatedPublisher, at time: UTCTime) throws(SimulationError) {
    let rootExpiry = publisher.root.expires
    Self.setExpiries(&publisher, lifetimes, time)
    publisher.root.expires = rootExpiry
    try publisher.publishNext()
  }

  /// Publishes the root that lists other keys for some roles; where a delegator lists them, its next version does it.
  /// - Parameter rootSigners: who signs the root, where that is not everyone, old and new.
  func replaceKeys(
    _ publisher: inout SimulatedPublisher, _ changes: [(RehearsedRole, [SimulatedKey])], at time: UTCTime,
    rootSigners: [SimulatedKey]? = nil
  ) throws(SimulationError) {
    let isRootChanged = changes.contains { if case .topLevel = $0.0.kind { true } else { false } }
    guard isRootChanged else {
      for (role, keys) in changes { publisher.setKeys(of: role, keys) }
      return
    }
    try publisher.rotate { (publisher) throws(SimulationError) in
      publisher.root.expires = time.adding(days: lifetimes[.root] ?? 1)
      for (role, keys) in changes { publisher.setKeys(of: role, keys) }
    }
    if let rootSigners { try signRoot(&publisher, by: rootSigners) }
  }

  /// Publishes a root that changes nothing but its expiry.
  func renewRoot(_ publisher: inout SimulatedPublisher, at time: UTCTime) throws(SimulationError) {
    try replaceKeys(&publisher, [(.root, publisher.root.keys)], at: time)
  }

  /// Signs the newest root by these keys only.
  func signRoot(_ publisher: inout SimulatedPublisher, by keys: [SimulatedKey]) throws(SimulationError) {
    publisher.root.signers = keys
    try publisher.publishRoot()
    publisher.root.signers = nil
  }

  /// The keys of a thief's own.
  func thiefKeys(_ count: Int) throws(SimulationError) -> [SimulatedKey] {
    var keys: [SimulatedKey] = []
    for index in 0..<max(count, 1) { keys.append(try publisher.key("thief \(index)")) }
    return keys
  }

  /// A mirror on which a role's next version is signed by stolen keys and all else is right: the best that their thief can hope for.
  func forge(
    _ publisher: SimulatedPublisher, _ role: RehearsedRole, by stolen: [SimulatedKey], at time: UTCTime
  ) throws(SimulationError) -> SimulatedMirror {
    var forged = publisher
    forged.setSigners(of: role, stolen)
    try publishNext(&forged, at: time)
    return SimulatedMirror(forged.files)
  }

  /// A mirror on which the next root names the thief's keys for everything.
  func forgeRoot(
    _ publisher: SimulatedPublisher, by stolen: [SimulatedKey], at time: UTCTime
  ) throws(SimulationError) -> (mirror: SimulatedMirror, publisher: SimulatedPublisher) {
    var forged = publisher
    let largest = TopLevelRole.allCases.map { publisher[$0].threshold }.max() ?? 1
    let own = try thiefKeys(largest)
    try replaceKeys(
      &forged, TopLevelRole.allCases.map { (RehearsedRole($0), own) }, at: time, rootSigners: stolen.merging(own))
    try publishNext(&forged, at: time)
    return (SimulatedMirror(forged.files), forged)
  }

  /// What devices do otherwise than to follow to what is published.
  func faults(
    _ devices: inout [DrillDevice], following publisher: SimulatedPublisher, from mirrors: [SimulatedMirror]? = nil, at time: UTCTime
  ) -> [String] {
    let goal = DrillGoal(publisher)
    var faults: [String] = []
    for index in devices.indices {
      if let fault = devices[index].fault(following: goal, from: mirrors ?? [SimulatedMirror(publisher.files)], at: time) {
        faults.append(fault)
      }
    }
    return faults
  }

  /// What devices do otherwise than to refuse a mirror for the right reason.
  func faults(
    _ devices: inout [DrillDevice], refusing mirrors: [SimulatedMirror], at time: UTCTime, _ isExpected: (VerificationError) -> Bool
  ) -> [String] {
    var faults: [String] = []
    for index in devices.indices {
      do throws(SimulationError) {
        let manifest = try devices[index].refresh(from: mirrors, at: time)
        faults.append(
          "\(devices[index].name): it accepts root \(manifest.root.payload.version), timestamp \(manifest.timestamp.payload.version), targets "
            + "\(manifest.targets.payload.version)")
      } catch {
        if case .refused(let cause) = error, isExpected(cause) { continue }
        faults.append("\(devices[index].name): \(error)")
      }
    }
    return faults
  }
}

extension VerificationError {
  /// Whether too few keys of a role have signed.
  func isUnsigned(_ role: RehearsedRole) -> Bool {
    guard case .thresholdNotMet(let name, _, _, _, _) = self else { return false }
    switch role.kind {
    case .topLevel(let role): return name == role.name
    case .delegated(let names): return names.contains(name)
    }
  }

  func isExpired(_ role: RehearsedRole) -> Bool {
    guard case .expired(let name, _, _) = self else { return false }
    switch role.kind {
    case .topLevel(let role): return name == role.name
    case .delegated(let names): return names.contains(name)
    }
  }

  var isRolledBack: Bool {
    switch self {
    case .rolledBack, .removedFromSnapshot: true
    default: false
    }
  }
}
