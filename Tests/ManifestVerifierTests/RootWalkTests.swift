import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `TUF 5·2 and 5·3: the root is walked from the anchor to the newest` {
  @Test func `FN 1: the time is fixed once, and what expires now has expired`() throws {
    for (role, edit) in [
      ("root", { $0.root.expires = "2030-01-01T00:00:00Z" }), ("timestamp", { $0.timestamp.expires = "2030-01-01T00:00:00Z" }),
      ("snapshot", { $0.snapshot.expires = "2030-01-01T00:00:00Z" }), ("targets", { $0.targets.expires = "2030-01-01T00:00:00Z" }),
    ] as [(ByteString, (inout FixtureRepository) -> Void)] {
      let repository = FixtureRepository(edit)
      let now = FixtureRepository.now
      var device = Device(repository)
      #expect(device.refusal(repository) == .expired(role: role, since: now, now: now))
      let second = try #require(UTCTime(secondsSince1970: now.secondsSince1970 - 1))
      #expect(device.refusal(repository, at: second) == nil)
    }
  }

  @Test func `FN 2: the expiry of the anchor and of roots on the way is ignored, and the last one's counts`() throws {
    var repository = FixtureRepository { $0.root.expires = "2001-01-01T00:00:00Z" }
    repository.rotate { $0.root.expires = "2002-01-01T00:00:00Z" }
    repository.rotate { $0.root.expires = "2031-01-01T00:00:00Z" }
    var device = Device(repository)
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
  }

  @Test func `FN 2: an expired last root is kept before it is refused, and not asked for again`() throws {
    var repository = FixtureRepository()
    repository.rotate { $0.root.expires = "2029-12-31T23:59:59Z" }
    var device = Device(repository)
    let expired = VerificationError.expired(
      role: "root", since: UTCTime(known: "2029-12-31T23:59:59Z"), now: FixtureRepository.now)
    #expect(device.refusal(repository) == expired)
    #expect(device.changes.names == ["root 2"])
    #expect(device.requests == ["2.root.json", "3.root.json"])
    #expect(device.refusal(repository) == expired)
    #expect(device.requests == ["3.root.json"])
    repository.rotate { $0.root.expires = "2031-01-01T00:00:00Z" }
    #expect(device.refusal(repository) == nil)
  }

  @Test func `FN 3: not available ends the walk, and a wrong answer does not`() throws {
    var repository = FixtureRepository()
    repository["2.root.json"] = Array("<html>502 Bad Gateway</html>".utf8)
    var device = Device(repository)
    #expect(device.refusal(repository) == .malformed(role: "root", .syntax(.unexpectedByte(UInt8(ascii: "<")), offset: 0)))
    #expect(device.requests == ["2.root.json"])
    repository["2.root.json"] = []
    #expect(device.refusal(repository) == .malformed(role: "root", .syntax(.empty, offset: 0)))
  }

  static let (old, new) = (FixtureKey(20), FixtureKey(21))

  static func rotated(signers: [FixtureKey], version: Int64 = 2) -> FixtureRepository {
    var repository = FixtureRepository { $0.root.keys = [old] }
    repository.root.keys = [new]
    repository.root.version = version
    repository.root.signers = signers
    repository.publishRoot()
    repository["2.root.json"] = repository["\(version).root.json"]
    return repository
  }

  @Test func `FN 4: a new root is signed by the threshold of the old and of the new`() throws {
    var device = Device(Self.rotated(signers: []))
    #expect(device.refusal(Self.rotated(signers: [Self.old, Self.new])) == nil)
    device = Device(Self.rotated(signers: []))
    #expect(
      device.refusal(Self.rotated(signers: [Self.new]))
        == .thresholdNotMet(role: "root", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1"))
    #expect(
      device.refusal(Self.rotated(signers: [Self.old]))
        == .thresholdNotMet(role: "root", signed: 0, threshold: 1, keyCount: 1, delegator: "the new root itself"))
    #expect(device.changes.isEmpty)
  }

  @Test func `FN 4: thresholds of both roots count where they differ`() throws {
    let keys = [FixtureKey(20), FixtureKey(21), FixtureKey(22)]
    for (signers, isAccepted) in [([0, 1, 2], true), ([0, 1], false), ([1, 2], false), ([0, 2], false)] {
      var repository = FixtureRepository {
        $0.root.keys = [keys[0], keys[1]]
        $0.root.threshold = 2
      }
      repository.root.keys = keys
      repository.root.threshold = 3
      repository.root.version = 2
      repository.root.signers = signers.map { keys[$0] }
      repository.publishRoot()
      var device = Device(repository)
      #expect((device.refusal(repository) == nil) == isAccepted, "\(signers)")
    }
  }

  @Test(arguments: [1, 3, 4, Int64.max]) func `FN 4: the version of the next root is exactly one more`(version: Int64) throws {
    let repository = Self.rotated(signers: [Self.old, Self.new], version: version)
    var device = Device(FixtureRepository { $0.root.keys = [Self.old] })
    #expect(
      device.refusal(repository) == .wrongVersion(role: "root", expected: Version(known: 2), actual: Version(known: version)))
    #expect(device.changes.isEmpty)
  }

  @Test func `FN 16: roots are always asked for by version, the timestamp never`() throws {
    for consistent in [true, false] {
      var repository = FixtureRepository { $0.consistentSnapshot = consistent }
      repository.rotate { _ in }
      repository.snapshot.version = 7
      repository.targets.version = 5
      repository.publish()
      var device = Device(repository)
      #expect(try device.refresh(repository).versions == [2, 1, 7, 5])
      let names = consistent ? ["7.snapshot.json", "5.targets.json"] : ["snapshot.json", "targets.json"]
      #expect(device.requests == ["2.root.json", "3.root.json", "timestamp.json"] + names)
    }
  }

  @Test func `FN 19: no more roots are followed in one refresh than the limit, and the next goes on`() throws {
    var repository = FixtureRepository()
    for _ in 0..<300 { repository.rotate { _ in } }
    #expect(VerificationLimits().rootVersionCount == 256)
    var device = Device(repository)
    #expect(device.refusal(repository) == .tooManyRoots(limit: 256))
    #expect(device.stored.roots.count == 256)
    #expect(try device.refresh(repository).versions == [301, 1, 1, 1])
  }

  @Test func `exactly the limit of roots is followed`() throws {
    var repository = FixtureRepository()
    for _ in 0..<3 { repository.rotate { _ in } }
    var limits = VerificationLimits()
    limits.rootVersionCount = 3
    var device = Device(repository)
    #expect(try device.refresh(repository, limits: limits).versions == [4, 1, 1, 1])
  }

  @Test func `a wrong answer is no root that was followed, so that another mirror can be asked`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    var limits = VerificationLimits()
    limits.rootVersionCount = 1
    var workflow = try ClientWorkflow(anchor: repository.anchor, stored: .init(), now: FixtureRepository.now, limits: limits)
    for _ in 0..<3 { #expect(throws: VerificationError.self) { try workflow.supply(Array("junk".utf8)) } }
    #expect(try workflow.supply(repository["2.root.json"]).names == ["root 2"])
  }

  @Test func `FN 20: the anchor itself is signed`() throws {
    let unsigned = FixtureRepository { $0.root.signers = [] }
    #expect(throws: VerificationError.thresholdNotMet(role: "root", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1")) {
      try ClientWorkflow(anchor: unsigned.anchor, stored: .init(), now: FixtureRepository.now)
    }
  }

  @Test func `another role's metadata is no root`() throws {
    let repository = FixtureRepository()
    let expected = MetadataError.invalidValue(path: "signed._type", expected: "\"root\"", found: "\"timestamp\"")
    #expect(throws: VerificationError.malformed(role: "root", expected)) {
      try ClientWorkflow(anchor: repository["timestamp.json"], stored: .init(), now: FixtureRepository.now)
    }
  }

  @Test func `a root of the last version that there is ends the walk without a crash`() throws {
    let repository = FixtureRepository { $0.root.version = .max }
    var device = Device(repository)
    device.anchor = repository["\(Int64.max).root.json"]
    #expect(device.refusal(repository) != nil)
  }
}

@Suite struct `The kept chain of roots is verified again from the anchor` {
  @Test func `an anchor newer than the kept roots is where trust begins, and older ones are not used`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    var device = try Device(refreshedFrom: repository)
    repository.rotate { $0.root.keys = [FixtureKey(30)] }
    device.anchor = repository["3.root.json"]
    repository.remove("2.root.json")
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
    #expect(device.requests == ["4.root.json", "timestamp.json"])
  }

  @Test func `a newer anchor is kept, and an older one that comes back walks the gap again`() throws {
    var repository = FixtureRepository()
    let first = repository.anchor
    repository.rotate { _ in }
    repository.rotate { _ in }
    var device = try Device(refreshedFrom: FixtureRepository())
    device.anchor = repository["3.root.json"]
    try device.refresh(repository)
    #expect(device.changes.names == ["root 3"])
    try device.refresh(repository)
    #expect(device.changes.isEmpty)
    device.anchor = first
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
    #expect(device.requests == ["2.root.json", "3.root.json", "4.root.json", "timestamp.json"])
  }

  @Test func `a key that is taken away between two anchors supersedes what the first let in`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    var device = Device(repository)
    device.anchor = repository["2.root.json"]
    repository.timestamp.version = 1000
    repository.publish()
    try device.refresh(repository)
    repository.timestamp.version = 2
    repository.rotate { $0.timestamp.keys = [FixtureKey(31)] }
    repository.publish()
    device.anchor = repository["3.root.json"]
    #expect(try device.refresh(repository).versions == [3, 2, 1, 1])
    #expect(device.changes.names == ["root 3", "supersede", "timestamp under 3", "snapshot under 3", "targets under 3"])
  }

  @Test func `a kept root that does not follow is damage`() throws {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    var device = try Device(refreshedFrom: repository)
    let stranger = FixtureRepository {
      $0.root.version = 2
      $0.root.keys = [FixtureKey(99)]
    }
    device.stored.roots = [stranger["2.root.json"]]
    let cause = VerificationError.thresholdNotMet(role: "root", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1")
    #expect(device.refusal(repository) == .damagedState(role: "root", cause))
  }

  @Test func `a kept root that can't be read is damage`() throws {
    var device = Device(FixtureRepository())
    device.stored.roots = [Array("{".utf8)]
    #expect(
      device.refusal(FixtureRepository())
        == .damagedState(role: "root", .malformed(role: "root", .syntax(.unexpectedEnd, offset: 1))))
  }

  @Test func `kept roots are not asked for again`() throws {
    var repository = FixtureRepository()
    for _ in 0..<3 { repository.rotate { _ in } }
    var device = try Device(refreshedFrom: repository)
    try device.refresh(repository)
    #expect(device.requests == ["5.root.json", "timestamp.json"])
    #expect(device.changes.isEmpty)
  }
}
