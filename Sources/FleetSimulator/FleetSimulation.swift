internal import ManifestVerifier
package import TUFMetadata

/// A whole fleet under attack, driven from one seed: whatever happens in a run happens again in every run with that seed.
///
/// The publisher publishes and rotates keys, days go by, devices of every age come and refresh, the power goes, and an attacker who
/// has recorded everything, but holds no key, answers in the mirror's place. After each step `violations` tells what must never be.
package struct FleetSimulation: Sendable {
  package private(set) var publisher: SimulatedPublisher
  package private(set) var devices: [SimulatedDevice] = []
  /// The time of all clocks.
  package private(set) var now: UTCTime
  /// What has happened, in words.
  package private(set) var events: [String] = []
  /// What must never be and was.
  package private(set) var violations: [String] = []
  private var random: SeededRandom
  private var attacker = SimulatedAttacker()
  private var published: Set<[UInt8]> = []
  private var keyCount = 0

  package init(seed: UInt64, start: UTCTime) throws(SimulationError) {
    random = SeededRandom(seed: seed)
    now = start
    publisher = try SimulatedPublisher(seed: seed, expires: start.adding(days: Self.lifetime))
    record()
  }

  private static let lifetime = 30

  /// Lets one thing happen.
  package mutating func step() throws(SimulationError) {
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: try publish()
    case 2: try rotate()
    case 3: now = now.adding(days: Int.random(in: 1...10, using: &random))
    case 4: addDevice()
    case 5...8: try refreshHonestly()
    default: refreshUnderAttack()
    }
  }

  private mutating func note(_ event: String) { events.append("\(now): \(event)") }

  private mutating func record() {
    attacker.record(publisher)
    published.formUnion(publisher.files.values)
  }

  private mutating func publish() throws(SimulationError) {
    let expires = now.adding(days: Self.lifetime)
    publisher.timestamp.expires = expires
    publisher.snapshot.expires = expires
    publisher.targets.expires = expires
    try publisher.publishNext()
    record()
    note("timestamp \(publisher.timestamp.version) is published")
  }

  private mutating func rotate() throws(SimulationError) {
    keyCount += 1
    let new = try publisher.key("key \(keyCount)")
    let isAdded = Bool.random(using: &random)
    let choice = Int.random(in: 0..<4, using: &random)
    func changed(_ keys: [SimulatedKey]) -> [SimulatedKey] { isAdded ? keys + [new] : [new] }
    try publisher.rotate {
      $0.root.expires = now.adding(days: Self.lifetime)
      switch choice {
      case 0: $0.root.keys = changed($0.root.keys)
      case 1: $0.timestamp.keys = changed($0.timestamp.keys)
      case 2: $0.snapshot.keys = changed($0.snapshot.keys)
      default: $0.targets.keys = changed($0.targets.keys)
      }
    }
    note("root \(publisher.root.version) \(isAdded ? "adds a key" : "replaces the keys") of role \(choice)")
    try publish()
  }

  private mutating func addDevice() {
    let version = Int64.random(in: 1...publisher.root.version.number, using: &random)
    devices.append(SimulatedDevice(anchor: publisher.files["\(version).root.json"] ?? []))
    note("device \(devices.count - 1) ships root \(version)")
  }

  /// A refresh from the honest mirror succeeds, wherever the power was cut before.
  private mutating func refreshHonestly() throws(SimulationError) {
    guard let index = devices.indices.randomElement(using: &random) else { return addDevice() }
    if publisher.timestamp.expires <= now || publisher.root.expires <= now {
      try publisher.rotate { $0.root.expires = now.adding(days: Self.lifetime) }
      try publish()
    }
    let isCut = Bool.random(using: &random)
    if isCut { devices[index].disk.powerCutPoint = devices[index].disk.pointCount + Int.random(in: 0..<40, using: &random) }
    refresh(index, from: SimulatedMirror(publisher.files)) { simulation, error in
      if error != .powerCut { simulation.violations.append("device \(index) can't follow: \(error)") }
    }
    guard isCut else { return }
    devices[index].disk.restart(keepsUnsynced: Bool.random(using: &random))
    note("device \(index) starts again")
  }

  /// Whatever a mirror serves that controls everything but the keys, nothing that was not published is trusted.
  private mutating func refreshUnderAttack() {
    guard let index = devices.indices.randomElement(using: &random) else { return addDevice() }
    let recording = Int.random(in: attacker.recordings.indices, using: &random)
    let other = Int.random(in: attacker.recordings.indices, using: &random)
    guard let path = attacker.recordings[recording].keys.sorted().randomElement(using: &random) else { return }
    let mirror =
      switch Int.random(in: 0..<5, using: &random) {
      case 0: attacker.freeze(recording)
      case 1: attacker.mix(["timestamp.json"], of: other, into: recording)
      case 2: attacker.endlessData(path, of: recording)
      case 3: attacker.damage(path, atByte: Int.random(in: 0..<1000, using: &random), of: recording)
      default: attacker.dropRoots(from: Int64.random(in: 2...publisher.root.version.number + 1, using: &random), of: recording)
      }
    refresh(index, from: mirror) { simulation, error in simulation.note("device \(index) refuses: \(error)") }
  }

  private mutating func refresh(
    _ index: Int, from mirror: SimulatedMirror, _ failed: (inout Self, SimulationError) -> Void
  ) {
    let before = Trust(devices[index])
    do {
      let manifest = try devices[index].refresh(from: [mirror], at: now)
      note("device \(index) trusts timestamp \(manifest.timestamp.payload.version)")
    } catch {
      failed(&self, error)
    }
    let after = Trust(devices[index])
    if let old = before.root, after.root.map({ $0 < old }) ?? true { violations.append("device \(index): the root went back") }
    if let old = before.timestamp, let new = after.timestamp, new < old, before.root == after.root {
      violations.append("device \(index): the timestamp went back from \(old) to \(new)")
    }
    for (name, bytes) in devices[index].disk.files where name.hasSuffix(".json") && !published.contains(bytes) {
      violations.append("device \(index): \(name) was never published")
    }
  }

  /// How far a device is.
  private struct Trust {
    let root: Version?
    let timestamp: Version?

    init(_ device: SimulatedDevice) {
      let stored = device.stored
      root = stored.roots.last.flatMap { try? Trusted<Root>(selfSigned: $0).payload.version }
      timestamp = stored.timestamp.flatMap { try? UnverifiedMetadata<Timestamp>(parsing: $0).payload.version }
    }
  }
}
