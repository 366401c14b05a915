import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `devices lose no file by what a team is trusted with` {
  static let speech: ByteString = "speech"
  static let role = MetadataRole.delegated("speech")
  static let files = ["acme/tiny/1.0/weights.bin", "acme/tiny/model.json"]

  /// Two models that are published, one of which is to become a team's.
  static func site(bins: Int = 1) throws -> CeremonySite {
    let site = try CeremonySite(bins: bins, publishes: false)
    try site.folder.write("large", to: "models/other/large/1/weights.bin")
    try site.publish()
    try site.newKey("speech-1")
    return site
  }

  @discardableResult
  static func hand(_ site: CeremonySite, isTerminating: Bool = false) throws -> CeremonyReview {
    try site.propose(
      .addTeam(speech, paths: [PathPattern("acme/*/*"), PathPattern("acme/*/*/*")], isTerminating: isTerminating),
      .addKey(try site.publicKey("speech-1"), role: role))
  }

  /// What devices find, python-tuf among them, and that nothing else is wrong.
  static func followed(_ site: CeremonySite) throws {
    try site.follow("acme/tiny/1.0/weights.bin", "acme/tiny/model.json", "other/large/1/weights.bin", "catalog.json")
    #expect(try RepositoryStatus(site.layout, at: site.now).lostModels.isEmpty)
  }

  @Test(arguments: [1, 4], [false, true])
  func `its first list holds what is published of it, before and after the next publication`(bins: Int, isTerminating: Bool) throws {
    let site = try Self.site(bins: bins)
    let words = try Self.hand(site, isTerminating: isTerminating).changes.flatMap(\.words)
    #expect(words.contains("speech takes over from targets: \(Self.files.joined(separator: ", "))"))
    #expect(words.contains { $0.hasPrefix("adds acme/tiny/1.0/weights.bin, 7 bytes, SHA-256 ") })
    #expect(try site.review().warnings.allSatisfy { if case .filesGo = $0 { false } else { true } })
    try site.sign()
    try Self.followed(site)
    // Whoever is asked after bins is never asked.
    let names = try #require(try site.state.manifest?.targets.payload.delegations).roles.map { "\($0.name)" }
    #expect(names.first == "speech" && names.count == (bins == 1 ? 1 : 5))
    #expect(try site.publish().changes.handedOver.map(\.description) == Self.files)
    try Self.followed(site)
    #expect(try site.publish().changes.isEmpty)
    // The team's own folder may take its time.
    try FileManager.default.removeItem(atPath: site.folder("models/acme"))
    #expect(try site.publish().changes.isEmpty)
    try Self.followed(site)
  }

  @Test(arguments: [1, 4]) func `more paths wait for the team's signature where it takes files over`(bins: Int) throws {
    let site = try Self.site(bins: bins)
    try site.propose(
      .addTeam(Self.speech, paths: [PathPattern("voices/*/*")], isTerminating: true), .addKey(site.publicKey("speech-1"), role: Self.role))
    try site.sign()
    try site.propose(.addPath(PathPattern("acme/*/*"), team: Self.speech), .addPath(PathPattern("acme/*/*/*"), team: Self.speech))
    try site.hide("speech-1")
    #expect(try site.sign().publication == nil)
    try Self.followed(site)
    try site.bringBack("speech-1")
    #expect(try site.sign().publication?.files.map { "\($0.role.name)" } == ["speech", "targets", "snapshot", "timestamp"])
    try Self.followed(site)
    try site.publish()
    try Self.followed(site)
  }

  @Test func `from one team to another, too`() throws {
    let site = try Self.site()
    try Self.hand(site)
    try site.sign()
    try site.publish()
    let review = try site.propose(
      .addTeam("voices", paths: [PathPattern("acme/*/*"), PathPattern("acme/*/*/*")], isTerminating: true),
      .addKey(try site.newKey("voices-1"), role: .delegated("voices")), .removeTeam(Self.speech))
    #expect(review.changes.flatMap(\.words).contains("voices takes over from speech: \(Self.files.joined(separator: ", "))"))
    try site.sign()
    try Self.followed(site)
    try site.publish()
    try Self.followed(site)
  }

  @Test(arguments: [1, 4]) func `what the team does not list stays published until that is allowed`(bins: Int) throws {
    let site = try Self.site(bins: bins)
    try Self.hand(site)
    try site.sign()
    // The team drops the model before the top-level list has left it out.
    try site.folder.write("voice", to: "team/acme/voice/1/weights.bin")
    try site.publish("team", as: Self.speech, removing: true)
    let paths = try Self.files.map { try TargetPath($0) }
    #expect(fault { try site.publish() } == .notTakenOver(paths))
    try Self.followed(site)
    let report = try site.publish(removing: true)
    #expect(report.changes.notTakenOver == paths && report.changes.handedOver.isEmpty)
  }

  @Test func `what the team lists with another content is a replacement`() throws {
    let site = try Self.site()
    try Self.hand(site)
    try site.sign()
    try site.folder.write("other weights", to: "team/acme/tiny/1.0/weights.bin")
    try site.publish("team", as: Self.speech, replacing: true)
    #expect(throws: SigningError.replaced([try TargetPath(Self.files[0])])) { try site.publish() }
    try site.publish(replacing: true)
    try Self.followed(site)
  }

  @Test(arguments: ["a team", "a path"]) func `what goes with a delegation is said before it is signed, and found by whoever checks`(
    taken: String
  ) throws {
    let site = try Self.site(bins: 4)
    try Self.hand(site)
    try site.sign()
    try site.publish()
    let edits: [ProposedEdit] =
      taken == "a team"
      ? [.removeTeam(Self.speech)]
      : [
        .removePath(PathPattern("acme/*/*"), team: Self.speech), .removePath(PathPattern("acme/*/*/*"), team: Self.speech),
        .addPath(PathPattern("voices/*/*"), team: Self.speech),
      ]
    let proposed = try Repository(site.layout).propose(edits, now: site.now)
    for review in [proposed, try site.review()] {
      #expect(
        review.changes.flatMap(\.words).contains("devices no longer find \(Self.files.joined(separator: ", ")), which speech lists"))
      #expect(review.warnings.contains(.filesGo(count: 2, first: try TargetPath(Self.files[0]))))
    }
    try site.sign()
    let lost = [try TargetPath("acme/tiny/model.json")]
    #expect(try RepositoryStatus(site.layout, at: site.now).lostModels == lost)
    #expect(try RepositoryVerification(site.layout).lostModels(of: site.state) == lost)
    // The list of models is made anew, with the top-level's own models or without.
    try site.publish()
    #expect(try RepositoryVerification(site.layout).lostModels(of: site.state).isEmpty)
    try Self.followed(site)
  }
}
