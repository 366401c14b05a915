import Digests
import FleetSimulator
import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

/// A published repository on disk, as a drill finds it: three roots, thresholds, a team with a team of its own, and hash bins. No secret lies there.
final class DrillSite {
  static let now = time("2030-06-01T00:00:00Z")
  static let lifetimes: [TopLevelRole: Int] = [.root: 365, .targets: 365, .snapshot: 30, .timestamp: 14]

  let folder: TemporaryFolder
  private(set) var publisher: SimulatedPublisher

  /// - Parameter change: of what the first versions say.
  init(_ change: (inout SimulatedPublisher) throws(SimulationError) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    publisher = try SimulatedPublisher(seed: 3, expires: Self.now.adding(days: -300)) { (publisher) throws(SimulationError) in
      publisher.root.keys = try ["root-1", "root-2", "root-3", "root-4"].map { (name) throws(SimulationError) in try publisher.key(name) }
      publisher.root.threshold = 2
      publisher.targets.keys = try ["targets-1", "targets-2", "targets-3"].map { (name) throws(SimulationError) in try publisher.key(name) }
      publisher.targets.threshold = 2
      publisher.targets.targets[target("org/model/weights.gguf")] = SimulatedPublisher.file("weights")
      try Self.delegate(&publisher)
      try change(&publisher)
    }
    try publisher.publishNext()
    // The second root replaces the snapshot key, the third only lives on.
    try publisher.rotate { (publisher) throws(SimulationError) in publisher.snapshot.keys = [try publisher.key("snapshot-2")] }
    try publishNext()
    try publisher.rotate { $0.root.expires = Self.now.adding(days: 300) }
    try publishNext()
    try write()
  }

  private static func delegate(_ publisher: inout SimulatedPublisher) throws(SimulationError) {
    let team = try [publisher.key("team-1"), publisher.key("team-2")]
    let inner = try [publisher.key("inner-1")]
    let bins = try [publisher.key("bins-1")]
    publisher.targets.delegations = [
      SimulatedDelegation("team", keys: team, paths: ["team/*/*"]),
      SimulatedDelegation("bin-0", keys: bins, scope: .pathHashPrefixes(["0", "1", "2", "3", "4", "5", "6", "7"])),
      SimulatedDelegation("bin-8", keys: bins, scope: .pathHashPrefixes(["8", "9", "a", "b", "c", "d", "e", "f"])),
    ]
    publisher.addRole(
      "team", keys: team, files: ["team/model/weights.gguf"],
      delegations: [SimulatedDelegation("team/inner", keys: inner, paths: ["team/inner/*"])])
    publisher.addRole("team/inner", keys: inner, files: ["team/inner/weights.gguf"])
    publisher.addRole("bin-0", keys: bins)
    publisher.addRole("bin-8", keys: bins)
  }

  /// Publishes the next version of everything but root, as fresh as can be.
  func publishNext() throws {
    publisher.timestamp.expires = Self.now.adding(days: 14)
    publisher.snapshot.expires = Self.now.adding(days: 30)
    publisher.targets.expires = Self.now.adding(days: 365)
    for name in publisher.delegated.keys { publisher.delegated[name]?.expires = Self.now.adding(days: 365) }
    try publisher.publishNext()
  }

  func change(_ body: (inout SimulatedPublisher) throws -> Void) throws {
    try body(&publisher)
    try write()
  }

  /// Lays the published files out.
  func write() throws {
    for (path, bytes) in publisher.files { try folder.write(bytes, to: "manifests/metadata/" + path) }
    for role in [publisher.root, publisher.timestamp, publisher.snapshot, publisher.targets] {
      for key in role.keys { try folder.write(PublicKeyFile.pem(key.publicKey), to: "keys/\(key.name).pem") }
    }
    try folder.write(
      #"{"holders": {}, "lifetimes": {"root": 365, "targets": 365, "snapshot": 30, "timestamp": 14}}"#, to: "keys/policy.json")
  }

  func path(_ name: String) -> String { folder("manifests/metadata/" + name) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

  /// Changes what a published file says, and has it signed again by these keys.
  func edit(_ name: String, by keys: [SimulatedKey], _ change: (String) -> String) throws {
    let text = try folder.text(of: "manifests/metadata/" + name)
    let signed = try #require(text.split(separator: ",\"signed\":", maxSplits: 1).last).dropLast()
    let edited = change(String(signed))
    try #require(edited != signed)
    let value = try JSONTree(JSONDocument(parsing: Array(edited.utf8)).root)
    try folder.write(try keys.file(over: value.canonicalBytes), to: "manifests/metadata/" + name)
  }

  func drill(
    seed: UInt64 = 1, days: Int? = nil, faults: Set<DrillFault> = [], scenarios: Set<DrillScenario> = Set(DrillScenario.allCases),
    peer: Result<PeerClient, PeerProblem> = .failure(PeerProblem("not asked"))
  ) throws -> DrillReport {
    let drill = Drill(
      try DrillMaterial(RepositoryLayout(folder.path)), seed: seed, now: Self.now, days: days, faults: faults, scenarios: scenarios,
      peer: peer, temporaryFolder: folder.path)
    // The folder goes with this value, and the drill works below it.
    return try withExtendedLifetime(self) { try #require(drill.run()) }
  }
}

extension DrillReport {
  /// The scenarios that failed.
  var failed: Set<DrillScenario> { Set(findings.filter { $0.result == .failed }.map(\.scenario)) }

  /// What failed, in words.
  var failures: String {
    findings.filter { $0.result == .failed }.map { "\($0.scenario) \($0.role): \($0.observed)" }.joined(separator: "\n")
  }

  func roles(_ scenario: DrillScenario) -> [String] { findings.filter { $0.scenario == scenario && $0.result != .notRun }.map(\.role) }
}
