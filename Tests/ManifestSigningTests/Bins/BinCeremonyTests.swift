import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `bins are signed by the keys of targets, whatever becomes of these` {
  static let file = "acme/tiny/1.0/weights.bin"

  /// The published version of each bin.
  static func versions(_ site: CeremonySite) throws -> [Int64] {
    let files = try #require(try site.state.manifest).snapshot.payload.files
    return files.filter { $0.key.description.hasPrefix("bin-") }.sorted { $0.key < $1.key }.map(\.value.version.number)
  }

  @Test(arguments: [TopLevelRole.root, .targets, .snapshot, .timestamp], [RotationMode.replace, .compromised])
  func `one step signs them again where that is called for`(role: TopLevelRole, mode: RotationMode) throws {
    let site = try CeremonySite([.root: (3, 2), .targets: (2, 2)], bins: 4)
    let report = try site.rotate(.topLevel(role), mode, to: "new-1")
    #expect(report.ceremony.waiting.isEmpty && report.leftAsTheyAre.isEmpty)
    let isFresh = role == .targets || role == .root && mode == .compromised
    #expect(try Self.versions(site) == [Int64](repeating: isFresh ? 2 : 1, count: 4))
    #expect(report.stopped.filter { "\($0.role.name)".hasPrefix("bin-") }.count == (role == .targets ? 4 : 0))
    try site.follow(Self.file, "catalog.json")
    // Publishing goes on from there.
    try site.folder.write("more", to: "models/acme/tiny/1.1/weights.bin")
    try site.publish()
    try site.follow(Self.file, "acme/tiny/1.1/weights.bin")
  }

  @Test func `an overlap of the keys of targets, and its end`() throws {
    let site = try CeremonySite(bins: 4)
    let first = try site.rotate(.targets, .overlap, to: "new-1")
    try site.follow(Self.file)
    #expect(first.warnings.allSatisfy { if case .overlapIsRunning = $0 { false } else { true } })
    let second = try site.rotate(.targets, .overlap, to: "new-2")
    #expect(second.warnings.first == .overlapIsRunning(role: "targets", since: try #require(Version(2))))
    try site.follow(Self.file)
    try site.rotate(.targets, .dropOld, to: "")
    try site.follow(Self.file)
    let keys = try #require(try site.state.manifest?.targets.payload.delegations).roles.map(\.keys.keyIDs)
    let id = try site.id("new-2")
    #expect(keys == [[KeyID]](repeating: [id], count: 4))
  }

  @Test(arguments: [TopLevelRole.root, .targets]) func `teams sign again where their keys are at hand, and else stay as they are`(
    role: TopLevelRole
  ) throws {
    let site = try CeremonySite([.root: (3, 2)], bins: 2)
    try site.propose(
      .addTeam("near", paths: [PathPattern("near/*/*")], isTerminating: false),
      .addKey(try site.newKey("near-1"), role: .delegated("near")),
      .addTeam("far", paths: [PathPattern("far/*/*")], isTerminating: false), .addKey(try site.newKey("far-1"), role: .delegated("far")))
    try site.sign()
    try site.hide("far-1")
    let report = try site.rotate(.topLevel(role), .compromised, to: "new-1")
    #expect(report.leftAsTheyAre == ["far"] && report.ceremony.waiting.isEmpty)
    let files = try #require(try site.state.manifest).snapshot.payload.files
    #expect(files["near.json"]?.version.number == 2 && files["far.json"]?.version.number == 1)
    #expect(try Self.versions(site) == [2, 2])
    try site.follow(Self.file)
  }

  @Test func `status tells of each when it expires, and verify that devices can't use it`() throws {
    let site = try CeremonySite(bins: 4)
    try site.pass(days: 200)
    // What changes is signed until later than what does not.
    try site.folder.write("more", to: "models/acme/tiny/1.1/weights.bin")
    try site.publish()
    let now = try RepositoryStatus(site.layout, at: site.now)
    #expect(now.bins.map { "\($0.role.name)" } == ["bin-0000", "bin-0001", "bin-0002", "bin-0003"] && now.roles.count == 4)
    #expect(now.bins.allSatisfy { !$0.isDue && $0.version != nil && $0.threshold == 1 && $0.keys.map(\.name) == ["targets-1"] })
    let untouched = now.bins.filter { $0.version == .first }.map(\.role.name)
    try #require(!untouched.isEmpty && untouched.count < 4)
    let verification = RepositoryVerification(site.layout)
    func refused() throws -> [ByteString] {
      try verification.teams(of: site.state, at: site.now, models: nil, isCancelled: { false }, report: { _ in }).map(\.role)
    }
    #expect(try refused().isEmpty)
    try site.pass(days: 165)
    #expect(try RepositoryStatus(site.layout, at: site.now).bins.filter(\.isDue).map(\.role.name) == untouched)
    #expect(try refused() == untouched)
    // The refresh that was missed brings all of them back.
    _ = try Repository(site.layout).refresh(with: site.keys, now: site.now)
    #expect(try refused().isEmpty)
    try site.follow(Self.file, "acme/tiny/1.1/weights.bin")
  }
}
