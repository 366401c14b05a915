import Foundation
import TestSupport
import Testing

@Suite("manifest-verify check names every file that fails")
struct ManifestVerifyCheckTests {
  // The files that are published: file-0.bin (empty), org/model-1/weights.bin, org/model-2/1.0/part of 2.bin and so on.
  private let weights = "org/model-1/weights.bin"
  private let part = "org/model-2/1.0/part of 2.bin"

  @Test func `intact files pass, by name and all together`() throws {
    let device = try VerifyingDevice.trusting()
    let named = try device.run("check", "--base", device.files, weights, part).successful()
    #expect(named.text.contains("2 files checked: all as signed"))
    let all = try device.checkAll()
    #expect(all.status == 0 && all.report.failed == 0 && all.report.files.count == 3 && all.report.error == nil)
    #expect(try device.checkAll("--whole").status == 0)
  }

  @Test func `a flipped byte, a cut one and one too many are told apart`() throws {
    let device = try VerifyingDevice()
    let publication = try device.publish("--targets", "6")
    try device.trust()
    var bytes = try device.folder.bytes(of: "repository/targets/\(weights)")
    bytes[700] ^= 0x10
    try device.folder.write(bytes, to: "repository/targets/\(weights)")
    let longer = try device.folder.bytes(of: "repository/targets/\(part)") + [0]
    try device.folder.write(longer, to: "repository/targets/\(part)")
    let shorter = Array(try device.folder.bytes(of: "repository/targets/file-3.bin").dropLast())
    try device.folder.write(shorter, to: "repository/targets/file-3.bin")

    let outcome = try device.checkAll()
    #expect(outcome.status == 12 && outcome.report.failed == 3 && outcome.report.error?.exit == 12)
    #expect(outcome.statuses == [weights: "wrong digest", part: "wrong length", "file-3.bin": "wrong length"])
    for (path, found) in [(weights, bytes), (part, longer), ("file-3.bin", shorter)] {
      let target = try #require(publication.targets.first { $0.path == path })
      let failure = try #require(outcome.failures[path])
      #expect(failure.expected == .init(length: target.length, digest: "sha256:\(try #require(target.hashes["sha256"]))"))
      // Nothing is read of a file that is too long.
      let digest = path == part ? nil : "sha256:\(try sha256(found))"
      #expect(failure.found == .init(length: found.count, digest: digest))
    }
    let words = try device.run("check", "--base", device.files, "--all")
    let digest = try sha256(bytes)
    #expect(words.status == 12 && words.text.contains("\(weights): wrong digest") && words.text.contains(digest))
    #expect(words.errorText.contains("3 of 6 files failed"))
  }

  @Test func `two files that were swapped are both named, and one renamed is missing and extra`() throws {
    let device = try VerifyingDevice.trusting("--targets", "6")
    try FileManager.default.moveItem(atPath: device.files + "/" + weights, toPath: device.folder("aside"))
    try FileManager.default.moveItem(atPath: device.files + "/" + part, toPath: device.files + "/" + weights)
    try FileManager.default.moveItem(atPath: device.folder("aside"), toPath: device.files + "/" + part)
    try FileManager.default.moveItem(atPath: device.files + "/file-3.bin", toPath: device.files + "/file-3.bak")
    let outcome = try device.checkAll()
    #expect(outcome.status == 12)
    #expect(
      outcome.statuses == [weights: "wrong length", part: "wrong length", "file-3.bin": "missing", "file-3.bak": "extra"])
  }

  @Test func `extra files are named at any depth, and no folder without files`() throws {
    let device = try VerifyingDevice.trusting()
    try device.folder.write("x", to: "repository/targets/.hidden")
    try device.folder.write("x", to: "repository/targets/deep/er/x")
    try FileManager.default.createDirectory(atPath: device.files + "/empty", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: device.files + "/link", withDestinationPath: "/")
    #expect(try device.checkAll().statuses == [".hidden": "extra", "deep/er/x": "extra", "link": "extra"])
    #expect(try device.run("check", "--base", device.files, weights).status == 0)
  }

  @Test func `a state folder below the base folder is not extra`() throws {
    let device = try VerifyingDevice.trusting()
    try FileManager.default.moveItem(atPath: device.state, toPath: device.files + "/trust")
    let result = try runChild(
      builtCommand("manifest-verify"), ["check", "--state", device.files + "/trust", "--base", device.files, "--all"])
    #expect(result.status == 0, "\(result.text)")
  }

  @Test func `descriptions of models may be absent, and are checked where they are there`() throws {
    let device = try VerifyingDevice.trusting(edits: [
      "file-0.bin": .init(path: "catalog.json"), weights: .init(path: "org/model-1/model.json"),
    ])
    try FileManager.default.removeItem(atPath: device.files + "/file-0.bin")
    try FileManager.default.removeItem(atPath: device.files + "/" + weights)
    let absent = try device.checkAll()
    #expect(absent.status == 0 && absent.report.absent == ["catalog.json", "org/model-1/model.json"])
    try device.folder.write("{}", to: "repository/targets/catalog.json")
    #expect(try device.checkAll().statuses == ["catalog.json": "wrong length"])
    #expect(try device.run("check", "--base", device.files, "org/model-1/model.json").status == 12)
  }

  @Test func `a path that a shell completes is understood`() throws {
    let device = try VerifyingDevice.trusting()
    let command = try builtCommand("manifest-verify")
    for (base, path) in [
      ("repository/targets", "repository/targets/\(weights)"), ("repository/targets/", "repository/targets/\(weights)"),
      (device.files, device.files + "/" + weights), ("repository/targets", "./\(weights)"),
    ] {
      let result = try runChild(
        command, ["check", "--state", device.state, "--base", base, path], directory: device.folder.path)
      #expect(result.status == 0, "\(base) \(path): \(result.errorText)")
    }
    let inside = try runChild(command, ["check", "--state", device.state, weights], directory: device.files)
    #expect(inside.status == 0)
  }

  @Test func `a path that is not listed fails, and the others are checked all the same`() throws {
    let device = try VerifyingDevice.trusting()
    let result = try device.run("check", "--base", device.files, "none", "../x", weights)
    #expect(result.status == 12)
    #expect(result.text.contains("none: not listed") && result.text.contains("../x: not listed"))
    #expect(result.errorText.contains("2 of 3 files failed"))
  }

  @Test func `neither a link nor a FIFO is taken for a file`() throws {
    let device = try VerifyingDevice.trusting()
    try FileManager.default.moveItem(atPath: device.files + "/" + weights, toPath: device.folder("same-content"))
    try FileManager.default.createSymbolicLink(atPath: device.files + "/" + weights, withDestinationPath: device.folder("same-content"))
    try FileManager.default.removeItem(atPath: device.files + "/" + part)
    _ = try runChild("mkfifo", [device.files + "/" + part]).successful()
    let outcome = try device.checkAll()
    #expect(outcome.status == 14)
    #expect(outcome.statuses == [weights: "unreadable", part: "unreadable"])
    #expect(outcome.failures[weights]?.reason?.contains("symbolic link") == true)
    #expect(outcome.failures[part]?.reason == "a FIFO")
  }

  @Test func `no folder on the way may be a link`() throws {
    let device = try VerifyingDevice.trusting()
    try FileManager.default.moveItem(atPath: device.files + "/org", toPath: device.folder("elsewhere"))
    try FileManager.default.createSymbolicLink(atPath: device.files + "/org", withDestinationPath: device.folder("elsewhere"))
    let outcome = try device.checkAll()
    #expect(outcome.statuses == [weights: "unreadable", part: "unreadable", "org": "extra"])
    #expect(outcome.failures[part]?.reason?.contains("org is a symbolic link") == true)
  }

  @Test func `what another user may not read is unreadable, files and folders, and not passed over`() throws {
    let device = try VerifyingDevice.trusting()
    try device.folder.write("x", to: "repository/targets/secret/x")
    try setMode(0, of: device.files + "/" + weights)
    try setMode(0, of: device.files + "/secret")
    defer { _ = try? setMode(0o755, of: device.files + "/secret") }
    // Where the other user can reach it, whatever the folder of the build allows.
    let command = device.folder("manifest-verify")
    try FileManager.default.copyItem(atPath: builtCommand("manifest-verify"), toPath: command)
    var words = [command, "check", "--state", device.state, "--base", device.files, "--all", "--json"]
    if getuid() == 0 { words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + words }
    let outcome = try CheckOutcome(try runChild(words[0], Array(words.dropFirst())))
    #expect(outcome.status == 14)
    #expect(outcome.statuses == [weights: "unreadable", "secret": "unreadable"])
    #expect(outcome.failures[weights]?.reason == "Permission denied")
  }

  @Test func `expired metadata warns, and fails with --fresh`() throws {
    let device = try VerifyingDevice.trusting("--expires", "2030-01-01T00:00:00Z")
    let before = try device.checkAll("--fresh")
    #expect(before.status == 0 && before.report.expired.isEmpty)
    let warned = try device.run("check", "--base", device.files, weights, "--at", "2031-01-01T00:00:00Z")
    #expect(warned.status == 0)
    for words in ["timestamp metadata expired", "2030-01-01T00:00:00Z", "keeps working", "manifest-verify refresh --state"] {
      #expect(warned.errorText.contains(words))
    }
    let expired = try device.checkAll("--at", "2030-01-01T00:00:00Z")
    #expect(expired.report.expired.map(\.role).sorted() == ["root", "snapshot", "targets", "timestamp"])
    let failed = try device.run("check", "--base", device.files, weights, "--at", "2030-01-01T00:00:00Z", "--fresh")
    #expect(failed.status == 11 && failed.text.isEmpty)
  }

  @Test func `names of a foreign manifest do nothing to a terminal`() throws {
    let device = try VerifyingDevice.trusting(edits: ["file-0.bin": .init(path: "\u{202E}gfug")])
    try device.folder.write("x", to: "repository/targets/\u{1B}[2Jx")
    let results = [try device.run("list"), try device.run("check", "--base", device.files, "--all")]
    for result in results {
      #expect(result.text.contains("\\u{202E}gfug"))
      let bytes = result.text + result.errorText
      #expect(bytes.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0 != "\u{202E}") })
    }
    #expect(results[1].text.contains("\\u{1B}[2Jx: extra"))
    let hostile = try VerifyingDevice()
    try hostile.publish(edits: ["file-0.bin": .init(path: "\u{1B}[31m")])
    _ = try hostile.run("init", hostile.root).successful()
    let refused = try hostile.run("refresh", "--metadata", hostile.metadata)
    #expect(refused.status == 16 && !refused.errorText.contains("\u{1B}"))
  }

  @Test(.timeLimit(.minutes(2)))
  func `an interruption ends a large file in the middle`() throws {
    let length: Int64 = 200 << 30
    let device = try VerifyingDevice.trusting(edits: [weights: .init(length: length)])
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: device.files + "/" + weights))
    try file.truncate(atOffset: UInt64(length))
    try file.close()
    // Whoever runs the tests may have blocked or ignored the signal, and children inherit that.
    let program = """
      import os, signal, sys
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      signal.signal(signal.SIGINT, signal.SIG_DFL)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let child = try Child(
      peerPython(), ["-c", program, builtCommand("manifest-verify"), "check", "--state", device.state, "--base", device.files, weights])
    try waitUntil("the file is open") { isOpen(device.files + "/" + weights, in: child.processID) }
    child.send(SIGINT)
    let result = try child.wait(seconds: 60)
    #expect(result.status == 130 && result.errorText.contains("interrupted"))
  }

  @Test func `something to check has to be named`() throws {
    let device = try VerifyingDevice.trusting()
    #expect(try device.run("check", "--base", device.files).status == 2)
    #expect(try device.run("check", "--base", device.files, "--all", weights).status == 2)
    #expect(try device.run("check", "--base", device.folder("none"), "--all").status == 14)
  }

  private func isOpen(_ path: String, in process: Int32) -> Bool {
    let folder = "/proc/\(process)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return names.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == resolved }
  }

  private func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
