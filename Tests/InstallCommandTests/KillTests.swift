import Foundation
import TestSupport
import Testing

/// What is installed and killed: a repository with two versions of acme/voice, of which one file is large.
struct KillSite: Sendable {
  /// Holds metadata and targets.
  let published: String
  let large: String
  /// The SHA-256 of the large file by version.
  let digests: [String: String]

  private static let kept = Result { try TemporaryFolder() }

  /// The small model that the other tests have.
  static func small() throws -> KillSite {
    try KillSite(published: Publication.path("v2"), large: Publication.weights, models: Publication.path("../models"))
  }

  private static let real = Result {
    let folder = try kept.get()
    let found = try FileManager.default.subpathsOfDirectory(atPath: packageRoot.appending(path: ".peers/models").path)
    let gguf = try #require(found.first { $0.hasSuffix(".gguf") }, "scripts/fetch-models --slow makes it")
    for version in ["1.0", "2.0"] {
      let file = try folder.write("version \(version)", to: "models/acme/voice/\(version)/tokens.bin")
      let target = file.replacing("tokens.bin", with: "weights.gguf")
      _ = try runChild("cp", ["-L", "--reflink=auto", packageRoot.appending(path: ".peers/models/" + gguf).path, target]).successful()
    }
    // The second version differs in one byte of a tensor.
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: folder("models/acme/voice/2.0/weights.gguf")))
    try handle.seek(toOffset: 200_000_000)
    let byte = try #require(try handle.read(upToCount: 1)?.first)
    try handle.seek(toOffset: 200_000_000)
    try handle.write(contentsOf: [byte ^ 1])
    try handle.close()
    for variant in ["linux", "mac", "phone"] { try folder.write(variant, to: "models/acme/multi/1/\(variant).txt") }
    let variants = ["linux", "mac", "phone"].map { ($0, "", ["acme/multi/1/\($0).txt"]) }
    try folder.write(Publication.description("Multi", [("1", nil, variants)]), to: "models/acme/multi/model.json")
    for words in [["init", "--no-passphrase"], ["publish", folder("models"), "--stage"]] {
      _ = try runChild(builtCommand("manifest-sign"), words + ["--repository", folder("repository")], seconds: 600).successful()
    }
    return try KillSite(published: folder("repository/manifests"), large: "weights.gguf", models: folder("models"))
  }

  /// A real model of 253 MB.
  static func big() throws -> KillSite { try real.get() }

  private init(published: String, large: String, models: String) throws {
    (self.published, self.large) = (published, large)
    var digests: [String: String] = [:]
    for version in ["1.0", "2.0"] { digests[version] = try Self.digest("\(models)/acme/voice/\(version)/\(large)") }
    self.digests = digests
  }

  static func digest(_ path: String) throws -> String { String(try runChild("sha256sum", [path]).successful().text.prefix(64)) }
}

@Suite("Killed at any moment, it leaves what was active, and the next run completes")
struct KillTests {
  /// What is killed.
  private enum Work: CaseIterable { case install, activate, rollBack, prune, repair }

  @Test("Twenty times, at random moments", arguments: 0..<20)
  func killed(round: Int) throws { try run(round, seed: UInt64(round), KillSite.small(), longest: 300_000) }

  @Test("Two hundred times, with a real model of 253 MB", .enabled(if: runsSlowTests))
  func killedOften() throws {
    for round in 0..<200 { try run(round, seed: 1000 + UInt64(round), KillSite.big(), longest: 3_000_000) }
  }

  private func run(_ round: Int, seed: UInt64, _ site: KillSite, longest: UInt32) throws {
    var generator = SeededGenerator(seed: seed)
    let work = Work.allCases[round % Work.allCases.count]
    let server = try HostileServer(serving: site.published)
    let device = try InstallDevice(root: site.published + "/metadata/1.root.json")
    let install = { (model: String, server: HostileServer) in
      [
        "install", model, "--state", device.state, "--store", device.store, "--metadata-url", server.url("metadata"), "--targets-url",
        server.url("targets"),
      ]
    }
    // What the preparation fetches is not counted.
    let other = try HostileServer(serving: site.published)
    _ = try device.run(install("acme/voice@1.0", other)).successful()
    if work != .install { _ = try device.run(install("acme/voice@2.0", other)).successful() }
    var words = install("acme/voice@2.0", server)
    switch work {
    case .install: break
    case .activate: words = install("acme/voice@1.0", server)
    case .rollBack: words = ["rollback", "acme/voice", "--store", device.store]
    case .prune:
      for variant in ["linux", "mac", "phone"] { _ = try device.run(install("acme/multi:\(variant)", other)).successful() }
      words = ["prune", "--store", device.store]
    case .repair:
      try damage(device, site)
      words = ["repair"] + words.dropFirst(2)
    }
    // Most of a run is over in this time, and some of the runs.
    let child = try Child(builtCommand("manifest-install"), words, environment: InstallDevice.noProxies)
    usleep(UInt32.random(in: 0...longest, using: &generator))
    child.send(SIGKILL)
    let wasKilled = try child.wait().status == -SIGKILL
    if work != .repair {
      try expectUsable(device, site, ["install", "activate", "rollBack"].contains("\(work)") ? ["1.0", "2.0"] : ["2.0"])
    }
    let again = try device.run(words)
    #expect(again.status == 0, "\(again.errorText)")
    switch work {
    case .install, .repair, .prune: try expectUsable(device, site, ["2.0"])
    case .activate: try expectUsable(device, site, ["1.0"])
    case .rollBack: try expectUsable(device, site, ["1.0", "2.0"])
    }
    if work == .prune { #expect(try device.listed().count == 4) }
    #expect(!device.names("staging").contains { $0.hasPrefix("trash/") || $0.hasPrefix("versions/") }, "\(device.names("staging"))")
    if work == .install || work == .repair { try expectNothingVerifiedAgain(server, site, wasKilled: wasKilled) }
    if work == .repair { #expect(try Set(server.requests(site.large, atLeast: 0).compactMap { $0.headers["range"] }).count <= 3) }
  }

  /// One of the versions is active, its file is the published one, and an app that starts without a network can use it.
  private func expectUsable(_ device: InstallDevice, _ site: KillSite, _ versions: [String]) throws {
    let active = try #require(try device.active())
    #expect(versions.contains(active.version))
    #expect(active.unchanged)
    #expect(try KillSite.digest("\(active.folder)/\(site.large)") == site.digests[active.version])
    let offline = try device.run([
      "install", "acme/voice", "--offline", "--state", device.state, "--store", device.store, "--metadata-url",
      "http://127.0.0.1:9/metadata",
      "--targets-url", "http://127.0.0.1:9/targets",
    ])
    #expect(offline.status == 0, "\(offline.errorText)")
    #expect(try device.active()?.version == active.version)
  }

  /// A segment is asked for twice at most, and only those twice that were on their way when the process was killed.
  private func expectNothingVerifiedAgain(_ server: HostileServer, _ site: KillSite, wasKilled: Bool) throws {
    let ranges = try server.requests(site.large, atLeast: 0).compactMap { $0.headers["range"] }
    var counts: [String: Int] = [:]
    for range in ranges { counts[range, default: 0] += 1 }
    #expect(counts.values.allSatisfy { $0 <= 2 }, "\(counts)")
    #expect(counts.values.count { $0 == 2 } <= (wasKilled ? 4 : 0), "\(counts)")
  }

  private func damage(_ device: InstallDevice, _ site: KillSite) throws {
    let file = try #require(try device.active()).folder + "/" + site.large
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    for offset in [700_000, 3_000_000, 5_000_000] as [UInt64] {
      try handle.seek(toOffset: offset)
      try handle.write(contentsOf: Data("damaged".utf8))
    }
    try handle.close()
  }
}
