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
}
