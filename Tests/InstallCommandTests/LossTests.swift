import Foundation
import TestSupport
import Testing

@Suite("What an active version has lost is told by every verb, with what helps")
struct LossTests {
  private func installed() throws -> InstallDevice {
    let device = try InstallDevice()
    _ = try device.install().successful()
    _ = try device.install(of: "v2").successful()
    return device
  }

  private func local(_ device: InstallDevice, _ words: [String]) throws -> ChildResult {
    try device.run(words + ["--store", device.store, "--state", device.state, "--targets-url", "file:///nowhere"])
  }

  private func repair(_ device: InstallDevice, from state: String) throws -> ChildResult {
    let server = try Publication.server
    return try device.run([
      "repair", "--store", device.store, "--state", device.state, "--metadata-url", server.url(state + "/metadata"), "--targets-url",
      server.url(state + "/targets"),
    ])
  }

  @Test("A folder that is gone: the version before serves, nothing is pruned, and a repair brings it back")
  func lostFolder() throws {
    let device = try installed()
    try FileManager.default.removeItem(atPath: device.store + "/models/acme/voice/2.0")
    for _ in 0..<2 {
      let list = try device.run(["list", "--store", device.store]).successful()
      #expect(list.text.contains("active, missing") && list.text.contains("way back"))
      #expect(
        list.errorText.contains("acme/voice@2.0 is not whole here") && list.errorText.contains("run manifest-install repair acme/voice"))
      let offline = try local(device, ["install", "acme/voice", "--offline", "--json"]).successful()
      let result = try #require(try device.json(offline).last)
      #expect(result["status"] as? String == "stand-in" && result["version"] as? String == "1.0")
      let command = "run manifest-install repair acme/voice --state \(device.state) --store \(device.store)"
      #expect(offline.errorText.contains(command), "\(offline.errorText)")
      let prune = try device.run(["prune", "--store", device.store]).successful()
      #expect(prune.text.hasPrefix("Nothing to remove") && prune.errorText.contains("acme/voice is left alone"), "\(prune.errorText)")
    }
    // One that is asked for by name is not replaced.
    #expect(try local(device, ["install", "acme/voice@2.0", "--offline"]).status == 12)
    let rehearsal = try device.install(of: "v2", more: ["--dry-run"]).successful()
    #expect(rehearsal.text.contains("yes, and active, but not all of it is here"), "\(rehearsal.text)")
    let failed = try device.install(of: "v2", targets: ["http://127.0.0.1:9/targets"], more: ["--retries", "0", "--json"])
    #expect(try device.json(failed).contains { ($0["text"] as? String)?.hasPrefix("active: acme/voice@2.0 is not whole") == true })
    #expect(failed.text.contains("stand-in"), "\(failed.text)\(failed.errorText)")
    #expect(try device.active()?.version == "1.0")
    let missing = try #require(try device.listed().last)
    #expect(missing.version == "2.0" && !missing.unchanged && !missing.previous)
    let result = try repair(device, from: "v2").successful()
    #expect(result.text == "intact  acme/voice@1.0:default\nrepaired  acme/voice@2.0:default\n", "\(result.text)")
    _ = try device.run(["rollback", "acme/voice", "--store", device.store]).successful()
    try device.expectActive("2.0")
    #expect(try device.listed().map(\.previous) == [true, false])
  }

  @Test("Where the description that is signed now can't be had, what serves instead comes with a warning that withdrawals may go unseen")
  func unseenWithdrawal() throws {
    let device = try installed()
    try FileManager.default.removeItem(atPath: device.store + "/models/acme/voice/2.0")
    // It would tell that both are withdrawn.
    let result = try device.install(of: "gone", targets: ["http://127.0.0.1:9/targets"], more: ["--retries", "0"]).successful()
    #expect(result.text.hasPrefix("stand-in  acme/voice@1.0:default"), "\(result.text)")
    #expect(result.errorText.contains("withdrawals may go unseen"), "\(result.errorText)")
    #expect(try device.install(of: "gone").status != 0)
    #expect(try device.listed().map(\.withdrawn) == ["it lisps", "it stammers"])
  }

  @Test("All folders that are gone: nothing serves, and a repair brings all back")
  func lostAll() throws {
    let device = try installed()
    try FileManager.default.removeItem(atPath: device.store + "/models")
    let offline = try local(device, ["install", "acme/voice", "--offline"])
    #expect(offline.status == 12 && offline.errorText.contains("run manifest-install repair acme/voice"), "\(offline.errorText)")
    let back = try device.run(["rollback", "acme/voice", "--store", device.store])
    #expect(back.status == 12, "\(back.errorText)")
    let result = try repair(device, from: "v2").successful()
    #expect(result.text == "repaired  acme/voice@2.0:default\nrepaired  acme/voice@1.0:default\n", "\(result.text)")
    try device.expectActive("2.0")
  }

  @Test("Damaged and withdrawn, it is said to be withdrawn, with what helps then: repair would not", arguments: [true, false])
  func damagedAndWithdrawn(hasWayBack: Bool) throws {
    let device = try InstallDevice()
    if hasWayBack { _ = try device.install().successful() }
    _ = try device.install(of: "v2").successful()
    #expect(try device.install("acme/voice@2.0", of: "withdrawn").status == 18)
    try FileManager.default.removeItem(atPath: try #require(try device.active()).folder + "/tokens.bin")
    let rollback = "rollback acme/voice"
    #expect(try device.run(["list", "--store", device.store]).successful().errorText.contains("it stammers"))
    for words in [["install", "acme/voice@2.0", "--offline"], ["install", "acme/voice", "--offline"], ["repair"]] {
      let result = try local(device, words)
      let serves = hasWayBack && words.last == "--offline" && words[1] == "acme/voice"
      #expect(result.status == (serves ? 0 : 18), "\(words): \(result.errorText)")
      #expect(result.errorText.contains("it stammers") && result.errorText.contains("the newest version"), "\(result.errorText)")
      #expect(result.errorText.contains("damaged or missing"), "\(result.errorText)")
      #expect(
        result.errorText.contains(rollback) == hasWayBack && !result.errorText.contains("manifest-install repair"), "\(result.errorText)")
      #expect(result.text.contains("stand-in  acme/voice@1.0:default") == serves, "\(result.text)")
    }
    let prune = try device.run(["prune", "--store", device.store]).successful()
    #expect(prune.errorText.contains("it stammers") && prune.text.hasPrefix("Nothing to remove"), "\(prune.errorText)")
    _ = try device.install(of: "withdrawn").successful()
    try device.expectActive("1.0")
  }

  @Test("A withdrawn version is not called the way back, and pruned")
  func withdrawnWayBack() throws {
    let device = try InstallDevice()
    _ = try device.install(of: "v2").successful()
    let installed = try device.install(of: "withdrawn").successful()
    #expect(!installed.text.contains("Way back"), "\(installed.text)")
    #expect(try device.listed().map(\.previous) == [false, false])
    let back = try device.run(["rollback", "acme/voice", "--store", device.store])
    #expect(back.status == 18 && back.errorText.contains("run manifest-install install acme/voice --"), "\(back.errorText)")
    #expect(!back.errorText.contains("@VERSION"), "\(back.errorText)")
    #expect(try device.run(["prune", "--store", device.store]).successful().text.hasPrefix("removed  acme/voice@2.0"))
    try device.expectActive("1.0")
  }

  @Test("A withdrawal that a repair learns keeps no other model from its repair")
  func withdrawalLearnt() throws {
    let device = try InstallDevice()
    for model in ["acme/voice", "acme/multi:mac"] { _ = try device.install(model, of: "v2").successful() }
    for file in ["voice/2.0/default/tokens.bin", "multi/1/mac/mac.txt"] {
      try FileManager.default.removeItem(atPath: "\(device.store)/models/acme/\(file)")
    }
    let result = try repair(device, from: "withdrawn")
    #expect(result.status == 18 && result.text == "repaired  acme/multi@1:mac\n", "\(result.text)\(result.errorText)")
    #expect(result.errorText.contains("acme/voice@2.0:default is left alone") && result.errorText.contains("it stammers"))
  }

  @Test("A file that no source gives keeps no other model from its repair", arguments: ["nothing", "folder"])
  func repairThatFails(there: String) throws {
    let device = try InstallDevice()
    for model in ["acme/voice", "acme/multi:mac"] { _ = try device.install(model, of: "v2").successful() }
    for file in ["voice/2.0/default/tokens.bin", "multi/1/mac/mac.txt"] {
      try FileManager.default.removeItem(atPath: "\(device.store)/models/acme/\(file)")
    }
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    _ = try runChild(
      "find", [copy("v2/targets"), "-name", "*.mac.txt", "-delete"] + (there == "folder" ? ["-exec", "mkdir", "{}", ";"] : [])
    )
    .successful()
    let state = ["--store", device.store, "--state", device.state, "--metadata-url", "file://" + copy("v2/metadata")]
    let result = try device.run(["repair"] + state + ["--targets-url", "file://" + copy("v2/targets")])
    #expect(result.status == 13, "\(result.errorText)")
    #expect(result.text == "repaired  acme/voice@2.0:default\n", "\(result.text)\(result.errorText)")
    #expect(result.errorText.contains("acme/multi@1:mac could not be repaired"), "\(result.errorText)")
    try device.expectActive("2.0")
  }

  @Test(
    "What else stands in the place of a part of a version is damage like any other", arguments: ["tokens.bin", "parts", ""],
    ["folder", "link", "file"])
  func displaced(name: String, kind: String) throws {
    guard name != "tokens.bin" || kind != "file", name == "tokens.bin" || kind != "folder" else { return }
    let device = try installed()
    let place = try #require(try device.active()).folder + (name.isEmpty ? "" : "/" + name)
    try FileManager.default.moveItem(atPath: place, toPath: device.folder("moved"))
    switch kind {
    case "folder": try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    case "link": try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: device.folder("moved"))
    default: try Data("a file".utf8).write(to: URL(fileURLWithPath: place))
    }
    let named = try local(device, ["install", "acme/voice@2.0", "--offline"])
    #expect(named.status == 12 && named.errorText.contains("run manifest-install repair acme/voice"), "\(named.errorText)")
    #expect(named.errorText.contains(place), "\(named.errorText)")
    let offline = try local(device, ["install", "acme/voice", "--offline"]).successful()
    #expect(offline.text.contains("stand-in  acme/voice@1.0:default"), "\(offline.text)")
    let result = try repair(device, from: "v2").successful()
    #expect(result.text == "intact  acme/voice@1.0:default\nrepaired  acme/voice@2.0:default\n", "\(result.text)")
    try device.expectActive("2.0")
  }

  @Test("The command that a hint names works as it stands in a shell, wherever state, store, staging and mirrors are")
  func hintedCommand() throws {
    let device = try installed()
    try FileManager.default.removeItem(atPath: device.store + "/models/acme/voice/2.0/default/tokens.bin")
    let places = try [
      "--state", device.state, "--store", device.store, "--staging", device.folder("it's elsewhere"), "--metadata-url",
      Publication.server.url("v2/metadata"), "--targets-url", "file:///nowhere", "--targets-url", Publication.server.url("v2/targets"),
    ]
    let offline = try device.run(["install", "acme/voice@2.0", "--offline"] + places)
    #expect(offline.status == 12, "\(offline.errorText)")
    let hint = try #require(offline.errorText.split(separator: "\n").last { $0.contains("run manifest-install repair") })
    let command = try #require(hint.range(of: "manifest-install repair")).lowerBound
    let folder = URL(fileURLWithPath: try builtCommand("manifest-install")).deletingLastPathComponent().path
    let result = try runChild(
      "/bin/sh", ["-c", String(hint[command...])], environment: InstallDevice.noProxies.merging(["PATH": folder]) { $1 }
    ).successful()
    #expect(result.text.contains("repaired  acme/voice@2.0:default"), "\(result.text)")
    #expect(FileManager.default.fileExists(atPath: device.folder("it's elsewhere")))
    try device.expectActive("2.0")
  }

  @Test("Where every version is withdrawn no other one is advised, with or without a network")
  func allWithdrawn() throws {
    let device = try InstallDevice()
    for model in ["acme/voice@1.0", "acme/voice"] { _ = try device.install(model, of: "v2").successful() }
    let online = try device.install("acme/voice@2.0", of: "gone")
    try FileManager.default.removeItem(atPath: try #require(try device.active()).folder + "/tokens.bin")
    let results = [
      online, try local(device, ["install", "acme/voice", "--offline"]), try local(device, ["repair"]),
      try device.run(["rollback", "acme/voice", "--store", device.store]),
    ]
    for result in results {
      #expect(result.status == 18 && result.errorText.contains("wait for a new version"), "\(result.errorText)")
      #expect(!result.errorText.contains("newest version"), "\(result.errorText)")
    }
  }
}
