import Foundation
import TestSupport
import Testing

@Suite struct `manifest-sign status, show and verify` {
  static func iso(_ seconds: Double) -> String {
    ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: seconds))
  }

  static let day = 86_400.0

  @Test func `status tells versions, expiries, thresholds and keys`() throws {
    let site = try ReleaseSite(options: ["--no-passphrase", "--holder", "root-1=Alice"])
    #expect(try site.sign(["status"]).text.contains("Nothing is published yet"))
    let empty = try json(try site.sign(["status", "--json"]).text)
    #expect(empty["targets"] is NSNull)
    try site.publish()
    let result = try site.sign(["status"])
    try require(0, result)
    for text in ["root-1 (Alice)", "1 of 1", "expires in", "timestamp-1"] { #expect(result.text.contains(text), "\(text)") }
    let report = try json(try site.sign(["status", "--json"]).text)
    #expect(report["targets"] as? Int == 6)
    let roles = try #require(report["roles"] as? [String: [String: Any]])
    #expect(roles.keys.sorted() == ["root", "snapshot", "targets", "timestamp"])
    for (name, role) in roles {
      #expect(role["version"] as? Int == 1 && role["threshold"] as? Int == 1 && role["due"] as? Bool == false, "\(name)")
      #expect((role["expires"] as? String)?.hasSuffix("Z") == true)
      #expect((role["keys"] as? [[String: Any]])?.first?["at_hand"] as? Bool == true)
    }
  }

  @Test func `status at a later time tells what is due and what has expired then`() throws {
    let site = try ReleaseSite()
    try site.publish()
    let due = try site.sign(["status", "--at", Self.iso(10 * Self.day)])
    try require(0, due)
    #expect(due.text.contains("due"))
    expect(11, "timestamp expired", in: try site.sign(["status", "--at", Self.iso(15 * Self.day)]))
    expect(11, "root, timestamp, snapshot, targets expired", in: try site.sign(["status", "--at", Self.iso(366 * Self.day)]))
    let report = try json(try site.sign(["status", "--json", "--at", Self.iso(15 * Self.day)]).text)
    let timestamp = try #require((report["roles"] as? [String: [String: Any]])?["timestamp"])
    #expect(try #require(timestamp["seconds_left"] as? Int) < 0)
  }

  @Test(arguments: ["status", "verify"])
  func `a time in the past, or none, is wrong usage`(verb: String) throws {
    let site = try ReleaseSite()
    for time in ["2020-01-01T00:00:00Z", "yesterday", "", "2099-01-01", "2099-13-01T00:00:00Z"] {
      expect(2, "--at", in: try site.sign([verb, "--at", time]))
    }
  }

  @Test func `verify at a later time finds what has expired then`() throws {
    let site = try ReleaseSite()
    try site.publish()
    try require(0, try site.sign(["verify", "--at", Self.iso(13 * Self.day)]))
    expect(11, "timestamp metadata has expired", in: try site.sign(["verify", "--at", Self.iso(15 * Self.day)]))
  }

  @Test func `verify tells how many files are intact, and of which there are none`() throws {
    let site = try ReleaseSite()
    try site.publish()
    let report = try json(try site.sign(["verify", site.models, "--json"]).text)
    #expect(report["intact"] as? Int == 6 && report["not_staged"] as? Int == 3)
    #expect((report["failures"] as? [Any])?.isEmpty == true)
  }

  @Test(arguments: ["1.root.json", "1.targets.json", "1.snapshot.json", "timestamp.json"])
  func `verify finds every damaged metadata file, and publish goes on from none`(name: String) throws {
    let site = try ReleaseSite()
    try site.publish()
    let path = site.metadata + "/" + name
    let whole = try bytes(of: path)
    var damaged: [[UInt8]] = [[], Array(whole.dropLast()), whole + [UInt8(ascii: "}")]]
    var generator = SeededGenerator(seed: 20_261_130)
    for _ in 0..<12 {
      var flipped = whole
      flipped[Int.random(in: 0..<whole.count, using: &generator)] ^= UInt8(1 << Int.random(in: 0..<8, using: &generator))
      damaged.append(flipped)
    }
    for bytes in damaged {
      try write(bytes, to: path)
      let result = try site.sign(["verify"])
      #expect([10, 11, 14, 16].contains(result.status), "\(result.status) \(result.errorText) \(String(decoding: bytes, as: UTF8.self))")
    }
    try site.write("more", to: "acme/tiny/1.1/weights.bin")
    let before = try site.snapshot(of: "repository/manifests")
    #expect(try site.sign(["publish", site.models]).status != 0)
    #expect(try site.snapshot(of: "repository/manifests") == before)
    try write(whole, to: path)
    try site.publish()
  }

  @Test(arguments: ["1.root.json", "2.targets.json", "2.snapshot.json", "timestamp.json"])
  func `verify finds every missing metadata file, and publish never begins anew`(name: String) throws {
    let site = try ReleaseSite()
    try site.publish()
    try site.write("more", to: "acme/tiny/1.1/weights.bin")
    try site.publish()
    try site.remove("repository/manifests/metadata/" + name)
    let result = try site.sign(["verify"])
    #expect(result.status != 0 && result.errorText.contains(name), "\(result.errorText)")
    try site.write("more", to: "acme/tiny/1.2/weights.bin")
    let before = try site.snapshot(of: "repository/manifests")
    #expect(try site.sign(["publish", site.models]).status != 0)
    #expect(try site.snapshot(of: "repository/manifests") == before)
  }

  @Test func `an older timestamp put back is noticed before version numbers are given twice`() throws {
    let site = try ReleaseSite()
    try site.publish()
    let old = try bytes(of: site.metadata + "/timestamp.json")
    for name in ["1.1", "1.2"] {
      try site.write(name, to: "acme/tiny/\(name)/weights.bin")
      try site.publish()
    }
    try write(old, to: site.metadata + "/timestamp.json")
    expect(11, "older", "version 3", in: try site.sign(["publish", site.models]))
  }

  @Test func `a gap in the chain of roots is noticed`() throws {
    let site = try ReleaseSite()
    try site.publish()
    try site.folder.write("{}", to: "repository/manifests/metadata/3.root.json")
    expect(14, "2.root.json", in: try site.sign(["verify"]))
    expect(14, "2.root.json", in: try site.sign(["publish", site.models]))
  }

  @Test func `verify finds damaged files and names each`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let weights = try site.published("acme/tiny/1.0/weights.bin")
    let catalog = try site.published("catalog.json")
    var changed = try bytes(of: weights)
    changed[3] ^= 1
    try write(changed, to: weights)
    try write(try bytes(of: catalog) + [10], to: catalog)
    try FileManager.default.removeItem(atPath: try site.published("other/large/model.json"))
    let result = try site.sign(["verify", site.models])
    expect(12, weights, "wrong digest", catalog, "wrong length", in: result)
    #expect(result.errorText.contains("other/large") && !result.errorText.contains("config.txt"))
    let report = try json(try site.sign(["verify", "--json"]).text)
    #expect((report["failures"] as? [Any])?.count == 3)
    // What publishing makes itself it makes again; a model that lies there is left to `verify`.
    try FileManager.default.removeItem(atPath: weights)
    try write(try bytes(of: catalog).dropLast(), to: catalog)
    #expect(try site.sign(["publish", site.models]).status == 14, "the published description is gone")
  }

  @Test func `a damaged catalog, and a model of another length, are mended by publishing again`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let before = try site.snapshot(of: "repository/manifests").mapValues(\.bytes)
    try write([1, 2, 3], to: try site.published("catalog.json"))
    try write([], to: try site.published("acme/tiny/1.0/weights.bin"))
    let result = try site.publish(["--stage"])
    #expect(result.text.contains("Nothing changed") && result.text.contains("2 files"))
    #expect(try site.snapshot(of: "repository/manifests").mapValues(\.bytes) == before)
  }

  @Test func `show prints every role, and the same in JSON`() throws {
    let site = try ReleaseSite()
    expect(1, "no targets metadata is published yet", in: try site.sign(["show", "targets"]))
    try site.publish()
    for role in ["root", "targets", "snapshot", "timestamp"] {
      let path = site.metadata + "/" + (role == "timestamp" ? "timestamp.json" : "1.\(role).json")
      for name in [role, path] {
        let text = try site.sign(["show", name])
        try require(0, text)
        #expect(text.text.contains("\"_type\": \"\(role)\""))
        let report = try json(try site.sign(["show", name, "--json"]).text)
        #expect(NSDictionary(dictionary: try #require(report["metadata"] as? [String: Any])).isEqual(to: try json(of: path)))
      }
    }
    expect(14, "nowhere.json", in: try site.sign(["show", site.folder("nowhere.json")]))
    expect(16, in: try site.sign(["show", try site.folder.write("[1.5]", to: "bad.json")]))
  }

  @Test func `show prints no character that moves a terminal's cursor or turns text around`() throws {
    let site = try ReleaseSite()
    var root = String(decoding: try bytes(of: site.metadata + "/1.root.json"), as: UTF8.self)
    root = root.replacingOccurrences(
      of: "\"signed\":{", with: "\"signed\":{\"a\":\"\\u001b[2J\\u202e\\u0007\\u009b\u{202E}\\nnew line\",")
    let file = try site.folder.write(root, to: "hostile \u{1B}[31m.json")
    for options in [[], ["--json"]] {
      let result = try site.sign(["show", file] + options)
      try require(0, result)
      for scalar in (result.text + result.errorText).unicodeScalars where scalar != "\n" {
        #expect(scalar.properties.generalCategory != .control && scalar != "\u{202E}", "\(scalar.value)")
      }
    }
  }

  @Test(arguments: ["init", "publish", "status", "show", "verify", "drill"])
  func `every verb explains its options, and its JSON is JSON`(verb: String) throws {
    let help = try runChild(builtCommand("manifest-sign"), [verb, "--help"])
    try require(0, help)
    var options = ["--repository", "--json", "--quiet", "--help"]
    switch verb {
    case "init":
      options += ["root", "targets", "snapshot", "timestamp"].flatMap { ["--\($0)-keys", "--\($0)-threshold"] }
      options += ["--lifetime", "--holder", "--no-passphrase", "--existing-keys", "--secrets", "--passphrase-file", "--passphrase-fd"]
    case "publish": options += ["--stage", "--allow-replace", "--allow-remove", "--secrets", "--passphrase-file", "--passphrase-fd"]
    case "status": options += ["--secrets", "--at"]
    case "verify": options.append("--at")
    case "drill": options += ["--html", "--seed", "--days", "--python", "--at"]
    default: break
    }
    for option in options { #expect(help.text.contains(option), "\(option)") }
    #expect(try json(try runChild(builtCommand("manifest-sign"), [verb, "--help", "--json"]).text)["help"] is String)
    // A wrong line, too, is answered in JSON.
    let wrong = try runChild(builtCommand("manifest-sign"), [verb, "--wrong-option", "--json"])
    #expect(wrong.status == 2)
    #expect(try json(wrong.text)["error"] != nil)
  }

  @Test func `a command without a verb, or with an unknown one, is wrong usage`() throws {
    expect(2, "unknown", in: try runChild(builtCommand("manifest-sign"), ["unknown"]))
    expect(2, in: try runChild(builtCommand("manifest-sign"), []))
  }
}
