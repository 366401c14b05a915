import Foundation
import TestSupport
import Testing

@Suite("Which other version there is, and what is left alone, every verb says alike")
struct OtherVersionTests {
  private let model = "acme/newer"

  /// A device with three versions of one variant, the last of them active.
  private func installed() throws -> InstallDevice {
    let device = try InstallDevice()
    for version in ["1.0", "2.5", "3.0"] { _ = try device.install("\(model)@\(version):only").successful() }
    return device
  }

  private func file(_ version: String, _ device: InstallDevice) -> String { "\(device.store)/models/\(model)/\(version)/only/file.txt" }

  private func local(_ device: InstallDevice, _ words: [String]) throws -> ChildResult {
    try device.run(words + ["--store", device.store])
  }

  private func useOffline(_ request: String, _ device: InstallDevice) throws -> ChildResult {
    try local(device, ["install", request, "--offline", "--state", device.state, "--targets-url", "file:///nowhere"])
  }

  @Test("One way back is named, and a version that stands in is none from itself")
  func oneWayBack() throws {
    let device = try installed()
    try FileManager.default.removeItem(atPath: file("3.0", device))
    let standIn = try useOffline(model, device).successful()
    #expect(standIn.text.contains("stand-in  \(model)@2.5:only") && !standIn.text.contains("Way back"), "\(standIn.text)")
    let back = try local(device, ["rollback", model]).successful()
    #expect(back.text.contains("active  \(model)@2.5:only") && back.text.contains("Way back:   1.0:only"), "\(back.text)")
    for result in [back, try local(device, ["list"]), try local(device, ["prune", "--dry-run"])] {
      #expect(result.errorText.contains("active before: \(model)@3.0 is not whole"), "\(result.errorText)")
      #expect(!result.errorText.contains("way back: "), "\(result.errorText)")
    }
  }

  @Test("The variant that is active is used offline, and is told where it is not the one for the device")
  func otherVariant() throws {
    let device = try InstallDevice()
    _ = try device.install("acme/multi:linux").successful()
    let use = { (more: [String]) in
      try device.run(
        ["install", "acme/multi", "--offline", "--state", device.state, "--store", device.store, "--targets-url", "file:///nowhere"] + more
      ).successful()
    }
    let mac = ["--platform", "macos", "--architecture", "arm64"]
    for (more, variant) in [(mac, Optional("mac")), (["--architecture", "x86_64"], "linux-x86"), (["--platform", "windows"], nil)] {
      let result = try use(more + ["--json"])
      let last = try #require(try device.json(result).last)
      #expect(last["variant"] as? String == "linux" && last["status"] as? String == "present", "\(result.text)")
      #expect(last["device"] is String && last.keys.contains("variant_for_device"), "\(result.text)")
      #expect(last["variant_for_device"] as? String == variant, "\(result.text)")
      #expect(try use(more).errorText.contains("the active variant linux is used, which is not the one for "))
    }
    for more in [["--platform", "linux", "--architecture", "riscv64"], []] { #expect(try use(more).errorText.isEmpty) }
  }

  @Test("What was just found damaged is not named as the way back", arguments: ["offline", "present", "list", "rollback"])
  func damagedIsNoWayBack(verb: String) throws {
    let device = try installed()
    for version in verb == "rollback" ? ["3.0"] : ["list", "present"].contains(verb) ? ["2.5"] : ["2.5", "3.0"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file(version, device))
      try Data("something else".utf8).write(to: URL(fileURLWithPath: file(version, device)))
    }
    switch verb {
    case "offline":
      let result = try useOffline(model, device).successful()
      #expect(result.text.contains("stand-in  \(model)@1.0:only") && !result.text.contains("Way back"), "\(result.text)")
    case "present":
      let result = try useOffline(model, device).successful()
      #expect(result.text.contains("present  \(model)@3.0:only") && !result.text.contains("Way back"), "\(result.text)")
    case "list":
      #expect(try !local(device, ["list"]).successful().text.contains("way back"))
      #expect(try device.listed().map(\.previous) == [false, false, false])
    default:
      let result = try local(device, ["rollback", model]).successful()
      #expect(result.text.contains("active  \(model)@2.5:only") && !result.text.contains("Way back"), "\(result.text)")
    }
  }

  @Test("With the record lost and the newest version damaged, another one that is whole stands in without a network")
  func lostRecordOffline() throws {
    let device = try InstallDevice()
    for state in ["v1", "v2"] { _ = try device.install(of: state).successful() }
    try FileManager.default.removeItem(atPath: device.store + "/records")
    try FileManager.default.removeItem(atPath: device.store + "/models/acme/voice/2.0/default/tokens.bin")
    let weights = device.store + "/models/acme/voice/2.0/default/" + Publication.weights
    try FileManager.default.removeItem(atPath: weights)
    #expect(try useOffline("acme/voice@2.0", device).status == 13, "one that is named is not replaced")
    let result = try useOffline("acme/voice", device).successful()
    #expect(result.text.hasPrefix("stand-in  acme/voice@1.0:default serves instead of 2.0:default"), "\(result.text)")
    #expect(result.errorText.contains("acme/voice@2.0:default could not be installed"), "\(result.errorText)")
    try device.expectActive("1.0")
    _ = try device.install(of: "v2").successful()
    try device.expectActive("2.0")
    #expect(try device.listed().map(\.previous) == [true, false])
  }

  @Test("Where the way back is damaged, going back fails and names another version that serves offline")
  func damagedWayBack() throws {
    let device = try installed()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file("2.5", device))
    try Data("something else".utf8).write(to: URL(fileURLWithPath: file("2.5", device)))
    let back = try local(device, ["rollback", model])
    #expect(back.status == 12 && back.errorText.contains("manifest-install install \(model)@1.0:only --offline"), "\(back.errorText)")
    #expect(try useOffline("\(model)@1.0:only", device).successful().text.contains("activated  \(model)@1.0:only"))
    // Nothing is named where nothing serves.
    try FileManager.default.removeItem(atPath: file("3.0", device))
    let again = try local(device, ["rollback", model])
    #expect(again.status == 12 && !again.errorText.contains("--offline"), "\(again.errorText)")
  }

  @Test("What pruning left alone, and why, stands in its result too", arguments: ["lost", "damaged", "missing"])
  func leftAlone(what: String) throws {
    let device = try installed()
    let record = "\(device.store)/records/\(model).json"
    switch what {
    case "lost": try FileManager.default.removeItem(atPath: record)
    case "damaged": try Data("{".utf8).write(to: URL(fileURLWithPath: record))
    default: try FileManager.default.removeItem(atPath: file("3.0", device))
    }
    let before = device.names("models")
    let list = try local(device, ["list"]).successful()
    #expect(list.text.contains(what == "lost" ? "not on record" : what == "damaged" ? "can't be read" : "missing"), "\(list.text)")
    for more in [["--dry-run"], []] {
      let prune = try local(device, ["prune", "--json"] + more).successful()
      let result = try #require(try JSONSerialization.jsonObject(with: Data(prune.output)) as? [String: Any])
      let left = try #require(result["left_alone"] as? [[String: Any]])
      #expect(left.count == 1 && left.first?["model"] as? String == model && left.first?["error"] is [String: Any], "\(prune.text)")
      #expect((result["removed"] as? [Any])?.isEmpty == true, "\(prune.text)")
    }
    #expect(device.names("models") == before)
    guard what == "lost" else { return }
    _ = try device.install("\(model)@3.0:only", targets: ["file:///nowhere"]).successful()
    #expect(try device.active(model)?.version == "3.0", "what is there is used")
  }
}
