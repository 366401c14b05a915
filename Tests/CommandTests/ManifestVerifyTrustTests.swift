import Foundation
import TestSupport
import Testing

@Suite("manifest-verify begins and refreshes trust")
struct ManifestVerifyTrustTests {
  @Test func `the version is printed`() throws {
    let result = try runChild(builtCommand("manifest-verify"), ["--version"])
    #expect(result.status == 0 && result.text.hasPrefix("manifest-verify ") && result.errors.isEmpty)
  }

  @Test func `init names version, expiry, keys, threshold and the next command, and says when there is nothing to do`() throws {
    let device = try VerifyingDevice()
    let publication = try device.publish("--thresholds", "root=2/3")
    let first = try device.run("init", device.root)
    #expect(first.status == 0)
    for key in try #require(publication.keyids["root"]) { #expect(first.text.contains(key)) }
    for words in ["root version 1", "2040-01-01T00:00:00Z", "2 of 3", "manifest-verify refresh --state \(device.state) --metadata"] {
      #expect(first.text.contains(words))
    }
    let before = try stateFiles(device)
    let again = try device.run("init", device.root)
    #expect(again.status == 0 && again.text.contains("nothing to do"))
    #expect(try stateFiles(device) == before)
  }

  @Test func `init never overwrites another root or somebody else's folder`() throws {
    let device = try VerifyingDevice.trusting()
    try device.publish("--seed", "other", into: "other")
    let before = try stateFiles(device)
    let other = try device.run("init", device.folder("other/metadata/1.root.json"))
    #expect(other.status == 1 && other.errorText.contains("already trusts another root"))
    #expect(try stateFiles(device) == before)
    let foreign = try runChild(builtCommand("manifest-verify"), ["init", "--state", device.files, device.root])
    #expect(foreign.status == 1 && foreign.errorText.contains("not ours"))
  }

  @Test func `init refuses a root that is not signed, malformed or missing, each with its code`() throws {
    let device = try VerifyingDevice()
    try device.publish("--compact")
    let root = try device.folder.text(of: "repository/metadata/1.root.json")
    try device.folder.write(root.replacing("2040-01-01", with: "2041-01-01"), to: "unsigned.json")
    try device.folder.write(String(root.dropLast(9)), to: "cut.json")
    try device.folder.write([UInt8](repeating: 0x20, count: 600_000), to: "long.json")
    for (name, code) in [("unsigned.json", Int32(10)), ("cut.json", 16), ("long.json", 16), ("none.json", 14)] {
      let result = try device.run("init", device.folder(name))
      #expect(result.status == code && result.errorText.contains(name), "\(name): \(result.errorText)")
    }
    #expect(!FileManager.default.fileExists(atPath: device.state))
  }

  @Test func `refresh tells old and new versions, and when nothing changed`() throws {
    let device = try VerifyingDevice()
    try device.publish("--rotate", "timestamp")
    _ = try device.run("init", device.root).successful()
    let first = try device.run("refresh", "--metadata", device.metadata).successful()
    #expect(first.text.contains("1 → 2") && first.text.contains("none → 1"))
    try device.publish("--version", "7", "--rotate", "timestamp", into: "newer")
    let second = try device.run("refresh", "--metadata", device.folder("newer/metadata"), "--json").successful()
    let report = try #require(try JSONSerialization.jsonObject(with: Data(second.output)) as? [String: Any])
    let roles = try #require(report["roles"] as? [String: [String: Any]])
    #expect(report["changed"] as? Bool == true)
    #expect(roles["targets"]?["from"] as? Int == 1 && roles["targets"]?["version"] as? Int == 7)
    #expect(roles["root"]?["from"] as? Int == 2 && roles["root"]?["version"] as? Int == 2)
    let third = try device.run("refresh", "--metadata", device.folder("newer/metadata"))
    #expect(third.status == 0 && third.text.contains("Nothing changed"))
  }

  @Test func `a file URL is decoded, and one of another machine refused`() throws {
    let device = try VerifyingDevice()
    try device.publish(into: "a folder é")
    _ = try device.run("init", device.folder("a folder é/metadata/1.root.json")).successful()
    let path = device.folder("a%20folder%20%C3%a9/metadata")
    for url in ["file://\(path)", "file:\(path)", "FILE://localhost\(path)"] {
      #expect(try device.run("refresh", "--metadata", url).status == 0, "\(url)")
    }
    for url in ["file://host\(path)", "file:relative", "file:///%zz", "file:///a%00", "file:///a?b", "https://host/metadata"] {
      #expect(try device.run("refresh", "--metadata", url).status == 2, "\(url)")
    }
  }

  @Test func `older metadata is refused, and the state stays`() throws {
    let device = try VerifyingDevice()
    try device.publish("--version", "1")
    try device.publish("--version", "2", into: "newer")
    _ = try device.run("init", device.root).successful()
    _ = try device.run("refresh", "--metadata", device.folder("newer/metadata")).successful()
    let before = try stateFiles(device)
    let result = try device.run("refresh", "--metadata", device.metadata)
    #expect(result.status == 11)
    #expect(result.errorText.contains("version 2 or newer") && result.errorText.contains("version 1"))
    #expect(try stateFiles(device) == before)
  }

  @Test func `metadata of two publications is not mixed`() throws {
    let device = try VerifyingDevice.trusting()
    try device.publish("--version", "2", "--targets", "4", into: "newer")
    let mixed = device.folder("newer/metadata/snapshot.json")
    try Data(contentsOf: URL(fileURLWithPath: device.folder("repository/metadata/snapshot.json"))).write(to: URL(fileURLWithPath: mixed))
    let result = try device.run("refresh", "--metadata", device.folder("newer/metadata"))
    #expect(result.status == 10 && result.errorText.contains("snapshot"))
  }

  @Test func `metadata that another key signed is refused`() throws {
    let device = try VerifyingDevice()
    try device.publish()
    try device.publish("--seed", "other", into: "other")
    _ = try device.run("init", device.root).successful()
    let result = try device.run("refresh", "--metadata", device.folder("other/metadata"))
    #expect(result.status == 10 && result.errorText.contains("valid signatures of 1 of the 1 keys"))
  }

  @Test func `expired metadata does not refresh`() throws {
    let device = try VerifyingDevice()
    try device.publish("--expires-role", "timestamp", "2020-01-01T00:00:00Z")
    _ = try device.run("init", device.root).successful()
    let result = try device.run("refresh", "--metadata", device.metadata)
    #expect(result.status == 11 && result.errorText.contains("2020-01-01T00:00:00Z"))
  }

  @Test func `the clock can't be turned back for the device`() throws {
    let device = try VerifyingDevice()
    try device.publish("--expires-role", "timestamp", "2020-01-01T00:00:00Z")
    _ = try device.run("init", device.root).successful()
    let result = try runChild(
      builtCommand("manifest-verify"), ["refresh", "--state", device.state, "--metadata", device.metadata],
      environment: ["SOURCE_DATE_EPOCH": "1"])
    #expect(result.status == 11)
    #expect(try device.run("show", "--at", "2020-01-01T00:00:00Z").status == 2)
  }

  @Test func `only a missing file ends the chain of roots; a folder without metadata is an error of the disk`() throws {
    let device = try VerifyingDevice.trusting()
    try FileManager.default.createDirectory(atPath: device.folder("repository/metadata/2.root.json"), withIntermediateDirectories: false)
    #expect(try device.run("refresh", "--metadata", device.metadata).status == 14)
    for folder in [device.folder("repository"), device.folder("none"), device.root] {
      #expect(try device.run("refresh", "--metadata", folder).status == 14, "\(folder)")
    }
  }

  @Test func `a root given with --root replaces the one that is kept`() throws {
    let device = try VerifyingDevice.trusting()
    try device.publish("--seed", "other", into: "other")
    #expect(try device.run("list", "--root", device.root).status == 0)
    let other = try device.run("list", "--root", device.folder("other/metadata/1.root.json"))
    #expect(other.status == 16 && other.errorText.contains("the state does not follow from"), "\(other.errorText)")
    let unsigned = try device.folder.text(of: "repository/metadata/1.root.json").replacing("2040-01-01", with: "2041-01-01")
    try device.folder.write(unsigned, to: "unsigned.json")
    let result = try device.run("check", "--all", "--base", device.files, "--root", device.folder("unsigned.json"))
    #expect(result.status == 10 && result.errorText.contains("unsigned.json"))
  }

  // A first root that is another's does not fit what is kept; a second one is not signed by itself alone.
  @Test(arguments: [("1.root.json", Int32(16)), ("2.root.json", 10)])
  func `a wrong root given to refresh changes nothing that is kept`(name: String, code: Int32) throws {
    let device = try VerifyingDevice.trusting()
    try device.publish("--seed", "other", "--rotate", "root", into: "other")
    let kept = try device.kept()
    let refused = try device.run("refresh", "--metadata", device.metadata, "--root", device.folder("other/metadata/\(name)"))
    #expect(refused.status == code, "\(refused.errorText)")
    #expect(try device.kept() == kept)
    #expect(try device.run("refresh", "--metadata", device.metadata).status == 0)
    #expect(try device.run("check", "--all", "--base", device.files).status == 0)
  }

  @Test func `list and show tell what is trusted`() throws {
    let device = try VerifyingDevice()
    let publication = try device.publish("--sha512", "--thresholds", "targets=2/3")
    _ = try device.run("init", device.root).successful()
    let early = try device.run("show").successful()
    #expect(early.text.contains("No files are trusted yet"))
    #expect(try device.run("list").status == 1)
    _ = try device.run("refresh", "--metadata", device.metadata).successful()
    let list = try device.run("list").successful().text.split(separator: "\n")
    #expect(list.count == publication.targets.count)
    for (line, target) in zip(list, publication.targets) {
      let digest = try #require(target.hashes["sha256"])
      #expect(line.hasSuffix("\(target.path)") && line.contains(" \(digest)  "))
    }
    let roles = try device.run("show").successful().text
    #expect(roles.contains("2 of 3 keys, 2 needed") || roles.contains("3 of 3 keys, 2 needed"))
    #expect(roles.contains(try #require(publication.keyids["root"]?.first)))
    let target = try #require(publication.targets.last)
    let file = try device.run("show", target.path).successful().text
    for digest in target.hashes.values { #expect(file.contains(digest)) }
    #expect(try device.run("show", "nothing").status == 12)
    #expect(try device.run("show", "../x").status == 12)
  }

  @Test func `a result that can't be written is an error`() throws {
    let device = try VerifyingDevice.trusting()
    for verb in ["list", "show"] { #expect(try device.run(verb, output: "/dev/full").status == 14) }
    let check = try runChild(
      builtCommand("manifest-verify"), ["check", "--state", device.state, "--base", device.files, "--all"], output: "/dev/full")
    #expect(check.status == 14)
  }

  /// The state's files and their bytes.
  private func stateFiles(_ device: VerifyingDevice) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: device.state) where name != "roots" {
      files[name] = try device.folder.bytes(of: "state/\(name)")
    }
    return files
  }
}
