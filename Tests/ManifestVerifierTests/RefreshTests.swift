import Digests
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `TUF 5·4 to 5·6: timestamp, snapshot and targets follow one another` {
  @Test(arguments: [true, false], [true, false]) func `a first refresh takes all four roles and keeps each exactly`(
    consistent: Bool, stated: Bool
  ) throws {
    let repository = FixtureRepository {
      $0.consistentSnapshot = consistent
      $0.statesLengthsAndHashes = stated
    }
    var device = Device(repository)
    let manifest = try device.refresh(repository)
    let names = consistent ? ["1.snapshot.json", "1.targets.json"] : ["snapshot.json", "targets.json"]
    #expect(device.requests == ["2.root.json", "timestamp.json"] + names)
    #expect(device.changes.names == ["root 1", "timestamp under 1", "snapshot under 1", "targets under 1"])
    // FN 18: the exact bytes received.
    #expect(device.stored.timestamp == repository["timestamp.json"])
    #expect(device.stored.snapshot == repository[names[0]])
    #expect(device.stored.targets == repository[names[1]])
    #expect(try manifest.file(at: TargetPath("org/model/weights.gguf")).byteCount == 7)
    #expect(throws: VerificationError.notListed(path: try TargetPath("other"))) { try manifest.file(at: TargetPath("other")) }
    #expect(manifest.targets.signers == [FixtureKey(4).id])
  }

  @Test(arguments: [true, false]) func `a second refresh without a change asks for roots and timestamp alone and keeps nothing`(
    consistent: Bool
  ) throws {
    let repository = FixtureRepository { $0.consistentSnapshot = consistent }
    var device = try Device(refreshedFrom: repository)
    #expect(try device.refresh(repository).versions == [1, 1, 1, 1])
    #expect(device.requests == ["2.root.json", "timestamp.json"])
    #expect(device.changes.isEmpty)
  }

  @Test func `a newer version of each role is taken`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.publishNext()
    #expect(try device.refresh(repository).versions == [1, 2, 2, 2])
    #expect(device.changes.names == ["timestamp under 1", "snapshot under 1", "targets under 1"])
  }

  @Test func `a new timestamp over the same snapshot needs no other file`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.timestamp.version = 2
    repository.publishTimestamp()
    #expect(try device.refresh(repository).versions == [1, 2, 1, 1])
    #expect(device.requests == ["2.root.json", "timestamp.json"])
  }

  @Test(arguments: ["timestamp.json", "1.snapshot.json", "1.targets.json"]) func `a file that is not there is named`(name: String) {
    var repository = FixtureRepository()
    repository.remove(name)
    var device = Device(repository)
    let role = ByteString(name.replacing("1.", with: "").replacing(".json", with: ""))
    #expect(device.refusal(repository) == .unavailable(role: role, urlPath: name))
  }

  @Test(arguments: ["timestamp", "snapshot", "targets"]) func `each role's file is signed by that role`(role: String) {
    let repository = FixtureRepository {
      // Each by the key of another role.
      if role == "timestamp" { $0.timestamp.signers = $0.snapshot.keys }
      if role == "snapshot" { $0.snapshot.signers = $0.timestamp.keys }
      if role == "targets" { $0.targets.signers = $0.root.keys }
    }
    var device = Device(repository)
    #expect(
      device.refusal(repository)
        == .thresholdNotMet(role: ByteString(role), signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1"))
    #expect(device.stored.targets == nil)
  }

  @Test func `a role's file can't stand for another's`() {
    var repository = FixtureRepository { $0.statesLengthsAndHashes = false }
    repository["1.targets.json"] = repository["1.snapshot.json"]
    var device = Device(repository)
    let found = MetadataError.invalidValue(path: "signed._type", expected: "\"targets\"", found: "\"snapshot\"")
    #expect(device.refusal(repository) == .malformed(role: "targets", found))
  }
}

@Suite struct `Nothing goes back` {
  static func refusal(after change: (inout FixtureRepository) -> Void) throws -> VerificationError? {
    var repository = FixtureRepository {
      ($0.timestamp.version, $0.snapshot.version, $0.targets.version) = (5, 5, 5)
      $0.delegated = ["team.json": 5, "other.json": 5]
    }
    var device = try Device(refreshedFrom: repository)
    let before = device.stored
    change(&repository)
    let refusal = device.refusal(repository)
    // A refused timestamp is not kept; a refused snapshot is not either.
    #expect(device.stored.snapshot == before.snapshot && device.stored.targets == before.targets)
    return refusal
  }

  @Test func `the timestamp`() throws {
    let refusal = try Self.refusal {
      $0.timestamp.version = 4
      $0.publishTimestamp()
    }
    #expect(refusal == .rolledBack(role: "timestamp", trusted: Version(known: 5), offered: Version(known: 4)))
  }

  @Test func `FN 10: the snapshot that a new timestamp names, before that timestamp is kept`() throws {
    var repository = FixtureRepository { $0.snapshot.version = 5 }
    var device = try Device(refreshedFrom: repository)
    repository.snapshot.version = 4
    repository.timestamp.version = 2
    repository.publish()
    #expect(device.refusal(repository) == .rolledBack(role: "snapshot", trusted: Version(known: 5), offered: Version(known: 4)))
    #expect(device.changes.isEmpty)
  }

  @Test func `FN 11: the targets that a new snapshot names`() throws {
    let refusal = try Self.refusal {
      ($0.timestamp.version, $0.snapshot.version, $0.targets.version) = (6, 6, 4)
      $0.publish()
    }
    #expect(refusal == .rolledBack(role: "targets.json", trusted: Version(known: 5), offered: Version(known: 4)))
  }

  @Test func `FN 11: a delegated role that a new snapshot names`() throws {
    let refusal = try Self.refusal {
      $0.delegated["team.json"] = 4
      $0.publishNext()
    }
    #expect(refusal == .rolledBack(role: "team.json", trusted: Version(known: 5), offered: Version(known: 4)))
  }

  @Test func `FN 11: a file that the kept snapshot lists can't go`() throws {
    let refusal = try Self.refusal {
      $0.delegated["team.json"] = nil
      $0.publishNext()
    }
    #expect(refusal == .removedFromSnapshot(name: "team.json"))
  }

  @Test func `files that are added to the snapshot, and the same versions, are fine`() throws {
    var repository = FixtureRepository { $0.delegated = ["team.json": 5] }
    var device = try Device(refreshedFrom: repository)
    repository.delegated["new.json"] = 1
    repository.publishNext()
    #expect(try device.refresh(repository).versions == [1, 2, 2, 2])
  }

  @Test func `FN 11: an expired kept snapshot is still the baseline`() throws {
    var repository = FixtureRepository {
      $0.delegated = ["team.json": 5]
      $0.snapshot.expires = "2030-01-02T00:00:00Z"
    }
    var device = try Device(refreshedFrom: repository)
    repository.delegated["team.json"] = 4
    repository.snapshot.expires = "2031-01-01T00:00:00Z"
    repository.publishNext()
    let later = UTCTime(known: "2030-06-01T00:00:00Z")
    #expect(device.refusal(repository, at: later) == .rolledBack(role: "team.json", trusted: Version(known: 5), offered: Version(known: 4)))
  }

  @Test func `FN 11: a kept snapshot that the kept timestamp no longer names is still the baseline`() throws {
    var repository = FixtureRepository { $0.delegated = ["team.json": 5] }
    var device = try Device(refreshedFrom: repository)
    repository.delegated["team.json"] = 4
    repository.publishNext()
    let rolledBack = VerificationError.rolledBack(role: "team.json", trusted: Version(known: 5), offered: Version(known: 4))
    // The timestamp is kept at the first try, so that at the second the kept snapshot's hash is another.
    #expect(device.refusal(repository) == rolledBack)
    #expect(device.changes.names == ["timestamp under 1"])
    #expect(device.refusal(repository) == rolledBack)
  }

  @Test func `an expired kept timestamp is still the baseline`() throws {
    var repository = FixtureRepository {
      $0.timestamp.version = 5
      $0.timestamp.expires = "2030-01-02T00:00:00Z"
    }
    var device = try Device(refreshedFrom: repository)
    repository.timestamp.version = 4
    repository.timestamp.expires = "2031-01-01T00:00:00Z"
    repository.publishTimestamp()
    let later = UTCTime(known: "2030-06-01T00:00:00Z")
    #expect(device.refusal(repository, at: later) == .rolledBack(role: "timestamp", trusted: Version(known: 5), offered: Version(known: 4)))
  }

  @Test func `FN 10: an equal timestamp is dropped silently, and the refresh goes on with the kept one`() throws {
    var repository = FixtureRepository()
    var device = Device(repository)
    // A crash right after the timestamp was kept.
    #expect(throws: Device.Crash.self) { try device.refresh(repository, lastChange: 2) }
    #expect(device.stored.timestamp != nil && device.stored.snapshot == nil)
    // The mirror now has other bytes under the same version.
    repository.timestamp.expires = "2032-01-01T00:00:00Z"
    repository.publishTimestamp()
    let manifest = try device.refresh(repository)
    #expect(manifest.timestamp.payload.expires.description == "2031-01-01T00:00:00Z")
    #expect(device.changes.names == ["snapshot under 1", "targets under 1"])
  }

  @Test func `an equal timestamp that names an older snapshot changes nothing`() throws {
    var repository = FixtureRepository { $0.snapshot.version = 5 }
    var device = try Device(refreshedFrom: repository)
    repository.snapshot.version = 4
    repository.publishSnapshot()
    repository.publishTimestamp()
    #expect(try device.refresh(repository).versions == [1, 1, 5, 1])
    #expect(device.changes.isEmpty)
  }

  @Test func `a kept timestamp below a raised threshold is the baseline and no longer used`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.rotate {
      $0.timestamp.keys.append(FixtureKey(50))
      $0.timestamp.threshold = 2
    }
    repository.publishTimestamp()
    let manifest = try device.refresh(repository)
    #expect(manifest.timestamp.bytes == repository["timestamp.json"] && manifest.timestamp.signers.count == 2)
    #expect(device.changes.names == ["root 2", "timestamp under 2"])
  }
}

@Suite struct `No parser sees a byte before the known length and hash hold` {
  static let junk = Array("{ this is no JSON".utf8)

  static func sized(_ repository: FixtureRepository, _ name: String) -> [UInt8] {
    Array(repeating: UInt8(ascii: "{"), count: repository[name].count)
  }

  @Test(arguments: [("1.snapshot.json", "snapshot"), ("1.targets.json", "targets")])
  func `FN 11 and 12: wrong length before wrong digest before malformed`(name: String, role: String) {
    var repository = FixtureRepository()
    let role = ByteString(role)
    let good = repository[name]
    var device = Device(repository)
    repository[name] = Self.junk
    #expect(
      device.refusal(repository)
        == .wrongMetadataLength(role: role, expected: Int64(good.count), actual: Int64(Self.junk.count)))
    repository[name] = Array(repeating: UInt8(ascii: "{"), count: good.count)
    guard case .wrongMetadataDigest(role, let expected, _) = device.refusal(repository) else {
      Issue.record("no wrong digest")
      return
    }
    #expect(expected == "sha256:\(SHA256.hash(of: good))")
    repository[name] = good + [0x20]
    #expect(device.refusal(repository) == .tooLarge(role: role, byteLimit: good.count))
  }

  @Test func `SHA-512 beside SHA-256 has to hold as well`() throws {
    var repository = FixtureRepository()
    let snapshot = repository["1.snapshot.json"]
    for digest in [SHA512.hash(of: snapshot), SHA512.hash(of: [])] {
      repository.timestamp.editSigned = { $0["meta", "snapshot.json", "hashes", "sha512"] = .text(digest.description) }
      repository.publishTimestamp()
      var device = Device(repository)
      let refusal = device.refusal(repository)
      if digest == SHA512.hash(of: snapshot) {
        #expect(refusal == nil)
      } else {
        let actual = "sha512:\(SHA512.hash(of: snapshot))"
        #expect(refusal == .wrongMetadataDigest(role: "snapshot", expected: "sha512:\(digest)", actual: actual))
      }
    }
  }

  @Test(arguments: [
    ("2.root.json", "root", 512_000), ("timestamp.json", "timestamp", 16_384), ("1.snapshot.json", "snapshot", 2_000_000),
    ("1.targets.json", "targets", 5_000_000),
  ]) func `FN 19: a file without a signed length has the limit of its role`(name: String, role: String, limit: Int) {
    var repository = FixtureRepository { $0.statesLengthsAndHashes = false }
    repository[name] = Array(repeating: UInt8(ascii: " "), count: limit + 1)
    var device = Device(repository)
    #expect(device.refusal(repository) == .tooLarge(role: ByteString(role), byteLimit: limit))
    repository[name] = Array(repeating: UInt8(ascii: " "), count: limit)
    guard case .malformed = device.refusal(repository) else {
      Issue.record("the limit itself is refused")
      return
    }
  }

  @Test func `a signed length beyond what the memory may hold is cut to that limit`() throws {
    let repository = FixtureRepository { repository in
      repository.timestamp.editSigned = { $0["meta", "snapshot.json", "length"] = .integer(.max) }
    }
    var workflow = try ClientWorkflow(anchor: repository.anchor, stored: .init(), now: FixtureRepository.now)
    _ = try workflow.supplyNotAvailable()
    _ = try workflow.supply(repository["timestamp.json"])
    #expect(workflow.request?.byteLimit == 1_000_000_000)
  }

  @Test(arguments: [("snapshot", "1.snapshot.json"), ("targets", "1.targets.json")])
  func `the version is exactly the signed one`(role: String, name: String) {
    for offered: Int64 in [1, 3] {
      let repository = FixtureRepository {
        let edit: FixtureRepository.Edit = { $0["version"] = .integer(offered) }
        if role == "snapshot" {
          $0.snapshot.version = 2
          $0.snapshot.editSigned = edit
        } else {
          $0.targets.version = 2
          $0.targets.editSigned = edit
        }
      }
      var device = Device(repository)
      #expect(
        device.refusal(repository) == .wrongVersion(role: ByteString(role), expected: Version(known: 2), actual: Version(known: offered)))
    }
  }
}

@Suite struct `What was kept is verified again` {
  @Test(arguments: ["snapshot", "targets"]) func `a damaged snapshot or targets that can't be parsed`(role: String) throws {
    let repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    if role == "snapshot" { device.stored.snapshot = [0] } else { device.stored.targets = [0] }
    let stored = device.stored
    #expect(throws: VerificationError.self) { try TrustedManifest(anchor: repository.anchor, stored: stored) }
    if role == "targets" {
      // Nothing is held against the kept targets: they are fetched again.
      #expect(device.refusal(repository) == nil)
      #expect(device.stored.targets == repository["1.targets.json"])
    } else {
      // The snapshot is what new ones are held against: silently going on would drop that protection.
      guard case .damagedState("snapshot", .malformed) = device.refusal(repository) else {
        Issue.record("no damage is reported")
        return
      }
    }
  }

  @Test func `a damaged timestamp`() throws {
    let repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    device.stored.timestamp = Array("{}".utf8)
    let missing = MetadataError.missingMember(name: "signatures", path: "")
    #expect(device.refusal(repository) == .damagedState(role: "timestamp", .malformed(role: "timestamp", missing)))
  }

  @Test func `the same without a mirror`() throws {
    let repository = FixtureRepository()
    let device = try Device(refreshedFrom: repository)
    let manifest = try TrustedManifest(anchor: device.anchor, stored: device.stored)
    #expect(manifest.versions == [1, 1, 1, 1])
    #expect(manifest.expired(at: FixtureRepository.now).isEmpty)
    let end = UTCTime(known: "2031-01-01T00:00:00Z")
    #expect(manifest.expired(at: end).map(\.role) == [.root, .timestamp, .snapshot, .targets])
    #expect(manifest.expired(at: end).allSatisfy { $0.since == end })
  }

  @Test(arguments: ["timestamp", "snapshot", "targets"]) func `what is missing was never refreshed, or is gone`(role: String) throws {
    let device = try Device(refreshedFrom: FixtureRepository())
    var stored = device.stored
    if role == "timestamp" { stored.timestamp = nil }
    if role == "snapshot" { stored.snapshot = nil }
    if role == "targets" { stored.targets = nil }
    // A device that has refreshed is not told that it never did.
    #expect(throws: VerificationError.missingFromState(name: ByteString("\(role) metadata"))) {
      try TrustedManifest(anchor: device.anchor, stored: stored)
    }
    stored.newestRefresh = nil
    #expect(throws: VerificationError.neverRefreshed(role: ByteString(role))) {
      try TrustedManifest(anchor: device.anchor, stored: stored)
    }
  }

  @Test func `a refresh that breaks off anywhere leaves a manifest that is usable offline`() throws {
    var repository = FixtureRepository()
    let first = try Device(refreshedFrom: repository)
    repository.rotate { $0.timestamp.keys.append(FixtureKey(60)) }
    repository.publishNext()
    let expected = [[1, 1, 1, 1], [2, 1, 1, 1], [2, 2, 1, 1], [2, 2, 2, 1]]
    for (count, versions) in expected.enumerated() {
      var device = first
      #expect(throws: Device.Crash.self) { try device.refresh(repository, lastChange: count) }
      let manifest = try TrustedManifest(anchor: device.anchor, stored: device.stored)
      #expect(manifest.versions == versions.map(Int64.init))
      #expect(try device.refresh(repository).versions == [2, 2, 2, 2])
    }
  }

  @Test func `a newer file than the one that names it, or another of its version, is damage`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    let (oldTimestamp, targets) = (repository["timestamp.json"], repository["1.targets.json"])
    repository.publishNext()
    try device.refresh(repository)
    var stored = device.stored
    stored.timestamp = oldTimestamp
    guard
      case .damagedState("snapshot", _) = #expect(
        throws: VerificationError.self, performing: { try TrustedManifest(anchor: device.anchor, stored: stored) })
    else {
      Issue.record("a newer snapshot")
      return
    }
    var other = FixtureRepository { $0.entries = [:] }
    other.publish()
    stored = device.stored
    stored.snapshot = repository["2.snapshot.json"]
    stored.targets = other["1.targets.json"]
    #expect(targets != stored.targets)
    // Older than what the snapshot names, and signed: what a refresh that broke off leaves.
    #expect(throws: Never.self) { try TrustedManifest(anchor: device.anchor, stored: stored) }
    // What no refresh has kept belongs together in every part.
    stored.verifiedUnderRoot = nil
    #expect(throws: VerificationError.self) { try TrustedManifest(anchor: device.anchor, stored: stored) }
  }

  @Test func `keys that were withdrawn are told as such and not as damage`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.rotate { $0.targets.keys = [FixtureKey(61)] }
    repository.remove("timestamp.json")
    #expect(device.refusal(repository) != nil)
    let stored = device.stored
    let withdrawn = VerificationError.thresholdNotMet(role: "targets", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 2")
    #expect(throws: withdrawn) { try TrustedManifest(anchor: device.anchor, stored: stored) }
  }
}
