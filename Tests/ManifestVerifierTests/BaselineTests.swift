import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `What new versions are held against is verified before anything is asked for` {
  /// The error that a refresh begins with.
  static func fault(_ device: Device, _ change: (inout StoredMetadata) -> Void) -> VerificationError? {
    var stored = device.stored
    change(&stored)
    do throws(VerificationError) {
      _ = try ClientWorkflow(anchor: device.anchor, stored: stored, now: FixtureRepository.now)
      return nil
    } catch { return error }
  }

  static func tooFew(_ role: ByteString) -> VerificationError {
    .damagedState(
      role: role, .thresholdNotMet(role: role, signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1"))
  }

  @Test func `an altered timestamp or snapshot is damage of the state, and no fault of a mirror`() throws {
    let device = try Device(refreshedFrom: FixtureRepository())
    func altered(_ bytes: [UInt8]?) -> [UInt8] {
      Array(String(decoding: bytes ?? [], as: UTF8.self).replacing("2031-", with: "2032-").utf8)
    }
    #expect(Self.fault(device) { _ in } == nil)
    #expect(Self.fault(device) { $0.timestamp = altered($0.timestamp) } == Self.tooFew("timestamp"))
    #expect(Self.fault(device) { $0.snapshot = altered($0.snapshot) } == Self.tooFew("snapshot"))
    guard case .damagedState("timestamp", .malformed) = Self.fault(device, { $0.timestamp = [] }) else {
      Issue.record("an empty timestamp")
      return
    }
    // What the snapshot tells the content of is only fetched again.
    #expect(Self.fault(device) { $0.targets = [] } == nil)
  }

  @Test func `what an older root trusted is no damage`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.rotate { $0.targets.keys = [FixtureKey(70)] }
    repository.rotate { $0.timestamp.threshold = 1 }
    repository.remove("timestamp.json")
    #expect(device.refusal(repository) == .unavailable(role: "timestamp", urlPath: "timestamp.json"))
    #expect(Self.fault(device) { _ in } == nil)
    repository.publishNext()
    #expect(try device.refresh(repository).versions == [3, 2, 2, 2])
  }

  @Test func `the root that the cache was verified under is there`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    let device = try Device(refreshedFrom: repository)
    #expect(Self.fault(device) { $0.roots.removeLast() } == .missingFromState(name: "root version 2"))
    var stored = device.stored
    stored.roots.removeLast()
    #expect(throws: VerificationError.missingFromState(name: "root version 2")) {
      try TrustedManifest(anchor: device.anchor, stored: stored)
    }
  }

  @Test func `a root that is missing in between is walked to again, or else nothing is trusted`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    repository.rotate { _ in }
    var device = try Device(refreshedFrom: repository)
    device.stored.roots.remove(at: 0)
    #expect(device.stored.roots == [repository["3.root.json"]])
    var older = repository
    older.remove("2.root.json")
    #expect(device.refusal(older) == .rolledBack(role: "root", trusted: Version(known: 3), offered: Version(known: 1)))
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
  }

  @Test func `targets that are damaged or gone are fetched again, and that is told`() throws {
    let repository = FixtureRepository()
    for damaged in [nil, [], Array("{}".utf8)] as [[UInt8]?] {
      var device = try Device(refreshedFrom: repository)
      device.stored.targets = damaged
      var workflow = try ClientWorkflow(anchor: device.anchor, stored: device.stored, now: FixtureRepository.now)
      while let request = workflow.request {
        _ = try repository.files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
      }
      #expect(workflow.replaced == [.targets])
    }
    var device = try Device(refreshedFrom: repository)
    var next = repository
    next.publishNext()
    var workflow = try ClientWorkflow(anchor: device.anchor, stored: device.stored, now: FixtureRepository.now)
    while let request = workflow.request {
      _ = try next.files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
    }
    #expect(workflow.replaced.isEmpty, "older targets are no damage")
    device.stored.targets = nil
    #expect(throws: VerificationError.missingFromState(name: "targets metadata")) {
      try TrustedManifest(anchor: device.anchor, stored: device.stored)
    }
  }
}

@Suite struct `A failure is an answer of its own` {
  @Test func `it ends no chain of roots, and leaves the request for another mirror`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    var workflow = try ClientWorkflow(anchor: repository.anchor, stored: StoredMetadata(), now: FixtureRepository.now)
    let request = try #require(workflow.request)
    workflow.supplyFailure()
    #expect(workflow.request == request)
    #expect(throws: VerificationError.undecidedRoot(urlPath: "2.root.json")) { try workflow.supplyNotAvailable() }
    #expect(workflow.request == request)
    // The next mirror has it, and the walk goes on; the failure is forgotten with the request that it answered.
    _ = try workflow.supply(repository["2.root.json"])
    #expect(workflow.request?.urlPath == "3.root.json")
    _ = try workflow.supplyNotAvailable()
    #expect(workflow.request?.urlPath == "timestamp.json")
    workflow.supplyFailure()
    #expect(throws: VerificationError.unavailable(role: "timestamp", urlPath: "timestamp.json")) { try workflow.supplyNotAvailable() }
    _ = try workflow.supply(repository["timestamp.json"])
  }

  @Test func `so is an answer that was refused, of which nothing stays`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    var workflow = try ClientWorkflow(anchor: repository.anchor, stored: StoredMetadata(), now: FixtureRepository.now)
    let request = workflow.request
    #expect(throws: VerificationError.self) { try workflow.supply(Array("rubbish".utf8)) }
    #expect(workflow.request == request)
    _ = try workflow.supply(repository["2.root.json"])
  }
}
