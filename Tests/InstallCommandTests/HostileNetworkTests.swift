import Foundation
import TestSupport
import Testing

/// What a server does with the weights, and how an installation then ends.
struct Hostility: Sendable, CustomTestStringConvertible {
  let behaviour: String
  /// With the hashes of the segments, and without them.
  let segmented: Int32
  let plain: Int32

  init(_ behaviour: String, _ segmented: Int32, _ plain: Int32? = nil) {
    (self.behaviour, self.segmented, self.plain) = (behaviour, segmented, plain ?? segmented)
  }

  var testDescription: String { behaviour }

  static let all = [
    // The server has other things to say than the file.
    Hostility("status=404", 13), Hostility("endless_status=404", 13), Hostility("status=500", 13), Hostility("html", 12),
    Hostility("empty", 12), Hostility("gzip", 13), Hostility("encoding=br", 13), Hostility("loop", 13), Hostility("to_file", 13),
    Hostility("busy_for_hours", 13),
    // The body is longer or shorter than what is signed, or another.
    Hostility("longer", 12), Hostility("endless", 12), Hostility("endless_chunked", 12), Hostility("announces=10000000000", 12),
    Hostility("says_less", 12, 13), Hostility("closes_early", 13), Hostility("half_without_length", 12), Hostility("flipped", 12),
    Hostility("bad_at=3000000", 12),
    // Parts that are not those asked for; without hashes nothing is asked for in parts at first.
    Hostility("other_range", 13), Hostility("other_total", 13), Hostility("no_content_range", 13), Hostility("multipart", 13),
    // Connections that break and stall.
    Hostility("reset", 13), Hostility("close", 13), Hostility("drip_headers", 13),
    // Unusual, and right.
    Hostility("ignores_range", 0), Hostility("no_length", 0), Hostility("chunked", 0), Hostility("interim", 0), Hostility("to=other", 0),
    Hostility("redirect=3", 0), Hostility("fails_first=2", 0), Hostility("busy_first=1", 0), Hostility("resets_first=1", 0),
    Hostility("signed=2", 0),
  ]
}

@Suite("Whatever a server does, what is active stays active and intact")
struct HostileNetworkTests {
  private static let quick = ["--retry-delay", "1"]

  @Test("With the hashes of its segments", arguments: Hostility.all)
  func segmented(hostility: Hostility) throws { try attack(hostility, of: "v2", hostility.segmented) }

  @Test("In one stream", arguments: Hostility.all)
  func plain(hostility: Hostility) throws { try attack(hostility, of: "plain", hostility.plain) }

  private func attack(_ hostility: Hostility, of state: String, _ status: Int32) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    // A path of its own for what a server counts.
    let behaviour = hostility.behaviour
    let targets = [try Publication.server.url("\(state)/targets", behaviour, for: Publication.weights)]
    let result = try device.install("acme/voice@2.0", of: "v2", targets: targets, more: Self.quick)
    #expect(result.status == status, "\(result.text)\(result.errorText)")
    try device.expectActive(status == 0 ? "2.0" : "1.0")
    // And then a good server is all it takes.
    _ = try device.install("acme/voice@2.0", of: "v2").successful()
    try device.expectActive("2.0")
  }

  @Test("One bad segment of many is fetched from the next source, and nothing else again", arguments: ["bad_at=3000000", "bad_at=0"])
  func oneBadSegment(behaviour: String) throws {
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    let server = try HostileServer(serving: copy.path)
    let device = try InstallDevice()
    let targets = [server.url("v2/targets", behaviour, for: Publication.weights), server.url("v2/targets", at: "other")]
    let result = try device.install(of: "v2", targets: targets, more: Self.quick)
    #expect(result.status == 0, "\(result.errorText)")
    try device.expectActive("2.0")
    let requests = try server.requests(Publication.weights).filter { $0.path.hasSuffix(Publication.weights) }
    #expect(requests.filter { $0.at == "other" }.count == 1)
    #expect(requests.filter { $0.at == "http" }.count == 13)
  }

  @Test("Of a page of HTML in the place of a file whose format has no mark nothing stays, and the next source is asked for all of it once")
  func pageWithoutMark() throws {
    let device = try InstallDevice()
    let page = try Publication.server.url("plain1/targets", "html", for: "tokens.bin")
    let good = try Publication.server.url("plain1/targets")
    let failed = try device.install(of: "plain1", targets: [page], more: Self.quick + ["--json"])
    #expect(failed.status == 12, "\(failed.errorText)")
    let digest = try KillSite.digest(Publication.path("plain1/targets/acme/voice/1.0") + "/" + Self.tokens())
    let part = device.store + "/staging/parts/" + digest
    let left = (try? FileManager.default.attributesOfItem(atPath: part)[.size] as? Int) ?? 0
    #expect(left == 0)
    // Beginning with the page, and going on elsewhere.
    let result = try device.install(of: "plain1", targets: [page, good], more: Self.quick + ["--json"]).successful()
    let discarded = try device.json(result).filter { $0["event"] as? String == "discarded" }
    let received = try device.json(result).last { $0["event"] as? String == "progress" }
    #expect(discarded.count == 1 && (discarded[0]["bytes"] as? Int ?? .max) < 100_000, "\(discarded) \(String(describing: received))")
    try device.expectActive("1.0")
  }

  private static func tokens() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: Publication.path("plain1/targets/acme/voice/1.0"))
    return try #require(names.first { $0.hasSuffix(".tokens.bin") })
  }

  @Test(
    "Where the newest can't be fetched, the version that is here serves, and the output says so",
    arguments: ["status=404", "flipped", "close", "html"])
  func standIn(behaviour: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let targets = [try Publication.server.url("v2/targets", behaviour, for: Publication.weights)]
    let result = try device.install(of: "v2", targets: targets, more: Self.quick)
    #expect(
      result.status == 0 && result.text.hasPrefix("stand-in  acme/voice@1.0:default serves instead of 2.0:default"), "\(result.errorText)")
    try device.expectActive("1.0")
  }

  @Test("A file that a mirror of this machine does not have is missing as with any server: another version serves, or the error says where")
  func missingInFolder() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    _ = try runChild("find", [copy("v2/targets/acme/voice/2.0"), "-name", "*.\(Publication.weights)", "-delete"]).successful()
    let targets = ["file://" + copy("v2/targets")]
    let result = try device.install(of: "v2", targets: targets)
    #expect(
      result.status == 0 && result.text.hasPrefix("stand-in  acme/voice@1.0:default serves instead of 2.0:default"), "\(result.errorText)")
    let named = try device.install("acme/voice@2.0", of: "v2", targets: targets)
    #expect(named.status == 13, "\(named.errorText)")
    for words in ["the mirror does not have it", "expected: the file", Publication.weights, "use another mirror"] {
      #expect(named.errorText.contains(words), "\(named.errorText)")
    }
    // Of a server too, whether the whole or a part was asked for.
    let server = try HostileServer(serving: copy.path)
    let missing = try device.install("acme/voice@2.0", of: "v2", targets: [server.url("v2/targets")])
    #expect(missing.status == 13 && missing.errorText.contains("there is no such file at this source"), "\(missing.errorText)")
    #expect(missing.errorText.contains("expected: the file") && missing.errorText.contains("status 404"), "\(missing.errorText)")
    #expect(!missing.errorText.contains("206"), "\(missing.errorText)")
    let into = ["--into", device.folder("into"), "--state", device.state, "--metadata-url", try Publication.server.url("v2/metadata")]
    let got = try device.run(["get", "acme/voice/2.0/\(Publication.weights)", "--targets-url", targets[0]] + into)
    #expect(got.status == 13 && got.errorText.contains("the mirror does not have it"), "\(got.errorText)")
    try device.expectActive("1.0")
  }

  @Test(
    "A server that breaks off every second answer brings the file all the same, with its segments' hashes and without",
    arguments: ["v2", "plain"])
  func everySecondAnswer(state: String) throws {
    let device = try InstallDevice()
    let targets = [try Publication.server.url("\(state)/targets", "cuts_every_second", for: Publication.weights)]
    let result = try device.install("acme/voice@2.0", of: "v2", targets: targets, more: ["--retry-delay", "50"])
    #expect(result.status == 0, "\(result.errorText)")
    try device.expectActive("2.0")
  }

  @Test("What is too long is named, and what to do about it", arguments: ["v2", "plain"])
  func tooLongIsNamed(state: String) throws {
    let device = try InstallDevice()
    let targets = [try Publication.server.url("\(state)/targets", "longer", for: Publication.weights)]
    let result = try device.install("acme/voice@2.0", of: "v2", targets: targets, more: Self.quick)
    #expect(result.errorText.contains("\(Publication.weights) has the wrong length"), "\(result.errorText)")
    #expect(result.errorText.contains("use another mirror") && !result.errorText.contains("get it again"), "\(result.errorText)")
  }

  @Test("A mirror that can't be reached and metadata that can't be trusted block new installs, and nothing else")
  func unreachableMetadata() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    for (url, status) in [
      ("http://127.0.0.1:9/metadata", 13), (try Publication.server.url("v2/metadata", "flipped", for: "timestamp.json"), 10),
    ] as [(String, Int32)] {
      let result = try device.run([
        "install", "acme/voice", "--state", device.state, "--store", device.store, "--metadata-url", url, "--targets-url",
        Publication.server.url("v2/targets"),
      ])
      #expect([status, 16].contains(result.status), "\(result.errorText)")
      #expect(result.errorText.contains("acme/voice@1.0:default is installed and stays active"))
      try device.expectActive("1.0")
    }
    let named = try device.install("acme/voice@2.0", of: "v2", targets: ["http://127.0.0.1:9/targets"], more: ["--retries", "0"])
    #expect(named.status == 13 && named.errorText.contains("acme/voice@1.0:default is installed and stays active"), "\(named.errorText)")
  }
}

@Suite("A download that broke off goes on from what is there")
struct ResumeTests {
  /// Puts what a killed download would have left where it would be.
  private func seed(_ device: InstallDevice, _ bytes: Data, of state: String, mode: Int = 0o600) throws {
    let file = try Publication.file("acme/voice/2.0/\(Publication.weights)")
    let sum = try runChild("sha256sum", [Publication.path("../models/acme/voice/2.0/\(Publication.weights)")]).successful().text.prefix(64)
    #expect(file.count > bytes.count || file.count == bytes.count)
    try device.folder.write(Array(bytes), to: "store/staging/parts/\(sum)", mode: mode)
  }

  private func requests(_ server: HostileServer) throws -> [HostileServer.Request] {
    try server.requests(Publication.weights).filter { $0.path.hasSuffix(Publication.weights) }
  }

  private func install(_ device: InstallDevice, _ state: String, _ behaviour: String? = nil) throws -> (ChildResult, HostileServer) {
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path(state), copy(state)]).successful()
    let server = try HostileServer(serving: copy.path)
    let targets = [server.url(state + "/targets", behaviour, for: Publication.weights)]
    let result = try device.install("acme/voice@2.0", of: "v2", targets: targets, more: ["--retry-delay", "1"])
    _ = try requests(server)
    return (result, server)
  }

  @Test("In one stream: from the byte where it broke off")
  func continuesStream() throws {
    let device = try InstallDevice()
    let whole = try Publication.file("acme/voice/2.0/\(Publication.weights)")
    try seed(device, whole.prefix(3_000_001), of: "plain")
    let (result, server) = try install(device, "plain")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try requests(server).map { $0.headers["range"] } == ["bytes=3000001-\(whole.count - 1)"])
    try device.expectActive("2.0")
  }

  @Test("With segments: only those that are missing or wrong")
  func continuesSegments() throws {
    let device = try InstallDevice()
    var bytes = try Publication.file("acme/voice/2.0/\(Publication.weights)").prefix(3_000_001)
    bytes[600_000] ^= 1
    try seed(device, bytes, of: "v2")
    let (result, server) = try install(device, "v2")
    #expect(result.status == 0, "\(result.errorText)")
    // Of 13 segments 5 were whole, and one of them is damaged.
    #expect(try requests(server).count == 9)
    #expect(try requests(server).contains { $0.headers["range"] == "bytes=524288-1048575" })
    try device.expectActive("2.0")
  }

  @Test("What is there as a whole is only verified, read-only too as it was to be moved", arguments: ["v2", "plain"], [0o600, 0o444])
  func wholeFile(state: String, mode: Int) throws {
    let device = try InstallDevice()
    try seed(device, Publication.file("acme/voice/2.0/\(Publication.weights)"), of: state, mode: mode)
    let (result, server) = try install(device, state)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try requests(server).isEmpty)
    try device.expectActive("2.0")
  }

  @Test("What is there of something else is given up, and never mixed in", arguments: ["v2", "plain"], [3_000_000, 9_000_000])
  func foreignBytes(state: String, count: Int) throws {
    let device = try InstallDevice()
    var generator = SeededGenerator(seed: 3)
    try device.folder.write("", to: "store/x")
    let bytes = Data(generator.bytes(min(count, Publication.weightsByteCount)))
    try seed(device, bytes, of: state)
    let (result, _) = try install(device, state)
    #expect(result.status == 0, "\(result.errorText)")
    try device.expectActive("2.0")
  }

  @Test(
    "A server that ignores the part asked for, or sends another, never has its body appended",
    arguments: [("ignores_range", 0), ("other_range", 13), ("other_total", 13), ("no_content_range", 13), ("closes_early", 13)]
      as [(String, Int32)])
  func wrongParts(behaviour: String, status: Int32) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    try seed(device, Publication.file("acme/voice/2.0/\(Publication.weights)").prefix(3_000_001), of: "plain")
    let (result, _) = try install(device, "plain", behaviour)
    #expect(result.status == status, "\(result.errorText)")
    try device.expectActive(status == 0 ? "2.0" : "1.0")
    let part = device.names("staging/parts").map { device.store + "/staging/parts/" + $0 }
    for path in part {
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(try #require(size) <= Publication.weightsByteCount + 200)
    }
  }
}
