import Foundation
import TestSupport
import Testing

@Suite("manifest-verify does not believe its state blindly")
struct ManifestVerifyStateTests {
  @Test func `a folder that was not initialised is named, with the command to run`() throws {
    let device = try VerifyingDevice()
    try device.publish()
    for verb in [["list"], ["show"], ["check", "--all"], ["refresh", "--metadata", device.metadata]] {
      let result = try runChild(builtCommand("manifest-verify"), verb + ["--state", device.state])
      #expect(result.status == 1 && result.errorText.contains("manifest-verify init --state \(device.state)"), "\(verb)")
    }
  }

  @Test(arguments: ["timestamp.json", "snapshot.json", "targets.json", "roots/1.json", "trust"])
  func `no changed byte of the state is overlooked`(name: String) throws {
    let device = try VerifyingDevice.trusting()
    var bytes = try device.folder.bytes(of: "state/\(name)")
    let middle = bytes.count / 2
    bytes[middle] ^= 1
    try device.folder.write(bytes, to: "state/\(name)")
    let result = try device.run("check", "--base", device.files, "--all")
    #expect(result.status == 16, "\(result.status) \(result.errorText)")
    #expect(result.text.isEmpty)
  }

  @Test(arguments: [("trust", ""), ("trust", "signed-manifest-trust 5\nanchor 1\n"), ("timestamp.json", "{"), ("roots/1.json", "")])
  func `a state that can't be read is malformed input`(name: String, content: String) throws {
    let device = try VerifyingDevice.trusting()
    try device.folder.write(content, to: "state/\(name)")
    #expect(try device.run("list").status == 16)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a state that another process holds is locked, and the process named`() throws {
    let device = try VerifyingDevice.trusting()
    let holder = try Child(
      "sh", ["-c", "exec 9<>\"$1\"; flock -n 9 || exit 3; echo $$ >&9; echo ready >&2; exec sleep 100", "sh", device.folder("state/lock")])
    defer { holder.send(SIGKILL) }
    try waitUntil("the lock is held") { try holder.errorsSoFar.contains("ready") }
    let result = try device.run("list")
    #expect(result.status == 15 && result.errorText.contains("process \(holder.processID)"))
  }

  @Test func `the state's place is that of application data unless told otherwise`() throws {
    let device = try VerifyingDevice()
    try device.publish()
    let command = try builtCommand("manifest-verify")
    _ = try runChild(command, ["init", device.root], environment: ["XDG_DATA_HOME": device.folder("data"), "HOME": nil]).successful()
    #expect(try device.folder.names.contains("data"))
    #expect(FileManager.default.fileExists(atPath: device.folder("data/signed-manifest/roots/1.json")))
    _ = try runChild(command, ["init", device.root], environment: ["XDG_DATA_HOME": "relative", "HOME": device.folder("home")]).successful()
    #expect(FileManager.default.fileExists(atPath: device.folder("home/.local/share/signed-manifest/roots/1.json")))
    #expect(try runChild(command, ["init", device.root], environment: ["XDG_DATA_HOME": nil, "HOME": nil]).status == 2)
  }
}
