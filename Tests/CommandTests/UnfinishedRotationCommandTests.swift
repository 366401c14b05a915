import Foundation
import TestSupport
import Testing

@Suite("A rotation that is half done hinders no check, and a lagging mirror no refresh")
struct UnfinishedRotationCommandTests {
  private static let path = "org/model-1/weights.bin"

  private func verify(_ device: Device, _ words: String...) throws -> ChildResult {
    try runChild(builtCommand("manifest-verify"), [words[0], "--state", device.state] + words.dropFirst())
  }

  @Test(
    "check, list, show and explain go on wherever the refresh that follows a new timestamp key breaks off",
    arguments: ["2.root.json", "3.root.json", "4.root.json", "timestamp.json", "3.snapshot.json", "3.targets.json"],
    ["status=500", "reset"])
  func readingGoesOn(file: String, behaviour: String) throws {
    let device = try Device()
    let server = try Published.server
    _ = try device.refresh(server.url("v1/metadata")).successful()
    _ = try device.get([Self.path], from: server.url("v1/targets")).successful()
    let failed = try device.refresh(server.url("rotated/metadata", behaviour, for: file))
    #expect(failed.status == 13, "\(failed.errorText)")
    #expect(!failed.errorText.contains("nothing was changed") && !failed.errorText.contains("stays trusted"), "\(failed.errorText)")
    for words in [["check", "--base", device.models, Self.path], ["list"], ["show"], ["show", Self.path]] {
      let result = try runChild(builtCommand("manifest-verify"), [words[0], "--state", device.state] + words.dropFirst())
      #expect(result.status == 0, "\(words): \(result.errorText)")
    }
    let explained = try verify(device, "explain", "--base", device.models, Self.path)
    #expect(explained.status == 0 && explained.text.contains("Trusted: every link holds."), "\(explained.text)")
    let isHalfDone = ["3.root.json", "4.root.json", "timestamp.json"].contains(file)
    #expect(!isHalfDone || explained.text.contains("a rotation is half done here, and refresh completes it"), "\(explained.text)")
    _ = try device.refresh(server.url("rotated/metadata")).successful()
    #expect(try !verify(device, "explain", "--base", device.models, Self.path).text.contains("half done"))
    let other = try Device()
    _ = try other.refresh(server.url("rotated/metadata")).successful()
    #expect(try device.trusted() == other.trusted())
  }

  @Test("check goes on beside a refresh that a mirror holds up", arguments: ["3.root.json", "timestamp.json", "3.snapshot.json"])
  func checkBesideARefresh(file: String) throws {
    let device = try Device()
    let server = try Published.server
    _ = try device.refresh(server.url("v1/metadata")).successful()
    _ = try device.get([Self.path], from: server.url("v1/targets")).successful()
    let refresh = Process()
    refresh.executableURL = URL(fileURLWithPath: try builtCommand("manifest-install"))
    refresh.arguments = [
      "refresh", "--quiet", "--state", device.state, "--metadata-url", server.url("rotated/metadata", "hang", for: file),
    ]
    refresh.standardError = FileHandle.nullDevice
    try refresh.run()
    defer {
      refresh.terminate()
      refresh.waitUntilExit()
    }
    // Until it waits for the file that the mirror holds up, whatever it has kept by then.
    while refresh.isRunning, !FileManager.default.fileExists(atPath: device.folder("state/roots/2.json")) { usleep(10_000) }
    for _ in 0..<10 {
      let check = try verify(device, "check", "--base", device.models, Self.path)
      #expect(check.status == 0, "\(check.errorText)")
    }
    #expect(refresh.isRunning)
  }

  @Test("Where the targets key was rotated too, that is told, and refresh completes it")
  func theTargetsKeyIsTold() throws {
    let device = try VerifyingDevice.trusting()
    try device.publish("--rotate", "targets", into: "rotated")
    try FileManager.default.removeItem(atPath: device.folder("rotated/metadata/timestamp.json"))
    #expect(try device.run("refresh", "--metadata", device.folder("rotated/metadata")).status == 14)
    for words in [["check", "--base", device.files, "file-0.bin"], ["list"], ["show"], ["explain", "--base", device.files, "file-0.bin"]] {
      let result = try runChild(builtCommand("manifest-verify"), [words[0], "--state", device.state] + words.dropFirst())
      #expect(result.status == 10, "\(words): \(result.errorText)")
      #expect(result.errorText.contains("a rotation of keys is half done here: run manifest-verify refresh"), "\(result.errorText)")
    }
    // Who has signed what fails is named.
    #expect(
      try device.run("explain", "--base", device.files, "file-0.bin").text.contains("signed   by 0 of the 1 keys that root version 2 lists")
    )
    try device.publish("--rotate", "targets", "--version", "2", into: "again")
    _ = try device.run("refresh", "--metadata", device.folder("again/metadata")).successful()
    #expect(try device.run("check", "--base", device.files, "file-0.bin").status == 0)
  }

  @Test(
    "A mirror that serves an old timestamp, and not all of what that names, hinders none that is whole",
    arguments: ["status=404", "status=500", "html"], ["1.snapshot.json", "1.targets.json"])
  func aLaggingMirrorHindersNone(behaviour: String, file: String) throws {
    let server = try Published.server
    let device = try Device()
    // The second has no longer what the first names.
    let lagging = server.url("v1/metadata", behaviour, for: file)
    let result = try device.refresh(lagging, server.url("v2/metadata"))
    #expect(result.status == 0, "\(result.errorText)")
    let told = "the metadata mirror \(lagging) did not bring what was asked for: "
    #expect(result.errorText.contains(told), "each failure is told: \(result.errorText)")
    let other = try Device()
    _ = try other.refresh(server.url("v2/metadata")).successful()
    #expect(try device.trusted() == other.trusted())
    // The newest stays: from the old one alone nothing is taken any more.
    #expect(try device.refresh(server.url("v1/metadata")).status == 11)
  }

  @Test("Nor one that has no delegated role, for refresh and get")
  func delegatedRolesOfTheNextMirror() throws {
    let device = try VerifyingDevice()
    for (name, version) in [("old", "1"), ("new", "2")] { try device.publishDelegations("--version", version, into: name) }
    // As folders: no server of these tests has a role whose name holds a slash.
    for name in try FileManager.default.contentsOfDirectory(atPath: device.folder("old/metadata")) where name.hasSuffix("inner.json") {
      try FileManager.default.removeItem(atPath: device.folder("old/metadata/\(name)"))
    }
    let mirrors = ["old", "new"].flatMap { ["--metadata-url", "file://" + device.folder("\($0)/metadata")] }
    for verb in [
      ["refresh"], ["get", "--into", device.folder("into"), "--targets-url", "file://" + device.folder("new/targets"), "team/inner/c.bin"],
    ] {
      let state = device.folder("state-\(verb[0])")
      _ = try runChild(builtCommand("manifest-install"), ["init", "--state", state, device.folder("old/metadata/1.root.json")]).successful()
      let result = try runChild(builtCommand("manifest-install"), [verb[0], "--state", state] + mirrors + verb.dropFirst())
      #expect(result.status == 0, "\(verb): \(result.errorText)")
      #expect(result.errorText.contains("inner metadata is not available"), "\(result.errorText)")
      let show = try runChild(builtCommand("manifest-verify"), ["show", "--state", state]).successful()
      #expect(show.text.contains(#/timestamp +2 /#), "\(show.text)")
    }
  }

  @Test("Where every mirror fails, each is told with its own reason, and where")
  func everyFailureIsTold() throws {
    let server = try Published.server
    let device = try Device()
    let gone = server.url("v1/metadata", "status=404", for: "timestamp.json")
    let (junk, broken) = (
      server.url("v1/metadata", "html", for: "timestamp.json"), server.url("v2/metadata", "status=503", for: "timestamp.json")
    )
    let result = try device.refresh(gone, junk, broken)
    #expect(result.status == 16)
    for words in [
      "\(gone) did not bring what was asked for: timestamp metadata is not available",
      "\(junk) did not bring what was asked for: timestamp metadata is malformed", "\(broken) did not bring",
    ] {
      #expect(result.errorText.contains(words), "\(words): \(result.errorText)")
    }
    let alone = try device.refresh(gone)
    #expect(alone.status == 13 && alone.errorText.contains(gone) && !alone.errorText.contains("warning"), "\(alone.errorText)")
  }

  @Test("After a refresh from a newer root file, verbs without it say how to go on, and refresh mends it")
  func aNewerRootLeavesAGap() throws {
    let server = try Published.server
    let device = try Device()
    let newer = try Published.path("rotated/metadata/3.root.json")
    _ = try device.refresh(server.url("rotated/metadata"), more: ["--root", newer]).successful()
    #expect(try verify(device, "list", "--root", newer).status == 0)
    for words in [["list"], ["show"], ["explain", Self.path]] {
      let result = try runChild(builtCommand("manifest-verify"), [words[0], "--state", device.state] + words.dropFirst())
      #expect(result.status == 16, "\(words): \(result.errorText)")
      #expect(result.errorText.contains("give --root") && result.errorText.contains("refresh --state"), "\(result.errorText)")
      #expect(!result.errorText.contains("anew"), "\(result.errorText)")
    }
    _ = try device.refresh(server.url("rotated/metadata")).successful()
    #expect(try verify(device, "list").status == 0)
  }
}
