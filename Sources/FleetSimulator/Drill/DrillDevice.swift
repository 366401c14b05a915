internal import ManifestVerifier
internal import TUFMetadata

/// A device of a drill, and what it is called.
struct DrillDevice: Sendable {
  let name: String
  var device: SimulatedDevice

  init(_ name: String, _ device: SimulatedDevice) {
    self.name = name
    self.device = device
  }

  /// Refreshes, and visits every delegated role.
  /// - Returns: what it trusts then.
  @discardableResult
  mutating func refresh(from mirrors: [SimulatedMirror], at now: UTCTime) throws(SimulationError) -> TrustedManifest {
    let manifest = try device.refresh(from: mirrors, at: now)
    let refusals = try device.walk(manifest, from: mirrors, at: now)
    if let first = refusals.first { throw .refused(first.error) }
    return manifest
  }

  /// Refreshes, and expects to come to the end of what is published.
  /// - Returns: in words what was otherwise; nil where nothing was.
  mutating func fault(
    following goal: DrillGoal, from mirrors: [SimulatedMirror], at now: UTCTime
  ) -> String? {
    do throws(SimulationError) {
      let manifest = try refresh(from: mirrors, at: now)
      guard let missed = goal.difference(from: manifest) else { return nil }
      return "\(name): \(missed)"
    } catch {
      return "\(name): \(error)"
    }
  }
}

/// How far a device has to come.
struct DrillGoal: Equatable, Sendable {
  let root: Version
  let timestamp: Version
  let targets: Version

  init(root: Version, timestamp: Version, targets: Version) {
    self.root = root
    self.timestamp = timestamp
    self.targets = targets
  }

  /// What is published by a simulated publisher.
  init(_ publisher: SimulatedPublisher) {
    self.init(root: publisher.root.version, timestamp: publisher.timestamp.version, targets: publisher.targets.version)
  }

  /// What a device trusts otherwise, in words.
  func difference(from manifest: TrustedManifest) -> String? {
    let wanted = [root, timestamp, targets]
    let found = [manifest.root.payload.version, manifest.timestamp.payload.version, manifest.targets.payload.version]
    guard wanted != found else { return nil }
    return "it stays at root \(found[0]), timestamp \(found[1]), targets \(found[2])"
  }

  var words: String { "root \(root), timestamp \(timestamp), targets \(targets)" }
}
