import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct `manifest-sign init` {
  static let made = [
    "keys/policy.json", "keys/root-1.pem", "keys/timestamp-1.pem", "keys/snapshot-1.pem", "keys/targets-1.pem", "secrets/root-1.key",
    "secrets/timestamp-1.key", "secrets/snapshot-1.key", "secrets/targets-1.key", "manifests/metadata/1.root.json",
  ]

  func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func `every role gets the keys and the threshold that its options say`() throws {
    let site = try ReleaseSite([:], options: nil)
    var options = ["init", "--no-passphrase", "--json"]
    let wanted = [("root", 5, 3), ("targets", 4, 2), ("snapshot", 3, 1), ("timestamp", 2, 2)]
    for (role, keys, threshold) in wanted { options += ["--\(role)-keys", "\(keys)", "--\(role)-threshold", "\(threshold)"] }
    let result = try sign(site, options)
    let reported = try #require(try json(result.text)["roles"] as? [String: [String: Any]])
    let root = try #require(try json(of: site.metadata + "/1.root.json")["signed"] as? [String: Any])
    let roles = try #require(root["roles"] as? [String: [String: Any]])
    #expect(root["consistent_snapshot"] as? Bool == true)
    #expect((root["keys"] as? [String: Any])?.count == 14)
    for (role, keys, threshold) in wanted {
      #expect((roles[role]?["keyids"] as? [String])?.count == keys)
      #expect(roles[role]?["threshold"] as? Int == threshold)
      #expect(reported[role]?["threshold"] as? Int == threshold)
      #expect(reported[role]?["keys"] as? [String] == (1...keys).map { "\(role)-\($0)" })
      #expect(reported[role]?["key_ids"] as? [String] == roles[role]?["keyids"] as? [String])
    }
  }

  func sign(_ site: ReleaseSite, _ arguments: [String]) throws -> ChildResult {
    let result = try site.sign(arguments)
    try require(0, result)
    return result
  }

  @Test func `what is secret is for its owner alone, and git takes none of it`() throws {
    let site = try ReleaseSite([:])
    for name in Self.made { #expect(FileManager.default.fileExists(atPath: site.repository + "/" + name), "\(name)") }
    #expect(try mode(site.repository + "/secrets") == 0o700)
    for name in try FileManager.default.contentsOfDirectory(atPath: site.repository + "/secrets") {
      #expect(try mode(site.repository + "/secrets/" + name) == 0o600, "\(name)")
    }
    #expect(try site.folder.text(of: "repository/secrets/.gitignore") == "*\n")
    #expect(try mode(site.repository + "/manifests") & 0o055 == 0o055)
  }

  @Test(arguments: made)
  func `no file is overwritten, whichever is there already`(name: String) throws {
    let site = try ReleaseSite([:], options: nil)
    try site.folder.write("precious", to: "repository/" + name)
    expect(1, name, "never overwritten", in: try site.sign(["init", "--no-passphrase"]))
    #expect(try site.snapshot(of: "repository").mapValues(\.bytes) == [name: Array("precious".utf8)])
  }

  @Test func `a second init changes nothing`() throws {
    let site = try ReleaseSite([:])
    let before = try site.snapshot(of: "repository")
    expect(1, "1.root.json", "never overwritten", in: try site.sign(["init", "--no-passphrase"]))
    expect(1, "1.root.json", "never overwritten", in: try site.sign(["init", "--existing-keys"]))
    #expect(try site.snapshot(of: "repository") == before)
  }

  @Test func `metadata of another repository is never taken over`() throws {
    let site = try ReleaseSite([:], options: nil)
    try site.folder.write("{}", to: "repository/manifests/metadata/timestamp.json")
    expect(1, "timestamp.json", in: try site.sign(["init", "--no-passphrase"]))
    #expect(try site.snapshot(of: "repository").count == 1)
  }

  @Test func `without a passphrase or a terminal nothing is written`() throws {
    let site = try ReleaseSite([:], options: nil)
    expect(17, "MANIFEST_SIGN_PASSPHRASE", "--passphrase-file", in: try site.sign(["init"]))
    expect(14, "nowhere", in: try site.sign(["init", "--passphrase-file", site.folder("nowhere")]))
    expect(14, "descriptor 77", in: try site.sign(["init", "--passphrase-fd", "77"]))
    #expect(!FileManager.default.fileExists(atPath: site.repository))
  }

  @Test func `a passphrase by variable, by file or by descriptor is the same passphrase`() throws {
    let site = try ReleaseSite(options: [], environment: ["MANIFEST_SIGN_PASSPHRASE": "correct horse"])
    let file = try site.folder.write(Array("correct horse\n".utf8), to: "passphrase", mode: 0o600)
    let wrong = try site.folder.write(Array("battery staple\n".utf8), to: "wrong", mode: 0o600)
    expect(17, "passphrase", in: try site.sign(["publish", site.models, "--passphrase-file", wrong]))
    expect(17, "passphrase", in: try site.sign(["publish", site.models]))
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
    try require(0, try site.sign(["publish", site.models, "--passphrase-file", file]))
    try site.write("more", to: "acme/tiny/1.1/weights.bin")
    try require(0, try site.sign(["publish", site.models, "--passphrase-fd", "0"], input: Array("correct horse\n".utf8)))
    // The variable wins over the option.
    try site.write("more", to: "acme/tiny/1.2/weights.bin")
    try site.publish(["--passphrase-file", wrong], environment: ["MANIFEST_SIGN_PASSPHRASE": "correct horse"])
    #expect(try site.version(of: "targets") == 3)
  }

  @Test func `keys without a passphrase are warned of, and those with one are not`() throws {
    let site = try ReleaseSite([:], options: nil)
    let result = try site.sign(["init", "--no-passphrase"])
    expect(0, "warning", "without a passphrase", "root-1.key", "targets-1.key", in: result)
    let other = try ReleaseSite([:], options: nil)
    let silent = try other.sign(["init"], environment: ["MANIFEST_SIGN_PASSPHRASE": "p"])
    #expect(silent.status == 0 && silent.errorText.isEmpty, "\(silent.errorText)")
  }

  @Test func `one key does not serve two roles`() throws {
    let site = try ReleaseSite()
    let secrets = site.folder("repository/secrets")
    let other = try ReleaseSite(options: nil)
    try FileManager.default.removeItem(atPath: secrets + "/targets-1.key")
    try FileManager.default.copyItem(atPath: secrets + "/root-1.key", toPath: secrets + "/targets-1.key")
    let result = try other.sign(["init", "--existing-keys", "--secrets", secrets])
    #expect(result.status == 17 && result.errorText.contains("root-1 and targets-1 are one key"), "\(result.errorText)")
    #expect(!FileManager.default.fileExists(atPath: other.metadata + "/1.root.json"))
  }

  @Test func `keys that exist make the same repository again`() throws {
    let site = try ReleaseSite([:], options: nil)
    let epoch = ["SOURCE_DATE_EPOCH": "1800000000"]
    try require(0, try site.sign(["init", "--no-passphrase", "--root-keys", "2"], environment: epoch))
    let before = try site.snapshot(of: "repository").mapValues(\.bytes)
    // As after a kill before the root was in place.
    for name in ["repository/manifests", "repository/keys/policy.json", "repository/keys/root-2.pem"] { try site.remove(name) }
    try require(0, try site.sign(["init", "--existing-keys", "--root-keys", "2"], environment: epoch))
    #expect(try site.snapshot(of: "repository").mapValues(\.bytes) == before)
    // A key that is not there is not made up.
    try site.remove("repository/manifests")
    expect(17, "missing: root-3", in: try site.sign(["init", "--existing-keys", "--root-keys", "3"]))
    // A public key of another is not overwritten.
    try FileManager.default.removeItem(atPath: site.repository + "/keys/root-1.pem")
    try FileManager.default.copyItem(atPath: site.repository + "/keys/root-2.pem", toPath: site.repository + "/keys/root-1.pem")
    expect(1, "root-1.pem", "never overwritten", in: try site.sign(["init", "--existing-keys", "--root-keys", "2"]))
  }

  @Test func `secrets may lie elsewhere, and are then looked for there`() throws {
    let site = try ReleaseSite(options: nil)
    let stick = ["--secrets", site.folder("stick")]
    try require(0, try site.sign(["init", "--no-passphrase"] + stick))
    #expect(!FileManager.default.fileExists(atPath: site.repository + "/secrets"))
    expect(17, "targets-1", "--secrets", in: try site.sign(["publish", site.models]))
    try site.publish(stick)
  }

  @Test(arguments: [[SIGINT], [SIGINT, SIGINT], [SIGTERM, SIGINT, SIGINT]])
  func `an interrupted init leaves nothing that stands in the way of the next, however often it is interrupted`(signals: [Int32]) throws {
    let site = try ReleaseSite([:], options: nil)
    // Each key takes a moment, for its passphrase is made expensive to guess.
    let child = try site.child(["init", "--root-keys", "100"], environment: ["MANIFEST_SIGN_PASSPHRASE": "p"])
    try waitUntil("the second key is made") { FileManager.default.fileExists(atPath: site.repository + "/secrets/root-2.key") }
    for signal in signals {
      child.send(signal)
      usleep(5000)
    }
    expect(130, in: try child.wait())
    #expect(!FileManager.default.fileExists(atPath: site.repository))
    try require(0, try site.sign(["init", "--no-passphrase"]))
  }

  @Test(arguments: [
    ["--lifetime", "root"], ["--lifetime", "root="], ["--lifetime", "=3"], ["--lifetime", "mirror=3"], ["--lifetime", "root=0"],
    ["--lifetime", "root=-1"], ["--lifetime", "root=1.5"], ["--lifetime", "root=36501"], ["--lifetime", "root=99999999999999999999"],
    ["--holder", "Alice"], ["--holder", "root-1="], ["--holder", "=Alice"], ["--holder", "nobody-1=Alice"], ["--root-keys", "0"],
    ["--root-keys", "101"], ["--root-keys", "x"], ["--root-threshold", "2"], ["--root-threshold", "0"],
    ["--targets-keys", "2", "--targets-threshold", "3"], ["--passphrase-fd", "-1"], ["--existing-keys"], ["extra"], ["--at", "now"],
    ["--lifetime", "root=10", "--lifetime", "root=20"], ["--holder", "root-1=Alice", "--holder", "root-1=Bob"],
  ])
  func `a wrong option is wrong usage and writes nothing`(options: [String]) throws {
    let site = try ReleaseSite([:], options: nil)
    let result = try site.sign(["init", "--no-passphrase"] + options)
    #expect(result.status == 2, "\(result.status) \(result.errorText)")
    #expect(!result.errorText.isEmpty && result.text.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: site.repository))
  }

  @Test func `lifetimes and holders are kept and used`() throws {
    let site = try ReleaseSite(
      options: nil)
    let options = ["--lifetime", "timestamp=3", "--lifetime", "root=700", "--holder", "root-1=Älice \u{202E}B", "--no-passphrase"]
    try require(0, try site.sign(["init"] + options))
    try site.publish()
    let status = try json(try site.sign(["status", "--json"]).text)
    let roles = try #require(status["roles"] as? [String: [String: Any]])
    for (role, days) in [("timestamp", 3), ("root", 700)] {
      let left = try #require(roles[role]?["seconds_left"] as? Int)
      #expect((days * 86_400 - 3600...days * 86_400).contains(left), "\(role): \(left)")
    }
    #expect((roles["root"]?["keys"] as? [[String: Any]])?.first?["holder"] as? String == "Älice \u{202E}B")
    // What turns a terminal's text around is never printed as it is.
    let shown = try site.sign(["status"]).text
    #expect(shown.contains("Älice") && !shown.unicodeScalars.contains("\u{202E}"))
  }
}
