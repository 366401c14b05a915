import Foundation
import TestSupport
import Testing

@Suite struct `a ceremony of three people on three machines that only exchange files` {
  /// Three folders: Alice has the first root key and all others' but the second of targets; Bob and Carol have the rest.
  final class Machines {
    let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
      try folder.write("weights", to: "models/acme/tiny/1.0/weights.bin")
      try sign(
        "alice",
        [
          "init", "--no-passphrase", "--root-keys", "3", "--root-threshold", "2", "--targets-keys", "2", "--targets-threshold", "2",
          "--holder",
          "root-2=Bob",
        ])
      for (name, keys) in [("bob", ["root-2", "targets-2"]), ("carol", ["root-3"])] {
        try hand(["keys", "manifests"], from: "alice", to: name)
        try FileManager.default.createDirectory(
          atPath: folder("\(name)/secrets"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for key in keys {
          try FileManager.default.moveItem(atPath: folder("alice/secrets/\(key).key"), toPath: folder("\(name)/secrets/\(key).key"))
        }
        // What each of them trusts, which Alice did not hand over with a proposal.
        try folder.write(folder.bytes(of: "alice/manifests/metadata/1.root.json"), to: "\(name)/secrets/trusted-root.json")
      }
    }

    func hand(_ parts: [String], from: String, to: String) throws {
      for part in parts {
        try FileManager.default.createDirectory(atPath: folder(to), withIntermediateDirectories: true)
        try? FileManager.default.removeItem(atPath: folder("\(to)/\(part)"))
        try FileManager.default.copyItem(atPath: folder("\(from)/\(part)"), toPath: folder("\(to)/\(part)"))
      }
    }

    @discardableResult
    func sign(_ name: String, _ arguments: [String], status: Int32 = 0, environment: [String: String?] = [:]) throws -> ChildResult {
      let result = try runChild(
        builtCommand("manifest-sign"), arguments + ["--repository", folder(name)],
        environment: ["MANIFEST_SIGN_PASSPHRASE": nil, "SOURCE_DATE_EPOCH": nil].merging(environment) { $1 })
      try require(status, result)
      return result
    }

    func pythonFollows(_ name: String, _ targets: String...) throws -> [String: Int] {
      let metadata = folder("\(name)/manifests/metadata")
      let result = try runChild(
        peerPython(), [peerScript("tuf_follow.py"), metadata + "/1.root.json", metadata, folder("cache-\(UUID().uuidString)")] + targets
      ).successful()
      return try #require(try json(result.text)["versions"] as? [String: Int])
    }
  }

  @Test func `the targets of two, then a root of two of three, are signed apart and published by whoever comes last`() throws {
    let place = try Machines()
    let waiting = try place.sign("alice", ["publish", place.folder("models"), "--stage"])
    #expect(waiting.text.contains("Devices see nothing of it yet") && waiting.text.contains("1 more of targets-2"))
    #expect(!FileManager.default.fileExists(atPath: place.folder("alice/manifests/metadata/timestamp.json")))
    try place.hand(["pending"], from: "alice", to: "bob")
    let bob = try place.sign("bob", ["sign", "--yes"])
    #expect(bob.text.contains("adds acme/tiny/1.0/weights.bin, 7 bytes") && bob.text.contains("Signed targets with targets-2"))
    let published = try place.sign("alice", ["sign", place.folder("bob/pending/targets.json"), "--yes"])
    #expect(published.text.contains("Published targets 1, snapshot 1, timestamp 1."))
    #expect(try place.pythonFollows("alice", "acme/tiny/1.0/weights.bin")["targets"] == 1)

    try place.sign("alice", ["key", "generate", "root-4", "--no-passphrase"])
    let proposal = try place.sign("alice", ["propose", "--replace-key", "root=root-3,root-4", "--lifetime", "timestamp=7"])
    #expect(proposal.text.contains("root loses the key root-3") && proposal.text.contains("7 days instead of 14"))
    try place.sign("alice", ["sign", "--yes"])
    let status = try place.sign("alice", ["status"])
    #expect(status.text.contains("root version 1: 1 of 2 signed by root-1; 1 more of root-2 (Bob), root-3"))
    try place.hand(["manifests"], from: "alice", to: "bob")
    // Bob gets the one file, and nothing else that is new.
    let signed = try place.sign("bob", ["sign", place.folder("alice/pending/root.json"), "--yes"])
    // In the order of the key ids, which are random.
    for word in ["root: took the signatures of", "root-1", "Published root 2."] { #expect(signed.text.contains(word), "\(signed.text)") }
    // Carol, whose key goes, signs as well: her file completes Alice's, though Bob has published already.
    let carol = try place.sign("carol", ["sign", place.folder("alice/pending/root.json"), "--yes"])
    #expect(carol.text.contains("Published root 2."))
    #expect(
      try place.sign("alice", ["sign", place.folder("carol/manifests/metadata/2.root.json"), "--yes"]).text.contains("Published root 2."))
    #expect(try place.pythonFollows("alice", "acme/tiny/1.0/weights.bin")["root"] == 2)
    let policy = try json(of: place.folder("alice/keys/policy.json"))
    #expect((policy["lifetimes"] as? [String: Int])?["timestamp"] == 7)
  }

  @Test func `sign asks, and without a terminal names the option; nothing is signed then`() throws {
    let place = try Machines()
    try place.sign("alice", ["propose", "--renew"])
    let before = try place.folder.bytes(of: "alice/pending/root.json")
    let result = try place.sign("alice", ["sign"], status: 2)
    #expect(result.errorText.contains("--yes"))
    #expect(try place.folder.bytes(of: "alice/pending/root.json") == before)
    #expect(try place.sign("alice", ["propose", "--abandon"]).text.contains("Dropped root.json"))
    expect(1, "nothing waits for signatures", in: try place.sign("alice", ["sign", "--yes"], status: 1))
    // Whoever has no key for it, and brings nothing, is told so.
    try place.sign("alice", ["propose", "--renew"])
    try place.hand(["pending"], from: "alice", to: "bob")
    try FileManager.default.removeItem(atPath: place.folder("bob/secrets/root-2.key"))
    try place.sign("bob", ["sign", "--yes"], status: 17)
    // Nor does a file that can't be read keep anybody from dropping it.
    try place.folder.write("{", to: "alice/pending/root.json")
    try place.sign("alice", ["sign", "--yes"], status: 16)
    try place.sign("alice", ["propose", "--abandon"])
  }

  @Test func `what a proposer wrote is shown escaped, and refused where it is not one's own repository's`() throws {
    let place = try Machines()
    try place.sign("alice", ["propose", "--renew"])
    let text = try place.folder.text(of: "alice/pending/root.json")
    #expect(text.contains("\"consistent_snapshot\""))
    func with(_ member: String) throws {
      try place.folder.write(
        text.replacingOccurrences(of: "\"consistent_snapshot\"", with: "\"\(member)\":1,\"consistent_snapshot\""),
        to: "alice/pending/root.json")
    }
    try with("\\u001b[2J")
    try place.sign("alice", ["sign", "--yes"], status: 16)
    try with("a\\u202eb")
    let shown = try place.sign("alice", ["sign", "--yes"])
    #expect(shown.text.contains("changes the member a\\u{202E}b"))
    try place.folder.write(place.folder.bytes(of: "alice/manifests/metadata/1.root.json"), to: "own.json")
    let stranger = try Machines()
    try stranger.sign("alice", ["propose", "--renew"])
    let refused = try stranger.sign("alice", ["sign", "--yes", "--trusted-root", place.folder("own.json")], status: 10)
    #expect(refused.errorText.contains("sign nothing"))
    try FileManager.default.removeItem(atPath: stranger.folder("alice/secrets/trusted-root.json"))
    let untrusted = try stranger.sign("alice", ["sign", "--yes"], status: 2)
    #expect(untrusted.errorText.contains("--trusted-root"))
  }
}

@Suite struct `the verbs of a ceremony have exit codes that scripts can rely on` {
  @Test func `refresh for a scheduled job, and status as a monitor`() throws {
    let begin = 1_900_000_000
    func at(_ days: Int) -> [String: String?] { ["SOURCE_DATE_EPOCH": String(begin + days * 86_400)] }
    let site = try ReleaseSite(options: ["--no-passphrase"], environment: at(0))
    try site.publish(environment: at(0))
    #expect(try site.sign(["refresh"], environment: at(1)).text.contains("Nothing is due"))
    let before = try site.snapshot(of: "repository/manifests")
    let plan = try json(try site.sign(["refresh", "--dry-run", "--json"], environment: at(10)).text)
    #expect((plan["due"] as? [[String: Any]])?.compactMap { $0["role"] as? String } == ["timestamp"])
    #expect(try site.snapshot(of: "repository/manifests") == before)
    try FileManager.default.moveItem(atPath: site.repository + "/secrets/targets-1.key", toPath: site.folder("away.key"))
    let result = try site.sign(["refresh"], environment: at(300))
    expect(17, "missing: targets-1", in: result)
    #expect(result.text.contains("Published root 2, snapshot 2, timestamp 2."))
    expect(17, in: try site.sign(["refresh"], environment: at(300)))
    #expect(try site.version(of: "timestamp") == 2, "what could be done was done")

    let fresh = try ReleaseSite()
    try fresh.publish()
    expect(0, in: try fresh.sign(["status", "--fail-within", "13d"]))
    let soon = try fresh.sign(["status", "--fail-within", "15d"])
    expect(19, "timestamp expires within 15 days", in: soon)
    expect(2, "--fail-within", in: try fresh.sign(["status", "--fail-within", "soon"]))
    let report = try json(try fresh.sign(["status", "--json"]).text)
    #expect(report["roots"] as? Int == 1 && (report["waiting"] as? [Any])?.isEmpty == true)
    try require(0, try fresh.sign(["key", "generate", "spare", "--no-passphrase"]))
    #expect(try fresh.sign(["status"]).text.contains("Keys that sign nothing: spare"))
  }

  @Test func `rotate makes the next key, publishes, and names the signatures that stop counting`() throws {
    let site = try ReleaseSite(options: ["--no-passphrase", "--root-keys", "3", "--root-threshold", "2"])
    try site.publish(["--stage"])
    let result = try site.sign(["rotate", "targets", "--compromised", "--no-passphrase"])
    try require(0, result)
    #expect(result.text.contains("Made the key targets-2, fingerprint "))
    #expect(result.text.contains("Published root 2, targets 2, snapshot 2, timestamp 2."))
    #expect(result.text.contains("The signature of targets-1 under targets version 1 counts no longer."))
    #expect(result.errorText.contains("one key alone can sign for targets"))
    expect(0, in: try site.device())
    expect(17, "was retired", in: try site.sign(["propose", "--add-key", "targets=targets-1"]))
    expect(2, "there is no role nobody", in: try site.sign(["rotate", "nobody", "--no-passphrase"]))
    expect(2, "the proposal is refused", in: try site.sign(["propose", "--threshold", "root=4"]))
    expect(2, "can't be understood", in: try site.sign(["propose", "--threshold", "root"]))
    expect(1, "changes nothing", in: try site.sign(["propose"]))
    // A key can be named by the beginning of its id, where its file is gone.
    let status = try json(try site.sign(["status", "--json"]).text)
    let roles = try #require(status["roles"] as? [String: [String: Any]])
    let id = try #require((roles["root"]?["keys"] as? [[String: Any]])?.last?["id"] as? String)
    try site.remove("repository/keys/root-3.pem")
    try require(0, try site.sign(["propose", "--remove-key", "root=\(id.prefix(12))"]))
    try require(0, try site.sign(["sign", "--yes"]))
    #expect(try site.version(of: "root") == 3)
  }
}
