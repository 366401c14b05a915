import Digests
import FleetSimulator
import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `A drill on a repository that is in order` {
  /// Played once for all that is asked of it.
  private static let played = Result { try DrillSite().drill(seed: 5, peer: PythonTUF.client(try peerPython(), searchPath: nil)) }

  @Test func `plays every scenario, and all pass, python-tuf's too`() throws {
    let report = try Self.played.get()
    #expect(report.passed, "\(report.failures)")
    #expect(report.count(.notRun) == 0)
    #expect(Set(report.findings.map(\.scenario)) == Set(DrillScenario.allCases))
    let followed = Set(report.findings.filter { $0.device.hasPrefix("python-tuf 7") }.map(\.scenario))
    #expect(followed == [.replayFresh, .replayCached, .rotation, .rotationOverlap, .returnAfterYears, .missedRoot])
  }

  @Test func `plays each for every role, key and root that there is`() throws {
    let report = try Self.played.get()
    let top = ["root", "timestamp", "snapshot", "targets"]
    let delegated = ["team", "bin-0 and 1 with the same keys", "team/inner"]
    #expect(Set(report.roles(.rotation)) == Set(top + delegated))
    #expect(Set(report.roles(.rotationOverlap)) == Set(top + delegated))
    #expect(Set(report.roles(.expiry)) == Set(top + delegated))
    #expect(Set(report.roles(.compromise)) == Set(top.dropFirst() + delegated))
    #expect(Set(report.roles(.compromiseBelowThreshold)) == ["root", "targets"])
    #expect(report.roles(.keyLoss).count == 4 + 1 + 1 + 3 + 2 + 1 + 1)
    #expect(report.roles(.keyLoss).contains("root: root-4") && report.roles(.keyLoss).contains("snapshot: snapshot-2"))
    for scenario in [DrillScenario.replayFresh, .replayCached, .replayFastForwarded, .replayOffline] {
      #expect(Set(report.roles(scenario)) == ["root 1", "root 2", "root 3"])
    }
    #expect(Set(report.roles(.renewal)) == Set(top + ["team", "team/inner", "bin-0", "bin-8"]))
    #expect(report.roles(.publisherCrash).count == 5 && report.roles(.interruptedUpload).count == 5)
  }

  @Test func `says what has no cure in band, and how long devices would be without updates`() throws {
    let report = try Self.played.get()
    let root = try #require(report.findings.first { $0.scenario == .compromiseRootThreshold })
    #expect(root.expected.contains("no cure in band") && root.outage.seconds == nil && root.outage.text.contains("update of the app"))
    let expiry = try #require(report.findings.first { $0.scenario == .expiry && $0.role == "timestamp" })
    #expect(expiry.outage.seconds == 86_400 && expiry.expected.contains("2030-06-15T00:00:00Z"))
    let rotation = try #require(report.findings.first { $0.scenario == .rotation })
    #expect(rotation.outage == .none)
    // Under root 1 the snapshot key was another: whoever was fast-forwarded then recovers; later nobody does without a rotation.
    let cached = report.findings.filter { $0.scenario == .replayFastForwarded }
    #expect(cached.map { $0.outage == .none } == [true, false, false])
  }

  @Test func `happens again with the same seed, and passes with another`() throws {
    let own = try Self.played.get().findings.filter { !$0.device.hasPrefix("python-tuf") }
    let peerless = PeerProblem("not asked")
    #expect(try DrillSite().drill(seed: 5, peer: .failure(peerless)).findings.filter { $0.result != .notRun } == own)
    let other = try DrillSite().drill(seed: 11)
    #expect(other.passed, "\(other.failures)")
  }

  @Test func `takes bins for what they are: signed by the keys of targets, and told of as little as need be`() throws {
    let site = try DrillSite { (publisher) throws(SimulationError) in
      publisher.targets.delegations.removeAll { $0.name != "team" }
      for number in 0..<16 {
        let digit = String(number, radix: 16)
        let name = ByteString("bin-000" + digit)
        var bin = SimulatedDelegation(
          name, keys: publisher.targets.keys, scope: .pathHashPrefixes([ByteString(digit)]), isTerminating: true)
        bin.threshold = publisher.targets.threshold
        publisher.targets.delegations.append(bin)
        publisher.addRole(name, keys: publisher.targets.keys)
      }
      (publisher.delegated["bin-0"], publisher.delegated["bin-8"]) = (nil, nil)
    }
    let report = try site.drill()
    #expect(report.passed, "\(report.failures)")
    let own = ["root", "timestamp", "snapshot", "targets", "team", "team/inner"]
    #expect(Set(report.roles(.rotation)) == Set(own) && Set(report.roles(.rotationOverlap)) == Set(own))
    #expect(Set(report.roles(.compromise)) == Set(own.dropFirst()))
    #expect(!report.roles(.keyLoss).contains { $0.contains("bin-") })
    #expect(Set(report.roles(.expiry)) == Set(own + ["bin-0000 and 2 with the same keys"]))
    #expect(report.roles(.renewal).filter { $0.hasPrefix("bin-") }.count == 16)
    // One bin that nobody has renewed is found, whatever else is fresh.
    try site.change { publisher in
      publisher.delegated["bin-0007"]?.expires = DrillSite.now.adding(days: 2)
      try publisher.publishNext()
    }
    let stale = try site.drill()
    #expect(stale.failed == [.renewal] && stale.failures.contains("bin-0007"), "\(stale.failures)")
  }

  @Test func `asks nothing of roles that a snapshot goes on listing and nobody delegates to`() throws {
    let site = try DrillSite()
    try site.change { publisher in
      publisher.targets.delegations.removeAll { $0.name == "team" }
      publisher.delegated["team"]?.expires = DrillSite.now.adding(days: -1)
      publisher.delegated["team/inner"]?.expires = DrillSite.now.adding(days: -1)
      try publisher.publishNext()
    }
    let report = try site.drill()
    #expect(report.passed, "\(report.failures)")
    #expect(!report.roles(.renewal).contains("team"))
  }

  @Test func `stops when it is told to`() throws {
    let site = try DrillSite()
    let material = try withExtendedLifetime(site) { try DrillMaterial(RepositoryLayout(site.folder.path)) }
    let drill = Drill(
      material, seed: 1, now: DrillSite.now, peer: .failure(PeerProblem("not asked")), temporaryFolder: "/nowhere")
    #expect(drill.run { $0 != .replayFresh } == nil)
  }

  @Test func `says what is not run where there is no second client`() throws {
    let report = try DrillSite().drill(peer: PythonTUF.client(nil, searchPath: "/nowhere"))
    #expect(report.passed)
    #expect(Set(report.findings.filter { $0.result == .notRun }.map(\.observed)) == ["not installed: no python3 on PATH"])
    guard case .failure(let problem) = PythonTUF.client("/bin/false", searchPath: nil) else {
      Issue.record("/bin/false is taken for Python")
      return
    }
    #expect(problem.reason.contains("/bin/false"))
  }
}

/// A fault that a test plants, and the scenarios that have to find it; nothing else may.
struct PlantedFault: Sendable, CustomTestStringConvertible {
  let name: String
  let found: Set<DrillScenario>
  let plant: @Sendable (DrillSite) throws -> Void

  init(_ name: String, _ found: Set<DrillScenario>, _ plant: @escaping @Sendable (DrillSite) throws -> Void) {
    self.name = name
    self.found = found
    self.plant = plant
  }

  var testDescription: String { name }

  static let replays: Set<DrillScenario> = [.replayFresh, .replayCached, .replayFastForwarded, .replayOffline]

  static let published: [PlantedFault] = [
    PlantedFault("a root is missing", replays.union([.rootChain])) { try $0.remove("2.root.json") },
    PlantedFault("a root is signed by a stranger", replays.union([.rootChain])) { site in
      let stranger = try site.publisher.key("stranger")
      try site.edit("3.root.json", by: [stranger]) { $0.replacing("\"version\":3", with: "\"version\":3,\"x\":1") }
    },
    PlantedFault("a root lists a key under a wrong id", replays.union([.keyIDs])) { site in
      let id = site.publisher.timestamp.keys[0].key.id.description
      try site.edit("3.root.json", by: site.publisher.root.keys) { $0.replacing(id, with: String(id.reversed())) }
    },
    PlantedFault("a root describes a spare key anew", [.keyMembers]) { site in
      let key = site.publisher.root.keys[3]
      let old = String(decoding: Key.tree(key.publicKey).canonicalBytes, as: UTF8.self)
      let new = old.replacing("\"keytype\":\"ed25519\"", with: "\"keytype\":\"ed25519-2030\"")
      let id = try Key(JSONDocument(parsing: Array(new.utf8)).root).id.description
      try site.edit("3.root.json", by: Array(site.publisher.root.keys.prefix(3))) {
        $0.replacing(old, with: new).replacing(key.key.id.description, with: id)
      }
    },
    PlantedFault("targets were renewed, and the snapshot is stale", [.cascade]) { site in
      let newer = site.publisher.targets.version.number + 1
      try site.folder.write(try #require(site.publisher.files["\(newer - 1).targets.json"]), to: "manifests/metadata/\(newer).targets.json")
    },
    PlantedFault("a team was renewed, and the snapshot is stale", [.cascade]) { site in
      try site.folder.write("{}", to: "manifests/metadata/99.team%2Finner.json")
    },
    PlantedFault("a root is about to expire", [.renewal]) { site in
      try site.change { publisher in try publisher.rotate { $0.root.expires = DrillSite.now.adding(days: 20) } }
    },
    PlantedFault("the timestamp has expired", replays.union([.renewal])) { site in
      try site.change { publisher in
        publisher.timestamp.expires = DrillSite.now
        try publisher.publishNext()
      }
    },
    PlantedFault("a team's metadata is signed by a stranger", replays) { site in
      let stranger = try site.publisher.key("stranger")
      try site.change { publisher in
        publisher.delegated["team"]?.signers = [stranger]
        try publisher.publishNext()
      }
    },
    PlantedFault("the snapshot is not there", replays) { site in try site.remove("\(site.publisher.snapshot.version).snapshot.json") },
    PlantedFault("the list of models names one that nobody lists", [.catalog]) { site in
      let list = "{\"models\":[{\"path\":\"team/model/weights.gguf\"},{\"path\":\"team/gone/model.json\"}]}"
      let file = SimulatedPublisher.file(list)
      try site.folder.write(list, to: "manifests/targets/\(file.hashes.sha256).catalog.json")
      try site.change { publisher in
        publisher.targets.targets[target("catalog.json")] = file
        try publisher.publishNext()
      }
    },
    PlantedFault("root needs all of its keys", [.keyLoss]) { site in
      try site.change { publisher in
        try publisher.rotate { $0.root.threshold = 4 }
      }
    },
  ]

  static let rehearsed: [(DrillFault, Set<DrillScenario>)] = [
    (.timestampCopiedFirst, [.interruptedUpload]),
    (.timestampOutlivesCrash, [.publisherCrash]),
    (.newRootUnsignedByOldKeys, [.rotation]),
    (.rotationWithoutResigning, [.rotation]),
    (.overlapEndsAtOnce, [.rotationOverlap]),
    (.stolenKeyStays, [.compromise]),
    (.thresholdOneLower, [.compromiseBelowThreshold]),
    (.appShipsStolenRoot, [.compromiseRootThreshold]),
    (.renewalWithoutCascade, [.expiry]),
    (.oldRootsRemoved, [.returnAfterYears]),
    (.mirrorStaysIncomplete, [.missedRoot]),
    (.versionGivenTwice, [.laggingMirror]),
    (.fastForwardedKeyStays, [.fastForward]),
    (.cacheTakenForNewer, [.replayFastForwarded]),
    (.clockWasAhead, [.replayOffline]),
    (.publisherRolledBack, [.replayCached]),
  ]
}

@Suite struct `Each planted fault is found by the scenarios that it concerns, and by no other` {
  /// Crashes at every file take three quarters of a drill's time: those that have nothing to do with a fault are left to the slow tests.
  private static func played(for found: Set<DrillScenario>) -> Set<DrillScenario> {
    let all = Set(DrillScenario.allCases)
    return runsSlowTests ? all : all.subtracting([.publisherCrash, .interruptedUpload]).union(found)
  }

  @Test(arguments: PlantedFault.published) func `in what is published`(fault: PlantedFault) throws {
    let site = try DrillSite()
    try fault.plant(site)
    let report = try site.drill(scenarios: Self.played(for: fault.found))
    #expect(report.failed == fault.found, "\(report.failures)")
    #expect(!report.passed)
  }

  @Test(arguments: PlantedFault.rehearsed) func `in what the publisher, a mirror or a device does`(
    fault: DrillFault, found: Set<DrillScenario>
  ) throws {
    let report = try DrillSite().drill(faults: [fault], scenarios: Self.played(for: found))
    #expect(report.failed == found, "\(report.failures)")
  }

  @Test func `no fault and no scenario is left out`() {
    #expect(Set(PlantedFault.rehearsed.map(\.0)) == Set(DrillFault.allCases))
    let found = PlantedFault.published.map(\.found) + PlantedFault.rehearsed.map(\.1)
    #expect(found.reduce(into: Set()) { $0.formUnion($1) } == Set(DrillScenario.allCases))
  }

  @Test func `more days are asked of what is published where they are given`() throws {
    let site = try DrillSite()
    #expect(try site.drill(days: 13).passed)
    let report = try site.drill(days: 14)
    #expect(report.failed == [.renewal] && report.failures.contains("timestamp"))
  }

  @Test func `a key that python-tuf does not take is found by python-tuf`() throws {
    // Its own client counts signatures by key id and refuses what it can't parse; ours is told the same by the key ids.
    let site = try DrillSite()
    let id = site.publisher.timestamp.keys[0].key.id.description
    try site.edit("3.root.json", by: site.publisher.root.keys) {
      $0.replacing("\"keyids\":[\"\(id)\"]", with: "\"keyids\":[\"\(id)\",\"\(id)\"]")
    }
    let report = try site.drill(peer: PythonTUF.client(try peerPython(), searchPath: nil))
    #expect(report.findings.contains { $0.device.hasPrefix("python-tuf") && $0.scenario == .replayFresh && $0.result == .failed })
  }
}
