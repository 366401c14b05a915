import Foundation
import TestSupport
import Testing

@Suite("What manifest-install has refreshed is checked, listed and explained without a network, and meanwhile")
struct ManifestInstallRefreshTests {
  private func verify(_ device: Device, _ verb: String, _ words: String...) throws -> ChildResult {
    try runChild(builtCommand("manifest-verify"), [verb, "--state", device.state] + words)
  }

  @Test("Delegated roles are taken over")
  func delegatedRolesAreTakenOver() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: Published.path("delegated"), toPath: folder("delegated"))
    let server = try HostileServer(serving: folder.path)
    let device = try Device("delegated")
    let result = try device.refresh(server.url("delegated/metadata")).successful()
    #expect(result.text.contains("Delegated roles: 1, of which 1 changed."), "\(result.text)")
    let path = "org/model-1/weights.bin"
    #expect(try verify(device, "list").successful().text.contains(path))
    _ = try verify(device, "show", path).successful()
    // The files of the repository without prefixes are the same.
    let files = try Published.path("plain/targets")
    _ = try verify(device, "check", "--base", files, path).successful()
    #expect(try verify(device, "explain", "--base", files, path).successful().text.contains("team version 1: holds"))
    #expect(try device.refresh(server.url("delegated/metadata")).successful().text.contains("of which 0 changed."))
    #expect(try server.requests("1.team.json").count == 1)
  }

  @Test("or left alone, where that is wanted; what needs them then says what to run")
  func delegatedRolesMayBeLeftAlone() throws {
    let device = try Device("delegated")
    _ = try device.refresh(Published.server.url("delegated/metadata"), more: ["--without-delegated"]).successful()
    let files = try Published.path("plain/targets")
    let path = "org/model-1/weights.bin"
    // Where the mirrors are remembered, that is how this device refreshes.
    _ = try device.install([
      "init", "--state", device.state, "--metadata-url", Published.server.url("delegated/metadata"),
      Published.path("delegated/metadata/1.root.json"),
    ]).successful()
    for result in try [verify(device, "list"), verify(device, "show", path), verify(device, "explain", "--base", files, path)] {
      #expect(result.status != 0 && result.errorText.contains("manifest-install refresh --state \(device.state)"), "\(result.errorText)")
    }
  }

  @Test(
    "One that can't be had fails the refresh, and the rest stays trusted",
    arguments: [("flipped", Int32(10)), ("status=404", 13), ("status=500", 13)])
  func aRefusedRoleFailsTheRefresh(behaviour: String, code: Int32) throws {
    let device = try Device("delegated")
    let result = try device.refresh(Published.server.url("delegated/metadata", behaviour, for: "team.json"))
    #expect(result.status == code && result.errorText.contains("team, delegated to by targets"), "\(result.errorText)")
    #expect(try device.trusted()["targets.json"] != nil)
    _ = try device.refresh(
      Published.server.url("delegated/metadata", behaviour, for: "team.json"), Published.server.url("delegated/metadata")
    )
    .successful()
  }

  @Test("A refresh that waits for its mirror hinders no reader; a second refresh is told who is at it", .timeLimit(.minutes(3)))
  func aSlowMirrorHindersNoReader() throws {
    let device = try Device()
    let server = try Published.server
    _ = try device.refresh(server.url("v1/metadata")).successful()
    let timestamp = try device.trusted()["timestamp.json"]
    let child = try Child(
      builtCommand("manifest-install"),
      [
        "refresh", "--state", device.state, "--stall-timeout", "600", "--metadata-url",
        server.url("v2/metadata", "hang", for: "snapshot.json"),
      ])
    defer { child.send(SIGKILL) }
    try waitUntil("the refresh comes to its mirror") { try device.folder.bytes(of: "state/timestamp.json") != timestamp.map(Array.init) }
    let files = try Published.path("plain/targets")
    _ = try verify(device, "check", "--base", files, "file-3.bin").successful()
    _ = try verify(device, "list").successful()
    _ = try verify(device, "explain", "--base", files, "file-3.bin").successful()
    let second = try device.refresh(server.url("v1/metadata"))
    #expect(second.status == 15 && second.errorText.contains("process \(child.processID)"), "\(second.errorText)")
    child.send(SIGKILL)
    _ = try child.wait()
    _ = try device.refresh(server.url("v2/metadata")).successful()
  }
}
