import Digests
import FleetSimulator
import ManifestVerifier
import TUFMetadata
import Testing

/// The points of the field notes on client workflows that need mirrors, a clock or a disk. The others: 6, 7, 9 and 19 in
/// `ManifestVerifierTests`, 12–15, 19 and 21 in `DelegationTests`, 22 in `AttackTests`, 18 also in `LayoutTests` and `CrashTests`; every
/// case of the syntax (6, 8, 9, 15, 17, 23) in `TUFMetadataTests`.
@Suite struct `Field notes on mirrors, clock and disk` {
  @Test(arguments: ["timestamp", "snapshot", "targets"] as [ByteString])
  func `FN 1: metadata is expired at the very second that it states`(role: ByteString) throws {
    let end = Fleet.now.adding(days: 1)
    var fleet = try Fleet {
      switch role {
      case "timestamp": $0.timestamp.expires = end
      case "snapshot": $0.snapshot.expires = end
      default: $0.targets.expires = end
      }
    }
    #expect(fleet.refusal(fleet.mirror, at: try #require(UTCTime(secondsSince1970: end.secondsSince1970 - 1))) == nil)
    let before = fleet.device.disk
    #expect(fleet.refusal(fleet.mirror, at: end) == .expired(role: role, since: end, now: end))
    #expect(fleet.device.disk == before)
  }

  @Test func `FN 2: roots on the way may have expired, the last is checked after it was kept`() throws {
    var fleet = try Fleet()
    let end = Fleet.now.adding(days: 10)
    for days in [1, 2] { try fleet.publisher.rotate { $0.root.expires = Fleet.now.adding(days: days) } }
    #expect(fleet.refusal(fleet.mirror, at: end) == .expired(role: "root", since: Fleet.now.adding(days: 2), now: end))
    #expect(fleet.device.disk["roots/3.json"] == fleet.publisher.files["3.root.json"])
    try fleet.publisher.rotate { $0.root.expires = Fleet.expiry }
    #expect(try fleet.refresh(at: end) == [4, 1, 1, 1])
  }

  @Test func `FN 3: only "not available" ends the walk of roots`() throws {
    var fleet = try Fleet()
    var mirror = fleet.mirror
    mirror.answers["2.root.json"] = .failure
    let before = fleet.device.disk
    #expect(throws: SimulationError.unreachable(urlPath: "2.root.json")) { try fleet.device.refresh(from: [mirror], at: Fleet.now) }
    mirror.answers["2.root.json"] = .file([])
    #expect(fleet.refusal(mirror) == .malformed(role: "root", .syntax(.empty, offset: 0)))
    #expect(fleet.device.disk == before)
  }

  @Test func `FN 4, 18: roots that follow are kept one by one, each exactly`() throws {
    var fleet = try Fleet()
    for _ in 0..<3 { try fleet.publisher.rotate { _ in } }
    var broken = fleet.mirror
    broken.files["4.root.json"] = broken.files["3.root.json"]
    #expect(fleet.refusal(broken) == .wrongVersion(role: "root", expected: version(4), actual: version(3)))
    #expect(fleet.device.disk["root.json"] == fleet.publisher.files["3.root.json"])
    #expect(fleet.device.disk["roots/3.json"] == fleet.publisher.files["3.root.json"])
    #expect(fleet.device.disk["roots/4.json"] == nil)
    #expect(try fleet.refresh() == [4, 1, 1, 1])
  }

  @Test(arguments: ["timestamp", "snapshot"])
  func `FN 5: a key that is taken away supersedes timestamp and snapshot, whose floor the attacker raised`(role: String) throws {
    var fleet = try Fleet()
    // Rotated before the attack, so that the root that was shipped is no longer the one that the cache is verified under.
    try fleet.publisher.rotate { _ in }
    try fleet.refresh()
    fleet.attacker.keys = fleet.publisher.timestamp.keys + fleet.publisher.snapshot.keys + fleet.publisher.targets.keys
    #expect(fleet.refusal(try fleet.attacker.fastForward(fleet.publisher, to: version(.max))) == nil)
    #expect(fleet.refusal(fleet.mirror) == .rolledBack(role: "timestamp", trusted: version(.max), offered: version(1)))
    let key = try fleet.publisher.key("new")
    try fleet.publisher.rotate { if role == "timestamp" { $0.timestamp.keys = [key] } else { $0.snapshot.keys = [key] } }
    try fleet.publishNext()
    #expect(try fleet.refresh() == [3, 2, 2, 2])
    #expect(fleet.device.disk["timestamp.json"] == fleet.publisher.files["timestamp.json"])
    #expect(fleet.device.disk["snapshot.json"] == fleet.publisher.files["2.snapshot.json"])
    #expect(fleet.device.stored.verifiedUnderRoot == version(3))
  }

  @Test(arguments: ["timestamp", "snapshot"]) func `FN 5: a key that is only added supersedes nothing`(role: String) throws {
    var fleet = try Fleet()
    try fleet.publishNext()
    try fleet.refresh()
    let key = try fleet.publisher.key("backup")
    try fleet.publisher.rotate { if role == "timestamp" { $0.timestamp.keys.append(key) } else { $0.snapshot.keys.append(key) } }
    var old = fleet.attacker.freeze(0)
    old.files["2.root.json"] = fleet.publisher.files["2.root.json"]
    let before = fleet.device.disk
    #expect(fleet.refusal(old) == .rolledBack(role: "timestamp", trusted: version(2), offered: version(1)))
    // The new root was kept, and nothing of the cache was lost for it.
    #expect(fleet.device.disk["roots/2.json"] == fleet.publisher.files["2.root.json"])
    for name in ["timestamp.json", "snapshot.json", "targets.json", "trust"] { #expect(fleet.device.disk[name] == before[name], "\(name)") }
    #expect(try fleet.refresh() == [2, 2, 2, 2])
  }

  @Test func `FN 5: keys are compared with the root that the cache was verified under, not with the one that was shipped`() throws {
    var fleet = try Fleet()
    let key = try fleet.publisher.key("new timestamp")
    try fleet.publisher.rotate { $0.timestamp.keys = [key] }
    try fleet.publishNext()
    #expect(try fleet.refresh() == [2, 2, 2, 2])
    // A device that compares with the shipped root would discard its cache at each refresh from here on.
    var old = fleet.attacker.freeze(0)
    old.files["2.root.json"] = fleet.publisher.files["2.root.json"]
    var lower = fleet.publisher
    lower.timestamp.version = version(1)
    try lower.publish()
    let before = fleet.device.disk
    #expect(fleet.refusal(SimulatedMirror(lower.files)) == .rolledBack(role: "timestamp", trusted: version(2), offered: version(1)))
    #expect(
      fleet.refusal(old) == .thresholdNotMet(role: "timestamp", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 2"))
    #expect(fleet.device.disk == before)
  }

  @Test(arguments: [true, false])
  func `FN 16: versions stand before names as the root says, before the timestamp's never and before roots' always`(
    consistent: Bool
  ) throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      publisher.consistentSnapshot = consistent
      let key = try publisher.key("team")
      publisher.targets.delegations = [SimulatedDelegation("team", keys: [key], paths: ["team/*"])]
      publisher.addRole("team", keys: [key], files: ["team/file"])
    }
    try fleet.publishNext()
    #expect(try fleet.refresh() == [1, 2, 2, 2])
    let prefix = consistent ? "2." : ""
    #expect(fleet.device.requests == ["2.root.json", "timestamp.json", "\(prefix)snapshot.json", "\(prefix)targets.json"])
    #expect(try fleet.finder(of: "team/file") == "team")
    #expect(fleet.device.requests == ["\(prefix)team.json"])
    for name in ["snapshot", "targets"] { #expect(fleet.device.disk["\(name).json"] == fleet.publisher.files["\(prefix)\(name).json"]) }
    let file = SimulatedPublisher.file("weights")
    let path = target("org/model/weights.gguf")
    let digits = Array(file.hashes.sha256.description.utf8)
    #expect(String(decoding: path.prefixed(by: digits), as: UTF8.self) == "org/model/\(file.hashes.sha256).weights.gguf")
  }

  @Test func `FN 10: a crash between timestamp and snapshot wedges nothing`() throws {
    var fleet = try Fleet()
    try fleet.publishNext()
    var mirror = fleet.mirror
    mirror.answers["2.snapshot.json"] = .failure
    #expect(throws: SimulationError.unreachable(urlPath: "2.snapshot.json")) { try fleet.device.refresh(from: [mirror], at: Fleet.now) }
    #expect(fleet.device.disk["timestamp.json"] == fleet.publisher.files["timestamp.json"])
    #expect(fleet.device.disk["snapshot.json"] == fleet.publisher.files["1.snapshot.json"])
    #expect(try fleet.device.manifest().versions == [1, 2, 1, 1])
    #expect(try fleet.refresh() == [1, 2, 2, 2])
  }

  @Test func `FN 11: a delegated role never goes back, nor out of the snapshot`() throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("team")
      publisher.targets.delegations = [SimulatedDelegation("team", keys: [key], paths: ["*"])]
      publisher.addRole("team", keys: [key], files: ["file"])
      publisher.delegated["team"]?.version = version(5)
    }
    let device = fleet.device
    var next = fleet.publisher
    next.delegated["team"]?.version = version(3)
    try next.publishNext()
    #expect(
      fleet.refusal(SimulatedMirror(next.files)) == .rolledBack(role: "team.json", trusted: version(5), offered: version(4)))
    next = fleet.publisher
    fleet.device = device
    next.delegated["team"] = nil
    try next.publishNext()
    #expect(fleet.refusal(SimulatedMirror(next.files)) == .removedFromSnapshot(name: "team.json"))
    #expect(fleet.device.disk["snapshot.json"] == fleet.publisher.files["1.snapshot.json"])
  }

  /// What a publisher, or a thief of its key, has signed after a change of the text.
  static func edited(_ path: String, of fleet: Fleet, by keys: [SimulatedKey], _ old: String, _ new: String) throws -> SimulatedMirror {
    let text = String(decoding: try #require(fleet.publisher.files[path]), as: UTF8.self)
    let signed = try #require(text.split(separator: ",\"signed\":", maxSplits: 1).last).dropLast()
    let edited = signed.replacing(old, with: new)
    try #require(edited != signed)
    var mirror = fleet.mirror
    mirror.files[path] = try keys.file(over: Array(edited.utf8))
    return mirror
  }

  @Test(arguments: [
    ("\"version\":1}", "\"version\":true}", "signed.version: expected a version: an integer of at least 1, found true"),
    (
      "\"version\":1}", "\"version\":1.0}",
      "malformed JSON at byte N: a number has a fraction or an exponent; canonical JSON has integers only"
    ),
    ("\"version\":1}", "\"version\":1,\"version\":1}", "malformed JSON at byte N: the member \"version\" stands twice in one object"),
    (
      "\"sha256\":\"", "\"sha256\":\"zz",
      "signed.meta.snapshot.json.hashes.sha256: expected a SHA-256 digest: expected exactly 64 lower-case hexadecimal digits, found 66 characters, found \"zz…\""
    ),
    (
      "\"sha256\":\"", "\"sha256\":\"\",\"x\":\"",
      "signed.meta.snapshot.json.hashes.sha256: expected a SHA-256 digest: expected exactly 64 lower-case hexadecimal digits, found 0 characters, found \"\""
    ),
  ]) func `FN 17: syntax that others let pass is refused, signed or not`(old: String, new: String, reason: String) throws {
    var fleet = try Fleet()
    let before = fleet.device.disk
    let refusal = fleet.refusal(try Self.edited("timestamp.json", of: fleet, by: fleet.publisher.timestamp.keys, old, new))
    #expect(
      refusal?.description.replacing(/byte [0-9]+/, with: "byte N").replacing(/[0-9a-f]{20,}/, with: "…")
        == "timestamp metadata is malformed: \(reason)")
    #expect(fleet.device.disk == before)
  }

  @Test func `FN 8: a key id that is not the SHA-256 of its key refuses the root`() throws {
    var fleet = try Fleet()
    try fleet.publisher.rotate { _ in }
    let id = fleet.publisher.timestamp.keys[0].key.id.description
    let wrong = String(id.reversed())
    let before = fleet.device.disk
    #expect(
      fleet.refusal(try Self.edited("2.root.json", of: fleet, by: fleet.publisher.root.keys, id, wrong))
        == .malformed(role: "root", .keyIDMismatch(declared: wrong, computed: id)))
    #expect(fleet.device.disk == before)
  }

  @Test(arguments: ["../x", "a//b", "/a", "a/./b", "a/../b", "a\\\\b", "a\\u0000b"])
  func `FN 15, 23: a target path that leads elsewhere refuses the targets`(path: String) throws {
    let shown = path.replacing("\\\\", with: "\\").replacing("\\u0000", with: "\0")
    var fleet = try Fleet { $0.statesLengthsAndHashes = false }
    try fleet.publisher.publishNext()
    let mirror = try Self.edited("2.targets.json", of: fleet, by: fleet.publisher.targets.keys, "org/model/weights.gguf", path)
    let refusal = fleet.refusal(mirror)
    // The same words as the path itself is refused with, and where it stands.
    guard case .malformed(role: "targets", .invalidValue(let place, let expected, let found)) = refusal,
      case .invalidValue(_, expected, found)? = #expect(throws: MetadataError.self, performing: { try TargetPath(ByteString(shown)) })
    else {
      Issue.record("\(path): \(String(describing: refusal))")
      return
    }
    #expect(place.hasPrefix("signed.targets"))
    #expect(fleet.device.disk["targets.json"] == fleet.publisher.files["1.targets.json"])
  }

  @Test func `FN 20: a repository may be followed in which a role never verifies any more`() throws {
    var fleet = try Fleet()
    try fleet.publisher.rotate { $0.targets.threshold = 2 }
    try fleet.publishNext()
    #expect(
      fleet.refusal(fleet.mirror)
        == .thresholdNotMet(role: "targets", signed: 1, threshold: 2, keyCount: 1, delegator: "root version 2"))
    #expect(fleet.device.disk["roots/2.json"] == fleet.publisher.files["2.root.json"])
    try fleet.publisher.rotate { $0.targets.threshold = 1 }
    #expect(try fleet.refresh() == [3, 2, 2, 2])
  }
}

@Suite struct `A fleet that is driven from a seed` {
  @Test(arguments: 1...12 as ClosedRange<UInt64>) func `follows the honest publisher and nobody else`(seed: UInt64) throws {
    var simulation = try FleetSimulation(seed: seed, start: Fleet.now)
    for _ in 0..<120 { try simulation.step() }
    #expect(simulation.violations.isEmpty, "\(simulation.events.suffix(20).joined(separator: "\n"))")
    #expect(simulation.devices.count > 2 && simulation.publisher.root.version > version(2))
    #expect(simulation.events.contains { $0.contains("refuses") } && simulation.events.contains { $0.contains("starts again") })
  }

  @Test func `does the same in every run`() throws {
    func events(_ seed: UInt64) throws -> [String] {
      var simulation = try FleetSimulation(seed: seed, start: Fleet.now)
      for _ in 0..<60 { try simulation.step() }
      return simulation.events
    }
    #expect(try events(7) == events(7))
    #expect(try events(7) != events(8))
  }
}
