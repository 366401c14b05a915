import Foundation
import TestSupport
import Testing

@Suite("A repair of several versions mends each, and tells each by itself")
struct RepairTests {
  private func words(_ device: InstallDevice, metadata: String, targets: String) -> [String] {
    ["repair", "--store", device.store, "--state", device.state, "--metadata-url", metadata, "--targets-url", targets]
  }

  private func url(_ path: String) throws -> String { try Publication.server.url(path) }

  private func remove(_ name: String, _ device: InstallDevice) throws {
    try FileManager.default.removeItem(atPath: "\(device.store)/models/acme/\(name)")
  }

  /// A device with both versions of acme/voice.
  private func installed() throws -> InstallDevice {
    let device = try InstallDevice()
    for state in ["v1", "v2"] { _ = try device.install(of: state).successful() }
    return device
  }

  @Test("Progress is of one version at a time, and never more than all of it; a way back does not become active, nor is it said to")
  func progress() throws {
    let device = try installed()
    for version in ["1.0", "2.0"] { try remove("voice/\(version)/default/\(Publication.weights)", device) }
    let slow = try Publication.server.url("v2/targets", "slowly=3000000", for: Publication.weights)
    let result = try device.run(words(device, metadata: url("v2/metadata"), targets: slow) + ["--connections", "1", "--json"]).successful()
    var version = ""
    var seen: [String: Int] = [:]
    var states: [String: Set<String>] = [:]
    for event in try device.json(result) {
      switch event["event"] as? String {
      case "planned": version = event["version"] as? String ?? ""
      case "progress":
        let (done, total) = (try #require(event["done"] as? Int), try #require(event["total"] as? Int))
        #expect(done >= 0 && done <= total && total < Publication.weightsByteCount + 1_300_000, "\(event)")
        seen[version, default: 0] += 1
      case "state":
        let state = event["state"] as? String ?? ""
        // Of the next version, or of none.
        if state == "checking what is here" { version = "" }
        states[version, default: []].insert(state)
      default: break
      }
    }
    #expect(Set(seen.keys) == ["1.0", "2.0"], "\(seen)")
    #expect(states["2.0"]?.isSuperset(of: ["ready", "activating", "active"]) == true, "\(states)")
    #expect(states["1.0"]?.contains("ready") == true && states["1.0"]?.isDisjoint(with: ["activating", "active"]) == true, "\(states)")
    try device.expectActive("2.0")
  }

  @Test("What else stands where versions are is told with what to do, and keeps no other from its repair", arguments: ["link", "file"])
  func displacedVersion(kind: String) throws {
    let device = try installed()
    _ = try device.install("acme/multi:mac", of: "v2").successful()
    try remove("multi/1/mac/mac.txt", device)
    let place = device.store + "/models/acme/voice/1.0"
    try FileManager.default.moveItem(atPath: place, toPath: device.folder("moved"))
    if kind == "link" {
      try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: device.folder("moved"))
    } else {
      try Data("a file".utf8).write(to: URL(fileURLWithPath: place))
    }
    let repair = try words(device, metadata: url("v2/metadata"), targets: url("v2/targets"))
    let result = try device.run(repair)
    #expect(result.text == "intact  acme/voice@2.0:default\nrepaired  acme/multi@1:mac\n", "\(result.text)\(result.errorText)")
    #expect(result.status == 14 && result.errorText.contains("acme/voice@1.0:default is left alone"), "\(result.errorText)")
    #expect(result.errorText.contains(place) && result.errorText.contains("remove it, and run the command again"), "\(result.errorText)")
    try FileManager.default.removeItem(atPath: place)
    let again = try device.run(repair).successful()
    #expect(again.text.hasSuffix("repaired  acme/voice@1.0:default\n"), "\(again.text)")
    try device.expectActive("2.0")
  }

  @Test("A description that no mirror gives keeps no model from its repair, its own neither, and active versions come first")
  func lostDescription() throws {
    let device = try installed()
    _ = try device.install("acme/multi:mac", of: "v2").successful()
    for file in ["voice/2.0/default/parts/notes.txt", "voice/1.0/default/parts/notes.txt", "multi/1/mac/mac.txt"] {
      try remove(file, device)
    }
    try FileManager.default.removeItem(atPath: device.store + "/descriptions/acme/multi.json")
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    _ = try runChild("find", [copy("v2/targets/acme/multi"), "-name", "*.model.json", "-delete"]).successful()
    let result = try device.run(words(device, metadata: "file://" + copy("v2/metadata"), targets: "file://" + copy("v2/targets")))
      .successful()
    #expect(
      result.text == "repaired  acme/multi@1:mac\nrepaired  acme/voice@2.0:default\nrepaired  acme/voice@1.0:default\n", "\(result.text)")
    #expect(result.errorText.contains("withdrawals may go unseen"), "\(result.errorText)")
    try device.expectActive("2.0")
  }

  @Test("With --json each version that fails, and each that is left alone, is told by itself")
  func failuresInResult() throws {
    let device = try installed()
    _ = try device.install("acme/multi:mac", of: "v2").successful()
    for file in ["voice/2.0/default/parts/notes.txt", "voice/1.0/default/tokens.bin"] { try remove(file, device) }
    // What both have is found in the other one, unless it is gone from both.
    try remove("voice/2.0/default/tokens.bin", device)
    try Data("{".utf8).write(to: URL(fileURLWithPath: device.store + "/records/acme/multi.json"))
    let words = try words(device, metadata: url("v2/metadata"), targets: "file:///nowhere") + ["--json"]
    let result = try device.run(words)
    let lines = try device.json(result)
    let last = try #require(lines.last)
    func models(_ items: [[String: Any]]) -> [String] { items.compactMap { $0["error"] is [String: Any] ? $0["model"] as? String : nil } }
    let failed = ["acme/voice@2.0:default", "acme/voice@1.0:default"]
    #expect(models(try #require(last["failed"] as? [[String: Any]])) == failed, "\(result.text)")
    #expect(models(try #require(last["left_alone"] as? [[String: Any]])) == ["acme/multi"], "\(result.text)")
    for (event, expected) in [("damaged", failed), ("failed", failed), ("left_alone", ["acme/multi"])] {
      #expect(models(lines.filter { $0["event"] as? String == event }) == expected, "\(event): \(result.text)")
    }
    #expect(result.status == (last["error"] as? [String: Any])?["exit"] as? Int32 ?? -1)
    _ = try device.run(self.words(device, metadata: url("v2/metadata"), targets: url("v2/targets")))
    try device.expectActive("2.0")
    let whole = try #require(try device.json(device.run(["repair", "acme/voice", "--store", device.store, "--json"]).successful()).last)
    for name in ["failed", "left_alone"] { #expect((whole[name] as? [Any])?.isEmpty == true, "\(whole)") }
  }

  @Test(
    "One that is named and can't be repaired keeps none that is named beside it from its repair, and is told",
    arguments: [("unreadable", 16), ("lost", 16), ("never", 1), ("version", 1)])
  func namedBesides(kind: String, status: Int32) throws {
    let device = try installed()
    _ = try device.install("acme/multi:mac", of: "v2").successful()
    let record = URL(fileURLWithPath: device.store + "/records/acme/multi.json")
    switch kind {
    case "unreadable": try Data("{".utf8).write(to: record)
    case "lost": try FileManager.default.removeItem(at: record)
    default: break
    }
    let other = ["never": "acme/none", "version": "acme/multi@9"][kind] ?? "acme/multi"
    #expect(try device.run(["repair", other, "--store", device.store]).status == status)
    for names in [[other, "acme/voice"], ["acme/voice", other]] {
      try remove("voice/2.0/default/tokens.bin", device)
      let result = try device.run(words(device, metadata: url("v2/metadata"), targets: url("v2/targets")) + names + ["--json"])
      let lines = try device.json(result)
      let last = try #require(lines.last)
      #expect(result.status == status && last["repaired"] as? [String] == ["acme/voice@2.0:default"], "\(result.text)")
      let leftAlone = (last["left_alone"] as? [[String: Any]])?.compactMap { $0["model"] as? String }
      #expect(leftAlone == [other], "\(result.text)")
      let damaged = lines.first { $0["event"] as? String == "damaged" }?["error"] as? [String: Any]
      #expect(damaged != nil && damaged?["hint"] as? String == nil, "\(result.text)")
      try device.expectActive("2.0")
    }
  }

  @Test(
    "A record that contradicts itself is told as left as it is, and its versions are repaired; a version that is named and not there is exit 1"
  )
  func contradiction() throws {
    let device = try installed()
    let record = URL(fileURLWithPath: device.store + "/records/acme/voice.json")
    let text = try String(contentsOf: record, encoding: .utf8)
    let active = "\"active\":{\"variant\":\"default\",\"version\":\"2.0\"}"
    try #require(text.contains(active))
    try text.replacing(active, with: active.replacing("2.0", with: "9")).write(to: record, atomically: true, encoding: .utf8)
    try remove("voice/1.0/default/tokens.bin", device)
    let result = try device.run(words(device, metadata: url("v2/metadata"), targets: url("v2/targets")))
    #expect(result.status == 16 && result.text.contains("repaired  acme/voice@1.0:default"), "\(result.text)\(result.errorText)")
    #expect(result.errorText.contains("acme/voice has a record that is left as it is") && !result.errorText.contains("left alone"))
    #expect(try device.run(["repair", "acme/voice@9", "--store", device.store]).status == 1)
  }

  @Test("What is planned counts of a damaged file the segments that are not good, and so much is fetched")
  func plannedSegments() throws {
    let device = try installed()
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    try handle.seek(toOffset: 1_000_000)
    try handle.write(contentsOf: Data("damaged".utf8))
    try handle.close()
    let result = try device.run(words(device, metadata: url("v2/metadata"), targets: url("v2/targets")) + ["--json"]).successful()
    let events = try device.json(result)
    #expect(events.first { $0["event"] as? String == "planned" }?["download"] as? Int == 524_288, "\(result.text)")
    let begun = events.first { $0["event"] as? String == "file" && ($0["path"] as? String)?.hasSuffix(Publication.weights) == true }
    #expect(begun?["present"] as? Int == (try Publication.file("acme/voice/2.0/\(Publication.weights)")).count - 524_288, "\(result.text)")
    try device.expectActive("2.0")
  }

  @Test("Without a mirror of the metadata, what the record says was signed is enough")
  func noMetadata() throws {
    let device = try installed()
    try remove("voice/2.0/default/parts/notes.txt", device)
    let result = try device.run([
      "repair", "--store", device.store, "--state", device.state, "--targets-url", url("v2/targets"),
    ]).successful()
    #expect(result.text.hasSuffix("repaired  acme/voice@2.0:default\n") && result.errorText.contains("withdrawals may go unseen"))
    try device.expectActive("2.0")
  }
}
