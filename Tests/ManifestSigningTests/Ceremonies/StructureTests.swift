import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

@Suite struct `a proposal that would strand devices is refused, and what is fragile is warned of` {
  typealias Edits = @Sendable (CeremonySite) throws -> [ProposedEdit]

  struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let edits: Edits
    let expected: @Sendable (CeremonySite) throws -> CeremonyFault
  }

  static let mistakes: [Mistake] = [
    Mistake(testDescription: "a threshold above the keys") { _ in
      [.setThreshold(2, role: .targets)]
    } expected: { _ in
      .refused([.threshold(role: "targets", 2, keyCount: 1)])
    },
    Mistake(testDescription: "a threshold that no keys can meet") { _ in
      [.setThreshold(0, role: .targets)]
    } expected: { _ in
      .refused([.threshold(role: "targets", 0, keyCount: 1)])
    },
    Mistake(testDescription: "a role without a key") { site in
      [.removeKey(try site.id("snapshot-1"), role: .snapshot)]
    } expected: { _ in
      .refused([.noKeys(role: "snapshot")])
    },
    Mistake(testDescription: "keys of root fewer than its threshold") { site in
      [.removeKey(try site.id("root-1"), role: .root), .removeKey(try site.id("root-2"), role: .root)]
    } expected: { _ in
      .refused([.threshold(role: "root", 2, keyCount: 1)])
    },
    Mistake(testDescription: "a key of two roles") { site in
      [.addKey(try site.publicKey("root-1"), role: .targets)]
    } expected: { _ in
      .refused([.sharedKey(key: "root-1", roles: ["root", "targets"])])
    },
    Mistake(testDescription: "a team without a key") { _ in
      [.addTeam("speech", paths: [PathPattern("speech/*/*")], isTerminating: false)]
    } expected: { _ in
      .refused([.noKeys(role: "speech")])
    },
    Mistake(testDescription: "a team with the key of targets") { site in
      [
        .addTeam("speech", paths: [PathPattern("speech/*/*")], isTerminating: false),
        .addKey(try site.publicKey("targets-1"), role: .delegated("speech")),
      ]
    } expected: { _ in
      .refused([.sharedKey(key: "targets-1", roles: ["targets", "speech"])])
    },
    Mistake(testDescription: "a team without paths") { site in
      [.addTeam("speech", paths: [], isTerminating: false), .addKey(try site.newKey("speech-1"), role: .delegated("speech"))]
    } expected: { _ in
      .refused([.noPaths(team: "speech")])
    },
    Mistake(testDescription: "a team that could be taken for a role") { _ in
      [.addTeam("Root", paths: [PathPattern("*")], isTerminating: false)]
    } expected: { _ in
      .teamName("Root")
    },
    Mistake(testDescription: "a team whose name is a path upwards") { _ in
      [.addTeam("../x", paths: [PathPattern("*")], isTerminating: false)]
    } expected: { _ in
      .teamName("../x")
    },
    Mistake(testDescription: "a team that is not there") { _ in
      [.setThreshold(1, role: .delegated("speech"))]
    } expected: { _ in
      .noSuchRole("speech")
    },
    Mistake(testDescription: "a path that a team has not") { site in
      [
        .addTeam("speech", paths: [PathPattern("a/*")], isTerminating: false), .removePath(PathPattern("b/*"), team: "speech"),
      ]
    } expected: { _ in
      .path("b/*", team: "speech", isListed: false)
    },
    Mistake(testDescription: "a key that the role has") { site in
      [.addKey(try site.publicKey("targets-1"), role: .targets)]
    } expected: { _ in
      .keyInRole(key: "targets-1", role: "targets")
    },
    Mistake(testDescription: "a key that the role has not") { site in
      [.removeKey(try site.id("root-1"), role: .targets)]
    } expected: { _ in
      .keyNotInRole(key: "root-1", role: "targets")
    },
    Mistake(testDescription: "nothing at all") { _ in
      []
    } expected: { _ in
      .noChange
    },
  ]

  @Test(arguments: mistakes)
  func `refused, and nothing is written`(mistake: Mistake) throws {
    let site = try CeremonySite([.root: (3, 2)], publishes: false)
    let edits = try mistake.edits(site)
    let found = fault { _ = try Repository(site.layout).propose(edits, now: site.now) }
    #expect(try found == mistake.expected(site))
    #expect(try site.pending.isEmpty)
  }

  @Test func `a key that the roots left behind and a key of the worked example are not used anew`() throws {
    let site = try CeremonySite(publishes: false)
    let old = try site.publicKey("targets-1")
    try site.rotate(.targets, to: "targets-2")
    let retired = Key(old).id.description
    let version = try #require(Version(1))
    #expect(throws: SigningError.retiredKey(id: retired, lastRoot: version)) { try site.propose(.addKey(old, role: .targets)) }
    let example = try KeyStore(RepositoryLayout(packageRoot.path)).publicKey(named: "root-1")
    #expect(throws: SigningError.exampleKey(id: Key(example).id.description)) {
      try site.propose(.addKey(example, role: .root))
    }
  }

  @Test func `a shared key passes where it is allowed, with a warning`() throws {
    let site = try CeremonySite(publishes: false)
    let review = try site.propose(.addKey(try site.publicKey("root-1"), role: .targets), allowsShared: true)
    #expect(review.warnings.contains(.sharedKey(key: "root-1", roles: ["root", "targets"])))
    #expect(try site.review().warnings.contains(.sharedKey(key: "root-1", roles: ["root", "targets"])), "whoever signs is told too")
  }

  @Test func `all keys having to sign, one key signing alone, and an expiry in the renewal window are warned of`() throws {
    let site = try CeremonySite([.root: (3, 2)])
    let second = try site.newKey("targets-2")
    let all = try site.propose(.addKey(second, role: .targets), .setThreshold(2, role: .targets))
    #expect(all.warnings == [.thresholdIsKeyCount(role: "targets", keyCount: 2)])
    _ = try Repository(site.layout).abandon()
    let one = try site.propose(.addKey(second, role: .targets))
    #expect(one.warnings == [.oneKeySigns(role: "targets")])
    _ = try Repository(site.layout).abandon()
    // A snapshot of 30 days is old already where snapshots live for a year.
    let snapshot = try #require(try site.state.manifest?.snapshot.payload.expires)
    let longer = try site.propose(.setLifetime(days: 365, role: .snapshot))
    #expect(longer.warnings == [.expiresInRenewalWindow(role: "snapshot", expires: snapshot)])
  }

  @Test func `a proposal that is valid for longer than the policy says, or leaps ahead, is told of or refused`() throws {
    let site = try CeremonySite([.root: (3, 2)])
    try site.propose(.renewRoot)
    let path = site.layout.pending + "/root.json"
    func change(_ old: String, _ new: String) throws {
      let text = try site.folder.text(of: "repository/pending/root.json")
      #expect(text.contains(old))
      try site.folder.write(text.replacingOccurrences(of: old, with: new), to: "repository/pending/root.json")
    }
    let expires = try #require(try site.ceremony.waiting.first?.expires.description)
    try change(expires, "9999-12-31T23:59:59Z")
    let last = try #require(UTCTime(secondsSince1970: 253_402_300_799))
    #expect(try site.review().warnings == [.outlivesLifetime(role: "root", expires: last, days: 365)], "\(path)")
    try change("\"version\":2", "\"version\":3")
    let (three, one) = (try #require(Version(3)), Version.first)
    #expect(fault { _ = try site.review() } == .notNext(role: "root", offered: three, published: one))
  }
}
