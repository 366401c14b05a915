internal import ManifestVerifier
internal import TUFMetadata

/// The published bytes, unmodified, replayed to devices of every published root.
struct PublishedReplays {
  let material: DrillMaterial
  let now: UTCTime
  let faults: Set<DrillFault>

  private static let yearsOffline = 5

  /// What devices have to come to; nil where nothing is published.
  private var goal: DrillGoal? {
    guard let root = material.roots.last, let timestamp = material.timestamp, let targets = material.targets else { return nil }
    return DrillGoal(root: root.version, timestamp: timestamp.version, targets: targets.version)
  }

  func findings() throws(SimulationError) -> [DrillFinding] {
    var findings: [DrillFinding] = []
    for scenario in [DrillScenario.replayFresh, .replayCached, .replayFastForwarded, .replayOffline] {
      for root in material.roots { findings.append(try finding(scenario, root)) }
    }
    return findings
  }

  /// The same for the second client, as far as it can be brought into such a state.
  var trials: [PeerTrial] {
    guard let goal else { return [] }
    return material.roots.flatMap { root in
      let step = PeerTrial.Step(files: material.files, now: now, goal: goal)
      return [
        PeerTrial(
          scenario: .replayFresh, role: Self.role(root), device: "fresh", expected: Self.expected(goal), anchor: root.bytes, steps: [step]),
        PeerTrial(
          scenario: .replayCached, role: Self.role(root), device: "up to date", expected: Self.expected(goal), anchor: root.bytes,
          steps: [step, step]),
      ]
    }
  }

  private static func role(_ root: DrillMaterial.RootFile) -> String { "root \(root.version)" }
  private static func expected(_ goal: DrillGoal) -> String { "it comes to \(goal.words)" }

  private func finding(_ scenario: DrillScenario, _ root: DrillMaterial.RootFile) throws(SimulationError) -> DrillFinding {
    let state: String
    var kept = SimulatedDevice.KeptTrust()
    switch scenario {
    case .replayCached:
      state = "up to date"
      kept = upToDate(root)
      if faults.contains(.publisherRolledBack) {
        kept.holdsStandIns = true
        kept.metadata = [(.timestamp, standIn(goal?.timestamp.next ?? .first, naming: material.timestamp?.snapshot.version ?? .first))]
      }
    case .replayFastForwarded:
      state = "cache fast-forwarded under root \(root.version)"
      kept = cache(root, timestamp: Version(Int64.max))
      kept.newestRefresh = now.adding(days: -1)
      if faults.contains(.cacheTakenForNewer) { kept.verifiedUnderRoot = goal?.root }
    case .replayOffline:
      state = "offline for \(Self.yearsOffline) years"
      kept = cache(root, timestamp: nil)
      kept.newestRefresh = now.adding(days: (faults.contains(.clockWasAhead) ? 1 : -1) * Self.yearsOffline * 365)
    default: state = "fresh"
    }
    var device = DrillDevice("shipped root \(root.version), \(state)", try SimulatedDevice(anchor: root.bytes, kept: kept))
    guard let goal else {
      return DrillFinding(
        scenario, role: Self.role(root), device: device.name, expected: "it comes to what is published",
        good: "", faults: ["timestamp, snapshot or targets are missing or malformed"])
    }
    if scenario == .replayFastForwarded, !takesKeyAway(since: root.version) { return stuck(&device, root, goal) }
    let fault = device.fault(following: goal, from: [material.mirror], at: now)
    return DrillFinding(
      scenario, role: Self.role(root), device: device.name, expected: Self.expected(goal), good: goal.words,
      faults: fault.map { [$0] } ?? [])
  }

  /// No root has taken a timestamp or snapshot key away since: the device has to refuse, or rollback protection were worth nothing.
  private func stuck(_ device: inout DrillDevice, _ root: DrillMaterial.RootFile, _ goal: DrillGoal) -> DrillFinding {
    var faults: [String] = []
    do throws(SimulationError) {
      try device.refresh(from: [material.mirror], at: now)
      faults.append("\(device.name): it let itself be rolled back")
    } catch {
      if case .refused(.rolledBack(role: "timestamp", _, _)) = error {} else { faults.append("\(device.name): \(error)") }
    }
    return DrillFinding(
      .replayFastForwarded, role: Self.role(root), device: device.name,
      expected: "it refuses as rolled back, since no timestamp or snapshot key was taken away after root \(root.version)",
      good: "refused as rolled back; should this ever happen, replace the timestamp and snapshot keys", faults: faults,
      outage: .openEnded("until a root takes the timestamp or snapshot key away"))
  }

  // MARK: What devices have kept

  private func upToDate(_ root: DrillMaterial.RootFile) -> SimulatedDevice.KeptTrust {
    var kept = SimulatedDevice.KeptTrust()
    kept.roots = material.roots.filter { $0.version > root.version }.map { ($0.version, $0.bytes) }
    kept.verifiedUnderRoot = material.roots.last?.version
    kept.newestRefresh = now
    let served = [
      (MetadataRole.timestamp, material.served(.timestamp, nil)),
      (.snapshot, material.served(.snapshot, material.timestamp?.snapshot.version)),
      (.targets, material.served(.targets, material.snapshot?.targets.version)),
    ]
    kept.metadata = served.compactMap { role, bytes in bytes.map { (role, $0) } }
    return kept
  }

  /// What was kept when a root was the newest: a snapshot of that age where one is still there, and a timestamp that stands in for the real
  /// one, of which a publisher keeps only the newest.
  private func cache(_ root: DrillMaterial.RootFile, timestamp version: Version?) -> SimulatedDevice.KeptTrust {
    var kept = SimulatedDevice.KeptTrust()
    kept.verifiedUnderRoot = root.version
    kept.holdsStandIns = true
    guard let trusted = try? Trusted<Root>(selfSigned: root.bytes), let current = material.timestamp else { return kept }
    let fitting = material.olderSnapshots.lazy.compactMap { bytes -> Trusted<Snapshot>? in
      guard let metadata = try? UnverifiedMetadata<Snapshot>(parsing: bytes) else { return nil }
      return try? Trusted(
        verifying: metadata, role: "snapshot", keys: trusted.payload[.snapshot], known: trusted.payload.keys, delegator: "root")
    }
    let snapshot = fitting.first
    if let snapshot { kept.metadata.append((.snapshot, snapshot.bytes)) }
    let older = Version(current.version.number - 1) ?? .first
    kept.metadata.append((.timestamp, standIn(version ?? older, naming: snapshot?.payload.version ?? .first)))
    return kept
  }

  private func standIn(_ version: Version, naming snapshot: Version) -> [UInt8] {
    let named = MetadataFile(version: snapshot, byteCount: nil, hashes: nil)
    let header = RoleHeader(version: version, expires: now)
    let signed = header.members(of: .timestamp).merging([.meta: .object([.snapshotFile: named.tree])]) { $1 }
    return JSONTree.object([.signatures: .array([]), .signed: .object(signed)]).canonicalBytes
  }

  private func takesKeyAway(since version: Version) -> Bool {
    let roots = material.chain.map(\.payload).filter { $0.version >= version }
    func publicKeys(_ root: Root, _ role: TopLevelRole) -> Set<Ed25519PublicKey> {
      Set(root[role].keyIDs.compactMap { root.keys[$0]?.ed25519 })
    }
    return zip(roots, roots.dropFirst()).contains { older, newer in
      [TopLevelRole.timestamp, .snapshot].contains { !publicKeys(older, $0).isSubset(of: publicKeys(newer, $0)) }
    }
  }
}
