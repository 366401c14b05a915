import Digests
import FleetSimulator
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

/// The attacks that TUF 1.0.34 §1.5.2 lists, in its order and by its names; each ends with the state on the disk.
@Suite struct `TUF 1·5·2: attacks` {
  static let paths = ["2.root.json", "timestamp.json", "2.snapshot.json", "2.targets.json"]

  static func tooFew(_ role: ByteString, threshold: Int = 1, keys: Int = 1, signed: Int = 0) -> VerificationError {
    .thresholdNotMet(role: role, signed: signed, threshold: threshold, keyCount: keys, delegator: "root version 1")
  }

  @Test func `arbitrary installation: what the publisher did not sign is refused`() throws {
    var fleet = try Fleet()
    let before = fleet.device.disk
    let forged = try fleet.attacker.forge(fleet.publisher) {
      $0.targets.targets[target("org/model/weights.gguf")] = SimulatedPublisher.file("malware")
      $0.timestamp.advance()
    }
    #expect(fleet.refusal(forged) == Self.tooFew("timestamp"))
    #expect(fleet.device.disk == before)
  }

  @Test(arguments: paths) func `endless data: each transfer is broken off`(path: String) throws {
    var fleet = try Fleet()
    try fleet.publishNext()
    let mirror = fleet.attacker.endlessData(path, of: 1)
    let limits = VerificationLimits()
    let refusal: VerificationError =
      switch path {
      case "2.root.json": .tooLarge(role: "root", byteLimit: limits.rootByteCount)
      case "timestamp.json": .tooLarge(role: "timestamp", byteLimit: limits.timestampByteCount)
      // The length that is signed is the most that is taken.
      case "2.snapshot.json": .tooLarge(role: "snapshot", byteLimit: fleet.publisher.files[path]?.count ?? 0)
      default: .tooLarge(role: "targets", byteLimit: fleet.publisher.files[path]?.count ?? 0)
      }
    #expect(fleet.refusal(mirror) == refusal)
    // What came before is kept, and nothing else has changed.
    let kept = Self.paths.prefix { $0 != path }
    let (old, new) = (fleet.attacker.recordings[0], fleet.attacker.recordings[1])
    #expect(fleet.device.disk["root.json"] == fleet.publisher.anchor && fleet.device.disk["roots/2.json"] == nil)
    #expect(fleet.device.disk["timestamp.json"] == (kept.contains("timestamp.json") ? new : old)["timestamp.json"])
    #expect(fleet.device.disk["snapshot.json"] == (kept.contains("2.snapshot.json") ? new["2.snapshot.json"] : old["1.snapshot.json"]))
    #expect(fleet.device.disk["targets.json"] == old["1.targets.json"])
    #expect(try fleet.refresh() == [1, 2, 2, 2])
  }

  @Test func `extraneous dependencies: a file more needs the targets key`() throws {
    var fleet = try Fleet()
    fleet.attacker.keys = fleet.publisher.timestamp.keys + fleet.publisher.snapshot.keys
    let forged = try fleet.attacker.forge(fleet.publisher) {
      $0.targets.targets[target("org/model/extra.gguf")] = SimulatedPublisher.file("extra")
      $0.targets.advance()
      $0.snapshot.advance()
      $0.timestamp.advance()
    }
    #expect(fleet.refusal(forged) == Self.tooFew("targets"))
    #expect(fleet.device.disk["targets.json"] == fleet.publisher.files["1.targets.json"])
    #expect(try fleet.device.manifest().targets.payload[target("org/model/extra.gguf")] == nil)
  }

  @Test func `fast-forward: a rotation recovers from it, wherever the power is cut`() throws {
    var fleet = try Fleet()
    fleet.attacker.keys = fleet.publisher.timestamp.keys + fleet.publisher.snapshot.keys + fleet.publisher.targets.keys
    let forged = try fleet.attacker.fastForward(fleet.publisher, to: version(.max))
    #expect(fleet.refusal(forged) == nil)
    #expect(fleet.refusal(fleet.mirror) == .rolledBack(role: "timestamp", trusted: version(.max), offered: version(1)))
    let key = try fleet.publisher.key("new timestamp")
    try fleet.publisher.rotate { $0.timestamp.keys = [key] }
    try fleet.publishNext()
    let attacked = fleet.device
    try fleet.refresh()
    let points = fleet.device.disk.pointCount - attacked.disk.pointCount
    #expect(points >= 20)
    for point in 0..<points {
      for keepsUnsynced in [false, true] {
        fleet.device = attacked
        fleet.device.disk.powerCutPoint = attacked.disk.pointCount + point
        #expect(throws: SimulationError.powerCut) { try fleet.refresh() }
        fleet.device.disk.restart(keepsUnsynced: keepsUnsynced)
        #expect(try fleet.refresh() == [2, 2, 2, 2], "after point \(point)")
        #expect(fleet.device.disk["timestamp.json"] == fleet.publisher.files["timestamp.json"])
        #expect(fleet.refusal(forged) != nil)
      }
    }
  }

  @Test func `indefinite freeze: it ends when the timestamp expires, and what is trusted stays usable`() throws {
    var fleet = try Fleet { $0.timestamp.expires = Fleet.now.adding(days: 14) }
    fleet.publisher.timestamp.expires = Fleet.now.adding(days: 28)
    try fleet.publishNext()
    let frozen = fleet.attacker.freeze(0)
    let (last, end) = (Fleet.now.adding(days: 13), Fleet.now.adding(days: 14))
    #expect(fleet.refusal(frozen, at: last) == nil)
    let before = fleet.device.disk
    #expect(fleet.refusal(frozen, at: end) == .expired(role: "timestamp", since: end, now: end))
    #expect(fleet.device.disk == before)
    #expect(try fleet.device.manifest().versions == [1, 1, 1, 1])
    #expect(try fleet.refresh(at: end) == [1, 2, 2, 2])
  }

  @Test func `malicious mirrors preventing updates: one honest mirror is enough, and FN 22: roots end where every mirror says so`() throws {
    var fleet = try Fleet()
    try fleet.publisher.rotate { _ in }
    try fleet.publishNext()
    var (silent, garbage) = (fleet.mirror, fleet.mirror)
    silent.isReachable = false
    for path in garbage.files.keys { garbage.files[path] = Array("<html>502</html>".utf8) }
    let empty = SimulatedMirror([:])
    for first in [silent, garbage, empty, fleet.attacker.freeze(0)] {
      fleet.device = SimulatedDevice(anchor: fleet.publisher.anchor)
      guard first.files != fleet.attacker.recordings[0] else {
        // An old mirror first: all of it is taken, for it has not expired. What it can't do is to hide the root.
        #expect(try fleet.device.refresh(from: [first, fleet.mirror], at: Fleet.now).versions == [2, 1, 1, 1])
        continue
      }
      var error: SimulationError?
      do { #expect(try fleet.device.refresh(from: [first, fleet.mirror], at: Fleet.now).versions == [2, 2, 2, 2]) } catch let caught {
        error = caught
      }
      // The end of the chain has to be said by every mirror: one that is silent leaves it open.
      #expect(error == (first.isReachable ? nil : .refused(.undecidedRoot(urlPath: "3.root.json"))))
      #expect(fleet.device.disk["timestamp.json"] == (first.isReachable ? fleet.publisher.files["timestamp.json"] : nil))
      #expect(fleet.device.disk["roots/2.json"] == fleet.publisher.files["2.root.json"])
    }
  }

  /// What a hostile mirror does with what its old timestamp names.
  enum Withholding: CaseIterable, Sendable {
    case denied, failing, endless, garbage
  }

  @Test(arguments: [true, false], Withholding.allCases)
  func `malicious mirrors preventing updates: an old timestamp of which the rest is withheld hinders no mirror that is whole`(
    consistent: Bool, withholding: Withholding
  ) throws {
    var fleet = try Fleet { $0.consistentSnapshot = consistent }
    try fleet.publishNext()
    let names = consistent ? ["1.snapshot.json", "1.targets.json"] : ["snapshot.json", "targets.json"]
    // The honest mirror has only what is newest.
    var honest = fleet.mirror
    if consistent { for name in names { honest.files[name] = nil } }
    for withheld in [names, [names[1]]] {
      var hostile = fleet.attacker.freeze(0)
      for name in withheld {
        hostile.files[name] = withholding == .garbage ? Array("junk".utf8) : nil
        if withholding == .failing { hostile.answers[name] = .failure }
        if withholding == .endless { hostile.answers[name] = .endless }
      }
      for mirrors in [[hostile, honest], [honest, hostile], [hostile, hostile, honest]] {
        fleet.device = SimulatedDevice(anchor: fleet.publisher.anchor)
        #expect(try fleet.device.refresh(from: mirrors, at: Fleet.now).versions == [1, 2, 2, 2])
        // Whatever was accepted on the way, nothing older is taken any more.
        #expect(fleet.refusal(fleet.attacker.freeze(0)) == .rolledBack(role: "timestamp", trusted: version(2), offered: version(1)))
      }
      // Without an honest mirror the old timestamp is kept, and the refresh goes on from it.
      fleet.device = SimulatedDevice(anchor: fleet.publisher.anchor)
      #expect(throws: SimulationError.self) { try fleet.device.refresh(from: [hostile, hostile], at: Fleet.now) }
      #expect(fleet.device.disk["timestamp.json"] == hostile.files["timestamp.json"])
      #expect(try fleet.device.refresh(from: [honest], at: Fleet.now).versions == [1, 2, 2, 2])
    }
  }

  @Test func `malicious mirrors preventing updates: the newest accepted timestamp holds, however many mirrors are older`() throws {
    var fleet = try Fleet()
    try fleet.publishNext()
    var ahead = fleet.mirror
    ahead.files["2.snapshot.json"] = nil
    let old = fleet.attacker.freeze(0)
    #expect(
      fleet.refusal(ahead, old, old) == .unavailable(role: "snapshot", urlPath: "2.snapshot.json"))
    #expect(fleet.device.disk["timestamp.json"] == fleet.publisher.files["timestamp.json"])
    #expect(fleet.refusal(old) == .rolledBack(role: "timestamp", trusted: version(2), offered: version(1)))
    #expect(try fleet.device.manifest().versions == [1, 2, 1, 1])
    #expect(try fleet.refresh() == [1, 2, 2, 2])
  }

  @Test(arguments: [("timestamp.json", "2.snapshot.json"), ("timestamp.json", "2.targets.json")])
  func `mix-and-match: files of two publications do not go together`(_: String, path: String) throws {
    var fleet = try Fleet()
    try fleet.publishNext()
    var mixed = fleet.mirror
    mixed.files[path] = fleet.attacker.recordings[0][path.replacing("2.", with: "1.")]
    let role: ByteString = path.contains("snapshot") ? "snapshot" : "targets"
    let (signed, served) = (fleet.publisher.files[path] ?? [], mixed.files[path] ?? [])
    let refusal: VerificationError =
      signed.count == served.count
      ? .wrongMetadataDigest(
        role: role, expected: "sha256:\(SHA256.hash(of: signed))", actual: "sha256:\(SHA256.hash(of: served))")
      : .wrongMetadataLength(role: role, expected: Int64(signed.count), actual: Int64(served.count))
    #expect(fleet.refusal(mixed) == refusal)
    #expect(fleet.device.disk["timestamp.json"] == fleet.publisher.files["timestamp.json"])
    #expect(fleet.device.disk["snapshot.json"] == fleet.publisher.files[role == "snapshot" ? "1.snapshot.json" : "2.snapshot.json"])
    #expect(fleet.device.disk["targets.json"] == fleet.publisher.files["1.targets.json"])
    #expect(try fleet.refresh() == [1, 2, 2, 2])
  }

  @Test(arguments: [("snapshot.json", "snapshot"), ("targets.json", "targets")] as [(String, ByteString)])
  func `mix-and-match: nor where the versions alone are signed`(path: String, role: ByteString) throws {
    var fleet = try Fleet {
      $0.consistentSnapshot = false
      $0.statesLengthsAndHashes = false
    }
    try fleet.publishNext()
    let mixed = fleet.attacker.mix([path], of: 0, into: 1)
    #expect(fleet.refusal(mixed) == .wrongVersion(role: role, expected: version(2), actual: version(1)))
    let (old, new) = (fleet.attacker.recordings[0], fleet.attacker.recordings[1])
    #expect(fleet.device.disk["timestamp.json"] == new["timestamp.json"])
    #expect(fleet.device.disk["snapshot.json"] == (role == "snapshot" ? old : new)["snapshot.json"])
    #expect(fleet.device.disk["targets.json"] == old["targets.json"])
  }

  @Test func `rollback: an older publication is refused`() throws {
    var fleet = try Fleet()
    try fleet.publishNext()
    try fleet.refresh()
    let before = fleet.device.disk
    #expect(fleet.refusal(fleet.attacker.freeze(0)) == .rolledBack(role: "timestamp", trusted: version(2), offered: version(1)))
    #expect(fleet.device.disk == before)
  }

  @Test func `key compromise: fewer keys than the threshold sign nothing`() throws {
    var keys: [SimulatedKey] = []
    for name in ["a", "b", "c"] { keys.append(try SimulatedKey(name, seed: 1)) }
    var fleet = try Fleet { [keys] in
      $0.targets.keys = keys
      $0.targets.threshold = 2
    }
    fleet.attacker.keys = [keys[0]] + fleet.publisher.timestamp.keys + fleet.publisher.snapshot.keys
    let change: (inout SimulatedPublisher) -> Void = {
      $0.targets.targets[target("org/model/weights.gguf")] = SimulatedPublisher.file("malware")
      $0.targets.advance()
      $0.snapshot.advance()
      $0.timestamp.advance()
    }
    let targets = fleet.device.disk["targets.json"]
    #expect(fleet.refusal(try fleet.attacker.forge(fleet.publisher, change)) == Self.tooFew("targets", threshold: 2, keys: 3, signed: 1))
    #expect(fleet.device.disk["targets.json"] == targets && targets == fleet.publisher.files["1.targets.json"])
    fleet.attacker.keys.append(keys[1])
    fleet.device = SimulatedDevice(anchor: fleet.publisher.anchor)
    let forged = try fleet.attacker.forge(fleet.publisher, change)
    #expect(fleet.refusal(forged) == nil, "two of three may sign, whoever holds them: what a threshold is for")
  }

  @Test func `key compromise: a stolen key counts for nothing once it was rotated`() throws {
    var fleet = try Fleet()
    fleet.attacker.keys = fleet.publisher.targets.keys + fleet.publisher.snapshot.keys + fleet.publisher.timestamp.keys
    let old = fleet.publisher
    for name in ["timestamp", "snapshot", "targets"] {
      let key = try fleet.publisher.key("new " + name)
      try fleet.publisher.rotate {
        switch name {
        case "timestamp": $0.timestamp.keys = [key]
        case "snapshot": $0.snapshot.keys = [key]
        default: $0.targets.keys = [key]
        }
      }
    }
    try fleet.publishNext()
    #expect(try fleet.refresh() == [4, 2, 2, 2])
    let before = fleet.device.disk
    var forged = try fleet.attacker.fastForward(old, to: version(1000))
    forged.files.merge(fleet.publisher.files.filter { $0.key.hasSuffix("root.json") }) { $1 }
    #expect(
      fleet.refusal(forged)
        == .thresholdNotMet(role: "timestamp", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 4"))
    #expect(fleet.device.disk == before)
  }

  @Test func `wrong software installation: a signed file is not another signed file`() throws {
    var fleet = try Fleet { $0.targets.targets[target("org/other/weights.gguf")] = SimulatedPublisher.file("other") }
    let file = try #require(try fleet.finding(of: "org/model/weights.gguf")).file
    let folder = try TemporaryFolder()
    let path = try folder.write("other", to: "weights.gguf")
    var verifier = FileVerifier(method: .whole)
    #expect(throws: VerificationError.wrongLength(path: path, expected: 7, actual: 5)) { _ = try verifier.verify(path, against: file) }
    try folder.write("weights", to: "weights.gguf")
    _ = try verifier.verify(path, against: file)
  }
}
