import Foundation
import TestSupport
import Testing

/// One way in which a server misbehaves, and how the command ends then.
struct Attack: CustomTestStringConvertible, Sendable {
  let behaviour: String
  let file: String
  let code: Int32

  init(_ behaviour: String, _ file: String, _ code: Int32) { (self.behaviour, self.file, self.code) = (behaviour, file, code) }

  var testDescription: String { "\(behaviour) for \(file)" }
}

@Suite("Whatever a metadata server does, trust stays as it was")
struct ManifestInstallHostileMetadataTests {
  static let attacks = [
    // The walk of roots ends at 404 and 403 alone.
    Attack("status=500", "3.root.json", 13), Attack("status=410", "3.root.json", 13), Attack("endless_status=500", "3.root.json", 13),
    Attack("status=200", "3.root.json", 16), Attack("endless", "3.root.json", 16), Attack("empty", "3.root.json", 16),
    Attack("html", "3.root.json", 16), Attack("reset", "3.root.json", 13), Attack("close", "3.root.json", 13),
    Attack("gzip", "3.root.json", 13), Attack("loop", "3.root.json", 13), Attack("to_file", "3.root.json", 13),
    Attack("drip", "timestamp.json", 13), Attack("drip_headers", "timestamp.json", 13), Attack("hang", "timestamp.json", 13),
    Attack("endless", "timestamp.json", 16), Attack("endless_chunked", "timestamp.json", 16),
    Attack("announces=10000000000", "timestamp.json", 16),
    Attack("endless_headers", "timestamp.json", 13), Attack("status=404", "timestamp.json", 13),
    Attack("endless_status=404", "timestamp.json", 13),
    Attack("status=503", "timestamp.json", 13), Attack("status=206", "timestamp.json", 13), Attack("closes_early", "timestamp.json", 13),
    Attack("reset", "timestamp.json", 13), Attack("half_without_length", "timestamp.json", 16), Attack("says_less", "timestamp.json", 16),
    Attack("empty", "timestamp.json", 16), Attack("html", "timestamp.json", 16), Attack("flipped", "timestamp.json", 16),
    Attack("gzip", "timestamp.json", 13), Attack("encoding=br", "timestamp.json", 13), Attack("transfer_gzip", "timestamp.json", 13),
    Attack("two_lengths", "timestamp.json", 13), Attack("http09", "timestamp.json", 13), Attack("loop", "timestamp.json", 13),
    Attack("redirect=6", "timestamp.json", 13),
  ]

  @Test("Root and timestamp", arguments: attacks)
  func trustStaysAsItWas(attack: Attack) throws {
    let device = try Device()
    _ = try device.refresh(Published.server.url("rotated/metadata")).successful()
    let before = try device.trusted()
    // The attacked root is the one that comes next.
    let file = attack.file == "3.root.json" ? "4.root.json" : attack.file
    let (result, peak) = try device.measuredRefresh(Published.server.url("rotated/metadata", attack.behaviour, for: file))
    try device.expectLittleMemory(peak, attack.testDescription)
    #expect(result.status == attack.code, "\(result.errorText)")
    #expect(try device.trusted() == before)
    #expect(result.errorText.hasPrefix("manifest-install: error: "))
  }

  @Test(
    "What is signed by length and digest has to have them",
    arguments: [
      Attack("flipped", "targets.json", 10), Attack("longer", "targets.json", 16), Attack("half_without_length", "targets.json", 10),
      Attack("says_less", "targets.json", 10), Attack("empty", "targets.json", 10), Attack("html", "targets.json", 10),
      Attack("endless", "targets.json", 16), Attack("status=404", "targets.json", 13), Attack("reset", "targets.json", 13),
      Attack("flipped", "snapshot.json", 10), Attack("endless_chunked", "snapshot.json", 16), Attack("gzip", "snapshot.json", 13),
    ])
  func olderTargetsStayTrusted(attack: Attack) throws {
    let device = try Device()
    _ = try device.refresh(Published.server.url("v1/metadata")).successful()
    let before = try device.trusted()["targets.json"]
    let (result, peak) = try device.measuredRefresh(Published.server.url("v2/metadata", attack.behaviour, for: attack.file))
    try device.expectLittleMemory(peak, attack.testDescription)
    #expect(result.status == attack.code, "\(result.errorText)")
    #expect(try device.trusted()["targets.json"] == before)
    // Nothing of the attack stands in the way of the next refresh.
    _ = try device.refresh(Published.server.url("v2/metadata")).successful()
    #expect(try device.trusted()["targets.json"] != before)
  }

  @Test("A refused CONNECT of a proxy is no sign that there is no newer root")
  func aProxysRefusalIsNoMissingFile() throws {
    let device = try Device()
    let server = try Published.server
    let result = try device.refresh(
      server.url("v1/metadata", at: "https"), more: ["--cacert", server.authority],
      environment: ["https_proxy": "http://127.0.0.1:\(server.port("refusing_proxy"))"])
    #expect(result.status == 13)
    #expect(result.errorText.contains("2.root.json"), "the first request fails already: \(result.errorText)")
  }

  @Test("--json tells the same failure")
  func failuresAreReportedAsJSON() throws {
    let device = try Device()
    let result = try device.refresh(Published.server.url("v1/metadata", "gzip", for: "timestamp.json"), more: ["--json"])
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
    let error = try #require(object["error"] as? [String: Any])
    #expect(error["code"] as? String == "network")
    #expect(error["found"] as? String == "gzip")
    #expect((error["where"] as? String)?.hasSuffix("timestamp.json") == true)
  }
}
