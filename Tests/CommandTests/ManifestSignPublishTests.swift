import Foundation
import TestSupport
import Testing

@Suite struct `manifest-sign publish` {
  @Test func `publishing twice without a change says so and touches nothing`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let before = try site.snapshot(of: "repository")
    let again = try site.publish(["--stage"])
    #expect(again.text.contains("Nothing changed"))
    // The lock file alone is opened for writing.
    var after = try site.snapshot(of: "repository")
    after[".manifest-sign.lock"] = before[".manifest-sign.lock"]
    #expect(after == before)
    let report = try json(try site.publish(["--json"]).text)
    #expect(report["changed"] as? Bool == false && (report["added"] as? [Any])?.isEmpty == true && report["staged"] as? Int == 0)
  }

  @Test func `what is due is signed again without a change, as long as the root is valid`() throws {
    let past = ["SOURCE_DATE_EPOCH": String(Int(Date().timeIntervalSince1970) - 10 * 86_400)]
    let site = try ReleaseSite(environment: past)
    try site.publish(environment: past)
    // The same time again is no reason to sign.
    #expect(try site.publish(environment: past).text.contains("Nothing changed: targets version 1"))
    let renewed = try json(try site.publish(["--json"]).text)
    #expect(renewed["changed"] as? Bool == false && renewed["renewed"] as? Bool == true)
    #expect(try ["targets", "snapshot", "timestamp"].map(site.version) == [2, 2, 2])
    #expect(try site.device().status == 0)
  }

  @Test func `no version is given twice, though an old timestamp was put back`() throws {
    let site = try ReleaseSite()
    try site.publish()
    let old = try Data(contentsOf: URL(fileURLWithPath: site.metadata + "/timestamp.json"))
    try site.write("more", to: "acme/tiny/2.0/weights.bin")
    try site.publish()
    let second = try site.snapshot(of: "repository/manifests/metadata").filter { $0.key != "timestamp.json" }
    try old.write(to: URL(fileURLWithPath: site.metadata + "/timestamp.json"))
    try site.write("more still", to: "acme/tiny/3.0/weights.bin")
    try site.publish()
    let third = try site.snapshot(of: "repository/manifests/metadata")
    for (name, image) in second {
      // What no timestamp names is taken away, as what an interrupted publication leaves is.
      #expect(third[name] == image || third[name] == nil && name.hasPrefix("2."), "\(name) was written again")
    }
    #expect(try ["targets", "snapshot", "timestamp"].map(site.version) == [3, 3, 3])
    #expect(try site.device().status == 0)
  }

  @Test func `files of an unknown format are named`() throws {
    let site = try ReleaseSite(["acme/tiny/1.0/model.onnx": Array("<!DOCTYPE html><html>404</html>".utf8), "acme/tiny/1.0/empty.onnx": []])
    let result = try site.publish()
    #expect(result.errorText.contains("acme/tiny/1.0/model.onnx: unknown format, not checked; it looks like an HTML page"))
    #expect(result.errorText.contains("acme/tiny/1.0/empty.onnx: unknown format, not checked; it looks like an empty file"))
  }

  @Test func `models are put into targets later as well`() throws {
    let site = try ReleaseSite()
    let report = try json(try site.publish(["--json"]).text)
    // Three documents, and the .verity of the one large file.
    #expect(report["staged"] as? Int == 4 && report["files"] as? Int == 3 && report["models"] as? Int == 2)
    #expect((report["added"] as? [String])?.count == 6 && report["bytes"] as? Int == 700_028)
    let signed = try bytes(of: site.metadata + "/1.targets.json")
    #expect(try json(try site.publish(["--stage", "--json"]).text)["staged"] as? Int == 3)
    #expect(try bytes(of: site.metadata + "/1.targets.json") == signed && site.version(of: "timestamp") == 1)
    for (name, content) in ReleaseSite.smallCatalog { #expect(try bytes(of: site.published(name)) == content) }
    #expect(try site.device().status == 0)
  }

  @Test func `a file of a published version changes only when that is allowed`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    let before = try site.snapshot(of: "repository/manifests")
    try site.write("the weights of tinY", to: "acme/tiny/1.0/weights.bin")
    let refused = try site.sign(["publish", site.models])
    expect(12, "acme/tiny/1.0/weights.bin", "--allow-replace", in: refused)
    #expect(!refused.errorText.contains("config.txt"))
    #expect(try site.snapshot(of: "repository/manifests") == before)
    let report = try json(try site.publish(["--allow-replace", "--json", "--stage"]).text)
    #expect(report["replaced"] as? [String] == ["acme/tiny/1.0/weights.bin"])
    #expect((report["versions"] as? [String: Int]) == ["root": 1, "targets": 2, "snapshot": 2, "timestamp": 2])
    #expect(try site.device().status == 0)
  }

  @Test func `a published file goes only when that is allowed`() throws {
    let site = try ReleaseSite()
    try site.publish()
    try site.remove("models/other")
    expect(12, "other/large/2024-05/large.bin", "other/large/model.json", "--allow-remove", in: try site.sign(["publish", site.models]))
    #expect(try site.version(of: "timestamp") == 1)
    let report = try json(try site.publish(["--allow-remove", "--json"]).text)
    #expect(report["removed"] as? [String] == ["other/large/2024-05/large.bin", "other/large/model.json"])
    #expect(try site.device().status == 0)
  }

  @Test func `a new version makes version 2 of the targets, and stands first in the derived description`() throws {
    let site = try ReleaseSite()
    try site.publish()
    for name in ["1.9", "1.10"] { try site.write("weights of \(name)", to: "acme/tiny/\(name)/weights.bin") }
    try site.publish()
    #expect(try site.version(of: "targets") == 2)
    let names = try FileManager.default.contentsOfDirectory(atPath: site.targets + "/acme/tiny").filter { $0.hasSuffix(".model.json") }
    #expect(names.count == 2, "the old description stays for devices that have not refreshed")
    let newest = try #require(
      try names.map { try json(of: site.targets + "/acme/tiny/" + $0) }.compactMap { $0["versions"] as? [[String: Any]] }
        .first { $0.count == 3 })
    #expect(newest.map { $0["version"] as? String } == ["1.10", "1.9", "1.0"])
    #expect(try site.device().status == 0)
  }

  @Test func `a description that people wrote is published byte for byte`() throws {
    let site = try ReleaseSite()
    let text = """
      {  "schema": "signed-manifest/model/1", "title": "Tiny — très petit", "licence": "MIT", "x-note": [1, null],
         "versions": [{"version": "1.0", "variants": [{"name": "default", "files": [
           {"path": "acme/tiny/1.0/parts/config.txt", "sources": []}, {"path": "acme/tiny/1.0/weights.bin", "sources": []}]}]}]
      }
      """
    try site.write(text, to: "acme/tiny/model.json")
    let result = try site.publish()
    #expect(!result.errorText.contains("acme/tiny: the licence"), "its licence is known")
    #expect(try bytes(of: site.published("acme/tiny/model.json")) == Array(text.utf8))
    // A description that leaves a file out is refused with the file's name.
    try site.write("forgotten", to: "acme/tiny/1.0/extra.bin")
    expect(16, "model.json", "extra.bin", in: try site.sign(["publish", site.models]))
    try site.write("{\"schema\": 1}", to: "acme/tiny/model.json")
    expect(16, "acme/tiny/model.json", "schema", in: try site.sign(["publish", site.models]))
    #expect(try site.version(of: "timestamp") == 1)
  }

  @Test func `of many models without a licence twenty are named, and the report names all`() throws {
    let site = try ReleaseSite()
    for number in 0..<25 { try site.write("\(number)", to: "acme/model\(number)/1/weights.bin") }
    let told = try site.publish().errorText.split(separator: "\n").filter { $0.contains("licence") }
    #expect(told.count == 21 && told.last?.contains("and ") == true, "\(told)")
    try site.write("more", to: "acme/more/1/weights.bin")
    let report = try json(try site.publish(["--json"]).text)
    // ReleaseSite has models of its own.
    #expect((report["warnings"] as? [String])?.filter { $0.contains("licence") }.count ?? 0 >= 26, "\(report)")
  }

  @Test func `two of two keys of a role sign, and one alone can't`() throws {
    let site = try ReleaseSite(options: ["--no-passphrase", "--targets-keys", "2", "--targets-threshold", "2"])
    let key = site.repository + "/secrets/targets-2.key"
    try FileManager.default.moveItem(atPath: key, toPath: site.folder("away"))
    let waiting = try site.sign(["publish", site.models])
    #expect(
      waiting.status == 0 && waiting.text.contains("Devices see nothing of it yet") && waiting.text.contains("targets-2"), "\(waiting.text)"
    )
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
    try FileManager.default.moveItem(atPath: site.folder("away"), toPath: key)
    try site.publish()
    #expect((try json(of: site.metadata + "/1.targets.json")["signatures"] as? [Any])?.count == 2)
    #expect(try site.device().status == 0)
  }

  @Test func `without any key of targets nothing is signed, and the missing one is named`() throws {
    let site = try ReleaseSite()
    try site.remove("repository/secrets/targets-1.key")
    expect(17, "targets-1", "--secrets", in: try site.sign(["publish", site.models]))
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
  }

  @Test(arguments: ["snapshot", "timestamp"])
  func `without a key of snapshot or timestamp the signed targets wait, and nothing becomes visible`(role: String) throws {
    let site = try ReleaseSite()
    try site.remove("repository/secrets/\(role)-1.key")
    let waiting = try site.sign(["publish", site.models])
    #expect(waiting.status == 0 && waiting.text.contains("Devices see nothing of it yet"), "\(waiting.text)\(waiting.errorText)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
  }

  @Test func `the root key may stay in its safe`() throws {
    let site = try ReleaseSite()
    try site.remove("repository/secrets/root-1.key")
    try site.publish()
    #expect(try site.sign(["status"]).text.contains("root-1, not at hand"))
  }

  @Test func `SOURCE_DATE_EPOCH makes two publications the same bytes`() throws {
    let epoch = ["SOURCE_DATE_EPOCH": "1900000000"]
    let site = try ReleaseSite(environment: epoch)
    try site.publish(["--stage"], environment: epoch)
    let other = try ReleaseSite(options: nil)
    try FileManager.default.createDirectory(atPath: other.repository, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: site.repository + "/secrets", toPath: other.repository + "/secrets")
    try require(0, try other.sign(["init", "--existing-keys"], environment: epoch))
    try other.publish(["--stage"], environment: epoch)
    for name in ["repository/manifests", "repository/keys"] {
      #expect(try site.snapshot(of: name).mapValues(\.bytes) == other.snapshot(of: name).mapValues(\.bytes))
    }
    #expect(try site.folder.text(of: "repository/manifests/metadata/timestamp.json").contains("2030-03-31T17:46:40Z"))
  }

  @Test(arguments: [" ", "-1", "1.5", "1e9", "0x10", "now", "99999999999999", "9223372036854775808"])
  func `a SOURCE_DATE_EPOCH that is no time is wrong usage`(value: String) throws {
    let site = try ReleaseSite()
    expect(2, "SOURCE_DATE_EPOCH", in: try site.sign(["publish", site.models], environment: ["SOURCE_DATE_EPOCH": value]))
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.metadata) == ["1.root.json"])
  }

  @Test func `what is expired as it is published is warned of`() throws {
    let site = try ReleaseSite(environment: ["SOURCE_DATE_EPOCH": "1000000000"])
    let result = try site.publish(environment: ["SOURCE_DATE_EPOCH": "1000000000"])
    #expect(result.errorText.contains("timestamp") && result.errorText.contains("expired"))
    expect(11, "expired", in: try site.sign(["verify"]))
  }

  @Test func `there must be a repository, and a folder`() throws {
    let site = try ReleaseSite(options: nil)
    expect(1, "1.root.json", "manifest-sign init", in: try site.sign(["publish", site.models]))
    try require(0, try site.sign(["init", "--no-passphrase"]))
    expect(2, "DIR", in: try site.sign(["publish"]))
    expect(2, "extra", in: try site.sign(["publish", site.models, "extra"]))
    let missing = try site.sign(["publish", site.folder("nowhere")])
    #expect([14, 16].contains(missing.status) && missing.errorText.contains("nowhere") && missing.errorText.contains("No such file"))
  }

  @Test func `results that can't be written are a failure`() throws {
    let site = try ReleaseSite()
    for arguments in [["publish", site.models], ["status"], ["show", "root"], ["verify"], ["verify", "--json"], ["--version"]] {
      #expect(try site.sign(arguments, output: "/dev/full").status == 14, "\(arguments)")
    }
  }
}
