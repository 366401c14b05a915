import Foundation
import TestSupport
import Testing

extension VerifyingDevice {
  /// Publishes the repository of `tuf_teams.py`.
  /// - Returns: the key ids of each role.
  @discardableResult
  func publishDelegations(_ options: String..., into name: String = "repository") throws -> [String: [String]] {
    let result = try runChild(peerPython(), [peerScript("tuf_teams.py"), folder(name)] + options).successful()
    return try JSONDecoder().decode([String: [String]].self, from: Data(result.output))
  }

  /// A device that began trust, and what its refresh from such a repository said.
  static func delegating(_ options: String...) throws -> (device: VerifyingDevice, refresh: ChildResult) {
    let device = try VerifyingDevice()
    let script = try peerScript("tuf_teams.py")
    _ = try runChild(peerPython(), [script, device.folder("repository")] + options).successful()
    try FileManager.default.removeItem(atPath: device.folder("repository/targets/stray"))
    _ = try device.run("init", device.root).successful()
    return (device, try device.run("refresh", "--metadata", device.metadata))
  }
}

@Suite("manifest-verify takes over delegated roles and finds their files through the search")
struct ManifestVerifyDelegationTests {
  @Test func `refresh keeps every delegated role, and a second one has nothing to do`() throws {
    let (device, refresh) = try VerifyingDevice.delegating()
    #expect(refresh.status == 0 && refresh.text.contains("Delegated roles: 3, of which 3 changed"), "\(refresh.errorText)")
    let again = try device.run("refresh", "--metadata", device.metadata, "--json").successful()
    let report = try #require(try JSONSerialization.jsonObject(with: Data(again.output)) as? [String: Any])
    #expect(report["changed"] as? Bool == false)
    #expect((report["delegated_roles"] as? [String: Any])?["count"] as? Int == 3)
    // Four roles, the root in the chain, and three files under hashed names.
    let names = try FileManager.default.contentsOfDirectory(atPath: device.state).filter { $0.hasSuffix(".json") }
    #expect(names.count == 7 && names.filter { $0.utf8.count == 69 }.count == 3)
  }

  @Test func `check, list and show find what a search comes to, and nothing that is only listed`() throws {
    let (device, _) = try VerifyingDevice.delegating()
    let list = try device.run("list").successful().text.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) }
    #expect(list == ["top.bin", "team/a.bin", "team/b.bin", "team/inner/c.bin", "elsewhere/any.bin"])
    let show = try device.run("show", "team/inner/c.bin").successful().text
    #expect(show.contains("listed by team/ä, which targets delegates to") && show.contains("listed by inner, which team/ä delegates to"))
    #expect(try device.run("show", "stray/not-mine.bin").status == 12)
    let all = try device.checkAll()
    #expect(all.status == 0 && all.report.files.count == 5)
    #expect(try device.run("check", "--base", device.files, "team/inner/c.bin", "elsewhere/any.bin").status == 0)
    try device.folder.write("something else", to: "repository/targets/team/inner/c.bin")
    try device.folder.write("stray", to: "repository/targets/stray/not-mine.bin")
    let changed = try device.checkAll()
    #expect(changed.status == 12 && changed.statuses == ["team/inner/c.bin": "wrong length", "stray/not-mine.bin": "extra"])
  }

  @Test(arguments: [("--expire", Int32(11)), ("--usurp", 10), ("--omit", 14)])
  func `a role that is refused fails the refresh, and the others' files are trusted`(fault: String, code: Int32) throws {
    let (device, refresh) = try VerifyingDevice.delegating(fault, "inner")
    #expect(refresh.status == code && refresh.errorText.contains("inner, delegated to by team/ä"), "\(refresh.errorText)")
    #expect(refresh.text.contains("Delegated roles: 2, of which 2 changed"))
    #expect(try device.run("check", "--base", device.files, "top.bin", "team/a.bin", "elsewhere/any.bin").status == 0)
    let all = try device.checkAll()
    // What is told later, where no mirror is asked, is what the refresh found.
    let later: Int32 = fault == "--omit" ? 16 : code
    #expect(all.status == later && all.statuses == ["team/inner/c.bin": "not trusted"])
    #expect(try device.run("check", "--base", device.files, "team/inner/c.bin").status == later)
    let reason = ["--expire": "has expired", "--usurp": "expected valid signatures of 1", "--omit": "is not available"][fault] ?? ""
    for words in [["explain", "--base", device.files, "team/inner/c.bin"], ["show", "team/inner/c.bin"]] {
      let told = try runChild(builtCommand("manifest-verify"), [words[0], "--state", device.state] + words.dropFirst())
      #expect(told.status == later && told.errorText.contains(reason), "\(words): \(told.status) \(told.errorText)")
      #expect(told.errorText.contains("the newest refresh could not trust") && told.errorText.contains("run manifest-verify refresh"))
    }
    let list = try device.run("list")
    #expect(list.status == later && list.text.contains("team/a.bin") && !list.text.contains("team/inner/c.bin"))
  }

  @Test func `a role that is refused later stays as it was kept`() throws {
    let (device, _) = try VerifyingDevice.delegating()
    try device.publishDelegations("--version", "2", "--usurp", "inner", into: "newer")
    let refresh = try device.run("refresh", "--metadata", device.folder("newer/metadata"))
    #expect(refresh.status == 10)
    #expect(try device.checkAll().status == 0)
    try device.publishDelegations("--version", "3", into: "newest")
    #expect(try device.run("refresh", "--metadata", device.folder("newest/metadata")).status == 0)
  }

  @Test func `no changed byte of a kept delegated role is overlooked`() throws {
    let (device, _) = try VerifyingDevice.delegating()
    for name in try FileManager.default.contentsOfDirectory(atPath: device.state) where name.utf8.count == 69 {
      var bytes = try device.folder.bytes(of: "state/\(name)")
      let original = bytes
      bytes[bytes.count / 2] ^= 1
      try device.folder.write(bytes, to: "state/\(name)")
      let check = try device.checkAll()
      #expect(check.status == 10 || check.status == 16, "\(name): \(check.status)")
      try device.folder.write(original, to: "state/\(name)")
    }
    #expect(try device.checkAll().status == 0)
  }
}

@Suite("manifest-verify notices a clock that was set back")
struct ManifestVerifyClockTests {
  @Test func `refresh and check --fresh refuse it, and what is installed keeps working`() throws {
    let device = try VerifyingDevice.trusting()
    let record = try device.folder.text(of: "state/trust")
    let line = try #require(record.split(separator: "\n").first { $0.hasPrefix("newest-refresh 20") })
    try device.folder.write(record.replacing(line, with: "newest-refresh 2039-01-01T00:00:00Z"), to: "state/trust")
    let refresh = try device.run("refresh", "--metadata", device.metadata)
    #expect(refresh.status == 11)
    for words in ["clock was set back", "2039-01-01T00:00:00Z", "set the clock", "begin anew"] {
      #expect(refresh.errorText.contains(words))
    }
    #expect(try device.run("check", "--base", device.files, "--all", "--fresh").status == 11)
    let check = try device.run("check", "--base", device.files, "--all")
    #expect(check.status == 0 && check.errorText.contains("warning: this machine's clock was set back"))
    #expect(try device.run("explain", "--base", device.files, "file-0.bin").text.contains("the clock was set back"))
    // The way out that the message names.
    let anew = try runChild(builtCommand("manifest-verify"), ["init", "--state", device.folder("anew"), device.root])
    #expect(anew.status == 0)
    #expect(
      try runChild(builtCommand("manifest-verify"), ["refresh", "--state", device.folder("anew"), "--metadata", device.metadata]).status
        == 0)
  }
}

/// What `explain --json` says.
private struct Explained: Decodable {
  struct Signed: Decodable {
    let delegator: String
    let threshold: Int
    let keys: [String]
    let signers: [String]
  }
  struct Link: Decodable {
    let role: String
    let version: Int?
    let expires: String?
    let expired: Bool?
    let verdict: String
    let signed: [Signed]
    let reason: String?
  }
  struct Content: Decodable {
    let length: Int
    let sha256: String
  }
  struct File: Decodable {
    let verdict: String
    let length: Int?
    let sha256: String?
    let found: Content?
    let unreadable: String?
    let reason: String?
  }
  struct Failure: Decodable {
    let expected: String?
    let found: String?
  }
  let tool: String
  let state: String
  let trusted: Bool
  let path: String
  let file: File
  let links: [Link]
  let error: Failure?

  init(_ result: ChildResult) throws { self = try JSONDecoder().decode(Self.self, from: Data(result.output)) }
}

@Suite("manifest-verify explain tells why a file is trusted, or where trust ends")
struct ManifestVerifyExplainTests {
  @Test func `every link down to the shipped root, with the keys that signed`() throws {
    let (device, _) = try VerifyingDevice.delegating()
    let keys = try device.publishDelegations(into: "same")
    let text = try device.run("explain", "--base", device.files, device.files + "/team/inner/c.bin").successful().text
    let order = [
      "team/inner/c.bin: holds", "inner version 1: holds", "team/ä version 1", "targets version 1", "snapshot", "timestamp",
      "root version 1",
    ]
    var rest = text[...]
    for words in order {
      let range = try #require(rest.range(of: words), "\(words) after the others in:\n\(text)")
      rest = rest[range.upperBound...]
    }
    #expect(text.contains("Trusted: every link holds.") && text.contains("manifest-verify 0.") && text.contains(device.state))
    for key in keys.values.joined() where key != keys["bins"]?.first { #expect(text.contains("\(key)  signed")) }
    let json = try Explained(device.run("explain", "--base", device.files, "team/inner/c.bin", "--json").successful())
    #expect(json.trusted && json.links.map(\.role) == ["root", "timestamp", "snapshot", "targets", "team/ä", "inner"])
    #expect(json.links[4].signed.map(\.threshold) == [2] && json.links[4].signed.first?.signers.count == 2)
    #expect(json.links.map(\.expired) == Array(repeating: false, count: 6))
  }

  @Test func `a file that differs, is missing or unlisted fails as the last link`() throws {
    let device = try VerifyingDevice.trusting()
    try device.folder.write("x", to: "repository/targets/file-0.bin")
    let changed = try device.run("explain", "--base", device.files, "file-0.bin")
    #expect(changed.status == 12 && changed.text.contains("file-0.bin: FAILS: ") && changed.text.contains("found    1 byte, sha256:"))
    #expect(try device.run("explain", "--base", device.files, "none.bin").status == 12)
    let elsewhere = try device.run("explain", "--base", device.folder.path, "file-0.bin")
    #expect(elsewhere.status == 12 && elsewhere.errorText.contains("--base"))
    #expect(try device.run("explain", "--base", device.files, "../x").status == 2)
  }

  @Test func `--json tells what was found where it is not what was signed, and so does the error in it`() throws {
    let device = try VerifyingDevice.trusting()
    let path = "org/model-1/weights.bin"
    func explain() throws -> Explained { try Explained(device.run("explain", "--base", device.files, path, "--json")) }
    let intact = try explain()
    let signed = try #require(intact.file.sha256)
    #expect(intact.trusted && intact.file.found == nil && intact.error == nil)
    var bytes = try device.folder.bytes(of: "repository/targets/" + path)
    bytes[0] ^= 1
    try device.folder.write(bytes, to: "repository/targets/" + path)
    let changed = try explain()
    let found = try sha256(bytes)
    #expect(changed.file.found?.sha256 == found && changed.file.found?.length == bytes.count && changed.file.sha256 == signed)
    #expect(changed.error?.expected == "sha256:\(signed)" && changed.error?.found == "sha256:\(found)")
    try device.folder.write(bytes.dropLast(), to: "repository/targets/" + path)
    let short = try explain()
    #expect(short.file.found?.length == bytes.count - 1)
    #expect(short.error?.expected?.contains("\(bytes.count)") == true && short.error?.found?.contains("\(bytes.count - 1)") == true)
    try FileManager.default.removeItem(atPath: device.files + "/" + path)
    let missing = try explain()
    #expect(missing.file.found == nil && missing.file.unreadable?.hasSuffix("No such file or directory") == true)
    #expect(missing.file.sha256 == signed)
  }

  @Test(arguments: [("timestamp.json", "timestamp"), ("snapshot.json", "snapshot"), ("targets.json", "targets"), ("roots/2.json", "root")])
  func `in a damaged state the damaged link fails`(name: String, role: String) throws {
    let device = try VerifyingDevice.trusting("--rotate", "targets")
    let text = try device.folder.text(of: "state/\(name)")
    try device.folder.write(text.replacing("2040-01-01", with: "2041-01-01"), to: "state/\(name)")
    let result = try device.run("explain", "--base", device.files, "file-0.bin", "--json")
    let json = try Explained(result)
    #expect(result.status == 16, "\(result.errorText)")
    #expect(!json.trusted && json.file.verdict == "not reached")
    #expect(json.links.filter { $0.verdict == "fails" }.map(\.role) == [role])
    #expect(json.links.first { $0.verdict == "fails" }?.reason != nil)
  }

  @Test func `a state that can't be read at all still tells what the file is`() throws {
    let device = try VerifyingDevice.trusting()
    try device.folder.write("rubbish", to: "state/trust")
    let result = try device.run("explain", "--base", device.files, "file-1.bin")
    #expect(result.status == 16)
    #expect(result.text.contains("not reached") && result.text.contains("found") && result.text.contains("state: FAILS: "))
    let json = try Explained(device.run("explain", "--base", device.files, "file-1.bin", "--json"))
    #expect(json.links.map(\.role) == ["state"] && json.links[0].verdict == "fails" && json.links[0].reason != nil)
  }

  @Test func `expired metadata is told at its link, and is no failure`() throws {
    let device = try VerifyingDevice()
    try device.publish("--expires-role", "targets", "2039-12-31T00:00:00Z")
    try device.trust()
    let arguments = ["--state", device.state, "--base", device.files, "file-0.bin", "--at", "2039-12-31T00:00:00Z"]
    let result = try runChild(builtCommand("manifest-verify"), ["explain"] + arguments)
    #expect(
      result.status == 0 && result.text.contains("expired  2039-12-31T00:00:00Z, now: what is installed keeps working"), "\(result.text)")
    let json = try Explained(runChild(builtCommand("manifest-verify"), ["explain", "--json"] + arguments))
    #expect(json.trusted && json.links.map(\.expired) == [false, false, false, true])
  }
}
