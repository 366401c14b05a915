import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `signatures come in any order, and what does not belong is refused by name` {
  /// A site of three root keys, two of which sign, with a proposed root, and the file that each key has signed alone.
  final class Scene {
    let site: CeremonySite
    private(set) var files: [String: String] = [:]
    private let unsigned: String

    init() throws {
      site = try CeremonySite([.root: (3, 2)])
      try site.propose(.addKey(try site.newKey("root-4"), role: .root))
      unsigned = try site.folder.text(of: "repository/pending/root.json")
      let names = ["root-1", "root-2", "root-3", "root-4"]
      for name in names {
        for other in names where other != name { try site.hide(other) }
        try site.sign()
        files[name] = try site.folder.write(site.folder.bytes(of: "repository/pending/root.json"), to: "signed by \(name).json")
        try reset()
        for other in names where other != name { try site.bringBack(other) }
      }
      for name in names { try site.hide(name) }
    }

    func reset() throws { try site.folder.write(unsigned, to: "repository/pending/root.json") }

    func file(_ name: String) throws -> String { try #require(files[name]) }

    /// A signed file with other text.
    func changed(_ name: String, _ old: String, _ new: String) throws -> String {
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
      #expect(text.contains(old))
      return try site.folder.write(text.replacingOccurrences(of: old, with: new), to: "changed.json")
    }
  }

  @Test func `two of three publish in either order, one after the other or at once, with no key at hand`() throws {
    let scene = try Scene()
    for order in [["root-1", "root-2"], ["root-3", "root-1"], ["root-2", "root-3"]] {
      try scene.reset()
      let first = try scene.site.review([scene.file(order[0])])
      #expect(first.added.map(\.signers) == [[try scene.site.id(order[0])]])
      let waiting = try scene.site.sign([scene.file(order[0])])
      #expect(waiting.publication == nil && waiting.waiting.map(\.isComplete) == [false])
      // What is taken twice counts once.
      #expect(try scene.site.review([scene.file(order[0])]).added.map(\.signers) == [[]])
      let both = try scene.site.review(order.map { try scene.file($0) })
      #expect(both.ceremony.waiting.allSatisfy { $0.isComplete })
    }
    let report = try scene.site.sign(["root-1", "root-2"].map { try scene.file($0) })
    #expect(report.publication?.files.map(\.name) == ["2.root.json"])
    #expect(try scene.site.pending.isEmpty)
    #expect(try scene.site.follow()["root"] == 2)
  }

  @Test func `the threshold of the old root is needed as well as that of the new one`() throws {
    let scene = try Scene()
    // root-4 counts for the new root only.
    let report = try scene.site.sign([scene.file("root-1"), scene.file("root-4")])
    #expect(report.publication == nil)
    #expect(report.waiting.first?.thresholds.map(\.isMet) == [false, true])
    #expect(try scene.site.sign([scene.file("root-3")]).publication != nil)
  }

  @Test func `a signature by a key of neither root is refused by its name, and nothing of the file is taken`() throws {
    let scene = try Scene()
    let (own, foreign) = (try scene.site.id("root-1"), try scene.site.id("timestamp-1"))
    let file = try scene.changed("root-1", "\"keyid\":\"\(own)\"", "\"keyid\":\"\(foreign)\"")
    #expect(fault { _ = try scene.site.review([file]) } == .foreignSignature(file: file, role: "root", key: "timestamp-1"))
    // A good file beside it is not taken either.
    #expect(fault { _ = try scene.site.sign([scene.file("root-2"), file]) } != nil)
    #expect(try scene.site.ceremony.waiting.first?.thresholds.first?.signed.isEmpty == true)
  }

  @Test func `a signature that was made over other bytes is refused by its key's name`() throws {
    let scene = try Scene()
    let (one, other) = (try scene.site.id("root-1"), try scene.site.id("root-2"))
    let file = try scene.changed("root-1", "\"keyid\":\"\(one)\"", "\"keyid\":\"\(other)\"")
    #expect(fault { _ = try scene.site.review([file]) } == .invalidSignature(file: file, role: "root", key: "root-2"))
  }

  @Test func `another proposal is refused in words that say what differs`() throws {
    let scene = try Scene()
    let id = try scene.site.id("root-4")
    let file = try scene.changed("root-1", "\"threshold\":2", "\"threshold\":1")
    guard case .otherProposal(_, "root", let differences)? = fault({ _ = try scene.site.review([file]) }) else {
      Issue.record("not refused as another proposal")
      return
    }
    #expect(differences == ["1 of 4 keys of root must sign, instead of 2 of 4"], "\(id)")
  }

  @Test func `what was published since is superseded, and what waits for too long has expired`() throws {
    let scene = try Scene()
    try scene.site.sign([scene.file("root-1"), scene.file("root-2")])
    let (two, path) = (try #require(Version(2)), try scene.file("root-3"))
    #expect(fault { _ = try scene.site.review([path]) } == .superseded(file: path, role: "root", offered: two, published: two))

    let site = try CeremonySite([.root: (3, 2)])
    try site.propose(.renewRoot)
    let expires = try #require(try site.ceremony.waiting.first?.expires)
    try site.pass(days: 365)
    #expect(fault { _ = try site.review() } == .expired(role: "root", since: expires))
  }

  @Test func `where nothing waits, a file is the proposal; a role that nobody delegates to is refused`() throws {
    let scene = try Scene()
    _ = try Repository(scene.site.layout).abandon()
    #expect(fault { _ = try scene.site.review() } == .nothingPending)
    let review = try scene.site.review([scene.file("root-1")])
    #expect(review.added.map(\.isAdopted) == [true])
    let targets = scene.site.layout.metadata + "/1.targets.json"
    let stray = try scene.site.folder.write(Array(Data(contentsOf: URL(fileURLWithPath: targets))), to: "speech.json")
    #expect(fault { _ = try scene.site.review([stray]) } == .unexpectedFile(file: stray, role: "speech.json"))
  }

  @Test func `a proposal is held against the root that the signer trusts`() throws {
    let site = try CeremonySite([.root: (3, 2)])
    let first = site.folder("own root.json")
    try site.folder.write(site.root(1), to: "own root.json")
    try site.rotate(.targets, to: "targets-2")
    try site.propose(.renewRoot)
    let old = try TrustedRoot(site.layout, path: first)
    let review = try Repository(site.layout).review(trusting: old, now: site.now)
    #expect(review.sinceTrusted.contains { $0.hasPrefix("targets loses the key targets-1") })
    // Another repository's root, or one that is newer than what was handed over, is no root to sign under.
    let others = try CeremonySite(publishes: false)
    let stranger = try TrustedRoot(others.layout)
    #expect(fault { _ = try Repository(site.layout).review(trusting: stranger, now: site.now) } == .otherThanTrusted(.first))
    try FileManager.default.removeItem(atPath: site.layout.metadata + "/2.root.json")
    let older = try CeremonySite(publishes: false)
    let newest = try TrustedRoot(site.layout)
    let (one, two) = (Version.first, try #require(Version(2)))
    #expect(
      fault { _ = try Repository(older.layout).review(trusting: newest, now: older.now) } == .olderThanTrusted(trusted: two, published: one)
    )
    // Nor does anybody publish or refresh in a folder that was exchanged for another's.
    try others.folder.write(older.folder.bytes(of: "repository/secrets/trusted-root.json"), to: "repository/secrets/trusted-root.json")
    #expect(fault { try others.publish() } == .otherThanTrusted(.first))
    #expect(fault { _ = try Repository(others.layout).refresh(with: others.keys, now: others.now) } == .otherThanTrusted(.first))
    try FileManager.default.removeItem(atPath: older.layout.trustedRoot)
    #expect(fault { _ = try older.trusted } == .noTrustedRoot(path: older.layout.trustedRoot))
  }

  @Test func `a snapshot that somebody put among what waits is never signed`() throws {
    let site = try CeremonySite([.targets: (2, 2)], publishes: false)
    try site.publish()
    try site.hide("targets-2")
    try site.folder.write("more", to: "models/acme/tiny/1.1/weights.bin")
    #expect(try site.publish().waiting.map(\.role) == [.targets])
    // It would take the old targets back once the threshold is met, and last for ever.
    let snapshot = try site.folder.text(of: "repository/manifests/metadata/1.snapshot.json")
      .replacingOccurrences(of: "\"version\":1}}", with: "\"version\":2}}")
    let expires = try #require(try site.state.manifest?.snapshot.payload.expires.description)
    try site.folder.write(
      snapshot.replacingOccurrences(of: expires, with: "9999-01-01T00:00:00Z"), to: "repository/pending/snapshot.json")
    try site.bringBack("targets-2")
    let publication = try #require(try site.sign().publication)
    #expect(publication.manifest?.targets.payload.version.number == 2)
    #expect(publication.manifest?.snapshot.payload.expires == site.now.adding(days: 30))
    try site.follow("acme/tiny/1.1/weights.bin")
  }
}
