import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `A rotation that is half done takes nothing from who checks what is installed` {
  /// Which keys a root takes away.
  enum Rotation: String, CaseIterable, Sendable {
    case timestamp, snapshot, both, targets, all

    var takesTargetsKey: Bool { self == .targets || self == .all }

    func apply(to repository: inout FixtureRepository) {
      repository.rotate {
        if self == .timestamp || self == .both || self == .all { $0.timestamp.keys = [FixtureKey(40)] }
        if self == .snapshot || self == .both || self == .all { $0.snapshot.keys = [FixtureKey(41)] }
        if takesTargetsKey { $0.targets.keys = [FixtureKey(42)] }
      }
    }
  }

  static func read(_ device: Device) -> Result<TrustedManifest, VerificationError> {
    do throws(VerificationError) { return .success(try TrustedManifest(anchor: device.anchor, stored: device.stored)) } catch {
      return .failure(error)
    }
  }

  /// A device that has an earlier publication, driven to high versions by a thief or not, and one whose keys are rotated.
  static func rotated(_ rotation: Rotation, isAttacked: Bool) throws -> (FixtureRepository, Device) {
    var (repository, device): (FixtureRepository, Device)
    if isAttacked {
      (repository, device) = try `FN 5: a key that is taken away lets a device recover from a fast-forward attack`.attacked()
    } else {
      repository = FixtureRepository()
      device = try Device(refreshedFrom: repository)
    }
    rotation.apply(to: &repository)
    // A root that takes nothing away, so that the walk is broken off in its middle too.
    repository.rotate { _ in }
    repository.publish()
    if !isAttacked { repository.publishNext() }
    return (repository, device)
  }

  @Test(arguments: Rotation.allCases, [false, true])
  func `wherever the refresh breaks off, the last complete set is read, or the targets' keys were taken away and that is told`(
    rotation: Rotation, isAttacked: Bool
  ) throws {
    // Without the key of timestamp or snapshot a device does not come back from a fast-forward.
    guard !(isAttacked && rotation == .targets) else { return }
    let (repository, device) = try Self.rotated(rotation, isAttacked: isAttacked)
    var whole = device
    try whole.refresh(repository)
    for count in 0..<whole.changes.count {
      var broken = device
      #expect(throws: Device.Crash.self) { try broken.refresh(repository, lastChange: count) }
      let hasRoot = broken.changes.contains { if case .root = $0 { true } else { false } }
      let newest = broken.changes.contains { if case .root(let version, _) = $0 { version == Version(3) } else { false } } ? 3 : 2
      switch Self.read(broken) {
      case .success(let manifest):
        #expect(!rotation.takesTargetsKey || !hasRoot)
        #expect(manifest.targets.bytes == device.stored.targets)
        #expect(manifest.timestamp.bytes == broken.stored.timestamp && manifest.snapshot.bytes == broken.stored.snapshot)
      case .failure(let error):
        #expect(rotation.takesTargetsKey && hasRoot)
        #expect(
          error
            == .thresholdNotMet(
              role: "targets", signed: 0, threshold: 1, keyCount: 1, delegator: ByteString("root version \(newest)")),
          "\(count) changes: \(error)")
      }
      // A second rotation before the first is done changes nothing of that.
      var later = repository
      later.rotate { $0.timestamp.keys = [FixtureKey(43)] }
      later.remove("timestamp.json")
      var again = broken
      #expect(again.refusal(later) == .unavailable(role: "timestamp", urlPath: "timestamp.json"))
      if case .success(let manifest) = Self.read(again) {
        #expect(!rotation.takesTargetsKey && manifest.targets.bytes == device.stored.targets)
      } else {
        #expect(rotation.takesTargetsKey)
      }
      #expect(try broken.refresh(repository).versions == whole.refresh(repository).versions)
      #expect(broken.stored == whole.stored && broken.stored.rotatingSinceRoot == nil && broken.stored.superseded.isEmpty)
    }
  }

  @Test(arguments: [Rotation.timestamp, .snapshot, .both]) func `what is only read is no baseline`(rotation: Rotation) throws {
    var (repository, device) = try Self.rotated(rotation, isAttacked: true)
    let whole = repository
    repository.remove("timestamp.json")
    #expect(device.refusal(repository) == .unavailable(role: "timestamp", urlPath: "timestamp.json"))
    #expect(device.stored.superseded == [.timestamp, .snapshot] && device.stored.rotatingSinceRoot == .first)
    #expect(Self.read(device).map(\.versions) == .success([3, 1_000_000, 1_000_000, 1_000_000]))
    #expect(try device.refresh(whole).versions == [3, 1, 1, 1])
    // From here on versions only rise again.
    repository.publishNext()
    try device.refresh(repository)
    #expect(device.refusal(whole) == .rolledBack(role: "timestamp", trusted: Version(known: 2), offered: .first))
  }

  @Test func `a timestamp of before the rotation does not become the baseline, where a new one has the same bytes neither`() throws {
    // The snapshot's key stays, and so may the snapshot: it is asked for and counts again.
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    let snapshot = device.stored.snapshot
    repository.timestamp.version = 2
    repository.publish()
    try device.refresh(repository)
    #expect(device.stored.snapshot == snapshot && device.stored.superseded.isEmpty)
    #expect(device.requests.contains { $0.hasSuffix("snapshot.json") })
  }

  @Test func `only roots of the chain vouch for what is kept: a folder that somebody else writes can't bring its own`() throws {
    var repository = FixtureRepository()
    let old = try Device(refreshedFrom: repository)
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    var device = old
    device.anchor = repository["2.root.json"]
    #expect(
      Self.read(device).map(\.versions)
        == .failure(.thresholdNotMet(role: "timestamp", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 2")))
    // Nor does another repository's timestamp count, whoever signed it.
    device = old
    device.stored.timestamp = FixtureRepository { $0.timestamp.keys = [FixtureKey(50)] }["timestamp.json"]
    guard case .failure(.damagedState("timestamp", .thresholdNotMet)) = Self.read(device) else {
      Issue.record("a timestamp of another repository")
      return
    }
  }

  @Test func `an explanation names the root whose keys have signed, and goes on`() throws {
    var (repository, device) = try Self.rotated(.both, isAttacked: false)
    repository.remove("timestamp.json")
    #expect(device.refusal(repository) != nil)
    let explanation = TrustExplanation(of: try TargetPath("org/model/weights.gguf"), anchor: device.anchor, stored: device.stored) { _ in
      nil
    }
    #expect(explanation.failure == nil && explanation.listed != nil)
    let delegators = explanation.links.suffix(3).flatMap(\.endorsements).map(\.delegator)
    #expect(delegators == ["root version 1", "root version 1", "root version 3"])
  }

  @Test func `a refresh that ends a rotation says so, whatever the clock says`() throws {
    var (repository, device) = try Self.rotated(.both, isAttacked: false)
    let whole = repository
    repository.remove("timestamp.json")
    device.stored.newestRefresh = UTCTime(known: "2030-01-01T06:00:00Z")
    #expect(device.refusal(repository) != nil && device.stored.rotatingSinceRoot == .first)
    try device.refresh(whole)
    #expect(device.stored.rotatingSinceRoot == nil && device.stored.newestRefresh == UTCTime(known: "2030-01-01T06:00:00Z"))
  }

  @Test func `roots that are missing between the anchor and a trusted one are told as a gap, and a refresh fills it`() throws {
    var repository = FixtureRepository()
    for _ in 0..<4 { repository.rotate { _ in } }
    var device = Device(repository)
    device.anchor = repository["5.root.json"]
    try device.refresh(repository)
    device.anchor = repository.anchor
    #expect(Self.read(device).map(\.versions) == .failure(.gapInRoots(missing: Version(known: 2), kept: Version(known: 5))))
    let explanation = TrustExplanation(of: try TargetPath("x"), anchor: device.anchor, stored: device.stored) { _ in nil }
    #expect(explanation.failure == .gapInRoots(missing: Version(known: 2), kept: Version(known: 5)))
    try device.refresh(repository)
    #expect(Self.read(device).map(\.versions) == .success([5, 1, 1, 1]))
  }
}

@Suite struct `Where what a timestamp names can't be had, another one is asked for, and trust never goes back` {
  @Test(arguments: [true, false]) func `from each stage`(consistent: Bool) throws {
    let older = FixtureRepository { $0.consistentSnapshot = consistent }
    var newer = older
    newer.publishNext()
    for stage in ["timestamp", "snapshot", "targets", "done"] {
      var workflow = try ClientWorkflow(anchor: older.anchor, stored: StoredMetadata(), now: FixtureRepository.now)
      while let request = workflow.request, request.role.name != ByteString(stage) {
        _ = try older.files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
      }
      let accepted = workflow.acceptedTimestamp
      #expect((accepted == nil) == (stage == "timestamp"))
      workflow.askForNewerTimestamp()
      #expect(workflow.request?.role == .timestamp)
      while let request = workflow.request { _ = try workflow.supply(newer[request.urlPath]) }
      #expect(workflow.manifest?.versions == [1, 2, 2, 2])
      // And back: what was accepted is the baseline.
      workflow.askForNewerTimestamp()
      #expect(throws: VerificationError.rolledBack(role: "timestamp", trusted: Version(known: 2), offered: .first)) {
        try workflow.supply(older["timestamp.json"])
      }
    }
  }

  @Test func `in a fast-forward recovery too`() throws {
    var (repository, device) = try `FN 5: a key that is taken away lets a device recover from a fast-forward attack`.attacked()
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    repository.publish()
    var newer = repository
    newer.publishNext()
    var workflow = try ClientWorkflow(anchor: device.anchor, stored: device.stored, now: FixtureRepository.now)
    while let request = workflow.request, request.role != .snapshot {
      _ = try repository.files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
    }
    workflow.askForNewerTimestamp()
    var changes: [TrustChange] = []
    while let request = workflow.request { changes += try workflow.supply(newer[request.urlPath]) }
    #expect(workflow.manifest?.versions == [2, 2, 2, 2])
    #expect(changes.names == ["timestamp under 2", "snapshot under 2", "targets under 2", "refreshed at \(FixtureRepository.now)"])
  }
}
