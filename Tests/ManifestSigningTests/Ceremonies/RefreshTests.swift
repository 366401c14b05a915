import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `a refresh signs again what is in its renewal window, and what names it` {
  /// The newest version of each role, root first.
  func versions(_ site: CeremonySite) throws -> [Int64] { try #require(try site.state.manifest).roles.map(\.version.number) }

  func refresh(_ site: CeremonySite, rehearses: Bool = false) throws -> RefreshReport {
    try Repository(site.layout).refresh(with: site.keys, rehearses: rehearses, now: site.now)
  }

  @Test func `nothing, then the timestamp, then the snapshot with it, then targets with both, then root`() throws {
    let site = try CeremonySite()
    #expect(try refresh(site).due.isEmpty)
    let expected: [(days: Int64, due: [MetadataRole], versions: [Int64])] = [
      // The last third of 14 days begins after 9 and a third.
      (9, [], [1, 1, 1, 1]), (1, [.timestamp], [1, 2, 1, 1]), (0, [], [1, 2, 1, 1]), (10, [.snapshot, .timestamp], [1, 3, 2, 1]),
      (230, [.root, .targets, .snapshot, .timestamp], [2, 4, 3, 2]), (0, [], [2, 4, 3, 2]),
    ]
    for step in expected {
      try site.pass(days: step.days)
      let before = try site.published
      let plan = try refresh(site, rehearses: true)
      #expect(plan.due.map(\.role) == step.due && plan.publication == nil && plan.missing.isEmpty)
      #expect(try site.published == before)
      let report = try refresh(site)
      #expect(report.due.map(\.role) == step.due && (report.publication == nil) == step.due.isEmpty)
      #expect(try versions(site) == step.versions)
      try site.follow("acme/tiny/1.0/weights.bin")
    }
  }

  @Test func `where a key is missing the rest is done, and the key is named`() throws {
    let site = try CeremonySite([.root: (3, 2), .targets: (2, 2)])
    try site.pass(days: 300)
    try site.hide("targets-1", "root-1", "root-2")
    let report = try refresh(site)
    #expect(report.missing.map(\.role) == [.root, .targets])
    #expect(try report.missing.map(\.missing) == [[site.id("root-1"), site.id("root-2")], [site.id("targets-1")]])
    #expect(try versions(site) == [1, 2, 2, 1])
    try site.hide("snapshot-1")
    try site.pass(days: 25)
    try site.bringBack("targets-1")
    // Without the snapshot's key nothing but the timestamp could be shown.
    let (missing, atHand) = (["snapshot-1"], [String]())
    #expect(throws: SigningError.missingKeys(role: .snapshot, threshold: 1, atHand: atHand, missing: missing)) { try refresh(site) }
    #expect(try versions(site) == [1, 2, 2, 1])
  }

  @Test func `what waits for signatures goes on waiting, and is not renewed over`() throws {
    let site = try CeremonySite([.root: (3, 2), .targets: (2, 2)])
    try site.hide("root-1", "root-2", "targets-2")
    try site.pass(days: 300)
    _ = try site.rotate(.timestamp, to: "timestamp-2")
    try site.publish()
    #expect(try site.pending == ["root.json", "targets.json"])
    let report = try refresh(site)
    #expect(report.due.filter(\.isPending).map(\.role) == [.root, .targets])
    #expect(try versions(site) == [1, 2, 2, 1])
    #expect(try site.pending == ["root.json", "targets.json"])
    try site.bringBack("root-1", "root-2", "targets-2")
    #expect(try site.sign().waiting.isEmpty)
    #expect(try versions(site) == [2, 3, 3, 2])
    try site.follow("acme/tiny/1.0/weights.bin")
  }

  @Test func `the targets of two people wait until both have signed, and the same publication is not proposed twice`() throws {
    let site = try CeremonySite([.targets: (2, 2)], publishes: false)
    try site.hide("targets-2")
    let first = try site.publish()
    #expect(first.manifest == nil && first.waiting.map(\.role) == [.targets] && first.waiting.map(\.isComplete) == [false])
    let bytes = try site.folder.bytes(of: "repository/pending/targets.json")
    try site.pass(days: 1)
    try site.publish()
    #expect(try site.folder.bytes(of: "repository/pending/targets.json") == bytes, "the first signature still counts")
    try site.folder.write("more", to: "models/acme/tiny/1.1/weights.bin")
    try site.publish()
    #expect(try site.folder.bytes(of: "repository/pending/targets.json") != bytes)
    try site.hide("targets-1")
    try site.bringBack("targets-2")
    // Whoever has no key of snapshot and timestamp completes the targets, and leaves the rest to others.
    try site.hide("snapshot-1", "timestamp-1")
    let second = try site.sign()
    #expect(second.publication == nil && second.waiting.map(\.role) == [.targets] && second.waiting.allSatisfy(\.isComplete))
    try site.bringBack("snapshot-1")
    #expect(try site.sign().waiting.map(\.role) == [.targets, .snapshot])
    try site.bringBack("timestamp-1")
    #expect(try site.sign().publication?.files.map(\.name) == ["1.targets.json", "1.snapshot.json", "timestamp.json"])
    try site.follow("acme/tiny/1.1/weights.bin")
    #expect(try site.publish().changes.isEmpty)
    #expect(try site.pending.isEmpty)
    // With none of the role's keys there is nothing to propose.
    try site.hide("targets-2")
    try site.folder.write("more", to: "models/acme/tiny/1.2/weights.bin")
    let missing = ["targets-1", "targets-2"]
    #expect(throws: SigningError.missingKeys(role: .targets, threshold: 2, atHand: [], missing: missing)) { try site.publish() }
  }
}
