import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `a team signs the models that it is trusted with` {
  static let speech: ByteString = "speech"
  static let role = MetadataRole.delegated("speech")

  /// A site with a team whose model lies in a folder of its own, not yet published.
  func site(_ path: String = "speech/*/*/*") throws -> CeremonySite {
    let site = try CeremonySite()
    try site.folder.write("speech", to: "models/speech/asr/1/weights.bin")
    try site.folder.write("speech", to: "team/speech/asr/1/weights.bin")
    try site.publish()
    try site.propose(
      .addTeam(Self.speech, paths: [PathPattern("speech/*/*"), PathPattern(ByteString(path))], isTerminating: true),
      .addKey(try site.newKey("speech-1"), role: Self.role))
    return site
  }

  @Test func `a delegation becomes visible together with the team's first list`() throws {
    let site = try site()
    try site.hide("speech-1")
    let waiting = try site.sign()
    #expect(waiting.publication == nil && waiting.waiting.map(\.role) == [.targets, Self.role])
    #expect(try site.device().targets.payload.delegations == nil)
    try site.bringBack("speech-1")
    let publication = try #require(try site.sign().publication)
    #expect(publication.files.map(\.name) == ["1.speech.json", "3.targets.json", "3.snapshot.json", "timestamp.json"])
    // python-tuf searches through it without a fault.
    #expect(try site.follow("acme/tiny/1.0/weights.bin", "speech/asr/1/weights.bin")["targets"] == 3)
  }

  @Test func `the team publishes, targets leaves the files to it, and devices find them through the team`() throws {
    let site = try site()
    try site.sign()
    // It lists what was published of it before; what comes is its own to add.
    try site.folder.write("more", to: "team/speech/asr/1/more.bin")
    let team = try site.publish("team", as: Self.speech)
    #expect(team.changes.added.map(\.description) == ["speech/asr/1/more.bin"] && team.changes.removed.isEmpty)
    #expect(try site.publish("team", as: Self.speech).changes.isEmpty)
    let top = try site.publish()
    #expect(top.changes.handedOver.map(\.description) == ["speech/asr/1/weights.bin", "speech/asr/model.json"])
    #expect(top.changes.removed.isEmpty)
    #expect(try site.publish().changes.isEmpty)
    // The list of models goes on naming the team's, also where its folder is elsewhere.
    try FileManager.default.removeItem(atPath: site.folder("models/speech"))
    #expect(try site.publish().changes.isEmpty)
    let versions = try site.follow("acme/tiny/1.0/weights.bin", "speech/asr/1/weights.bin", "catalog.json")
    #expect(versions["speech"] == 2)
    // A file beyond the delegation is one that no device would look for there.
    try site.folder.write("x", to: "team/acme/tiny/2.0/weights.bin")
    let paths = try ["acme/tiny/2.0/weights.bin", "acme/tiny/model.json"].map { try TargetPath($0) }
    #expect(fault { try site.publish("team", as: Self.speech) } == .notDelegated(team: "speech", paths: paths))
    #expect(fault { try site.publish("team", as: "nobody") } == .noSuchRole("nobody"))
  }

  @Test func `where the team has no key of snapshot its list waits, and whoever has one publishes it`() throws {
    let site = try site()
    try site.sign()
    try site.hide("targets-1", "snapshot-1", "timestamp-1")
    try site.folder.write("more", to: "team/speech/asr/1/more.bin")
    let report = try site.publish("team", as: Self.speech)
    #expect(report.waiting.map(\.role) == [Self.role] && report.waiting.allSatisfy(\.isComplete))
    let file = try site.folder.write(site.folder.bytes(of: "repository/pending/speech.json"), to: "usb/speech.json")
    _ = try Repository(site.layout).abandon()
    try site.bringBack("snapshot-1", "timestamp-1")
    #expect(try site.sign([file]).publication?.files.map(\.name) == ["2.speech.json", "4.snapshot.json", "timestamp.json"])
    try site.follow("speech/asr/1/weights.bin")
  }

  @Test func `keys, paths and the name of a team change, and what has to be signed again is`() throws {
    let site = try site()
    try site.sign()
    try site.publish("team", as: Self.speech)
    try site.publish()
    func edit(_ edits: ProposedEdit...) throws -> [String] {
      _ = try Repository(site.layout).propose(edits, now: site.now)
      let names = try #require(try site.sign().publication).files.map { "\($0.role.name)" }
      try site.follow("speech/asr/1/weights.bin")
      return names
    }
    #expect(try edit(.addKey(try site.newKey("speech-2"), role: Self.role)) == ["targets", "snapshot", "timestamp"])
    #expect(try edit(.setThreshold(2, role: Self.role)) == ["speech", "targets", "snapshot", "timestamp"])
    // There is nothing to take over.
    #expect(try edit(.addPath(PathPattern("audio/*/*"), team: Self.speech), .setTerminating(false, team: Self.speech)).count == 3)
    #expect(
      try edit(.replaceKey(site.id("speech-1"), by: site.newKey("speech-3"), role: Self.role))
        == ["speech", "targets", "snapshot", "timestamp"])
    #expect(try edit(.renameTeam(Self.speech, to: "voices")) == ["voices", "targets", "snapshot", "timestamp"])
    // Its old file stays in the snapshot, as devices demand.
    let listed = try #require(try site.state.manifest).snapshot.payload.files.keys.map(\.description).sorted()
    #expect(listed == ["speech.json", "targets.json", "voices.json"])
    try site.propose(.removeTeam("voices"))
    try site.sign()
    try site.folder.write("speech", to: "models/speech/asr/1/weights.bin")
    try site.publish()
    try site.follow("speech/asr/1/weights.bin")
    // And a team of the old name goes on with its numbers.
    try site.propose(
      .addTeam(Self.speech, paths: [PathPattern("speech/*/*")], isTerminating: false), .addKey(try site.newKey("speech-4"), role: Self.role)
    )
    try site.sign()
    try site.follow("speech/asr/1/weights.bin")
    #expect(try site.published.contains("4.speech.json"))
  }

  @Test func `a stolen team key is exchanged without a root`() throws {
    let site = try site()
    try site.sign()
    try site.publish("team", as: Self.speech)
    try site.publish()
    try site.hide("root-1")
    let old = try site.id("speech-1")
    let report = try site.rotate(Self.role, .compromised, to: "speech-2")
    #expect(report.ceremony.publication?.files.map { "\($0.role.name)" } == ["speech", "targets", "snapshot", "timestamp"])
    #expect(report.stopped.map(\.key) == [old])
    try site.follow("speech/asr/1/weights.bin")
    #expect(
      try RepositoryVerification(site.layout).teams(
        of: site.state, at: site.now, models: nil, isCancelled: { false }, report: { _ in }
      ).isEmpty)
  }
}
