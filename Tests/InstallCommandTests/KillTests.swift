import Foundation
import TestSupport
import Testing

@Suite("Killed at any moment, it leaves what was active, and the next run completes")
struct KillTests {
  /// What is killed.
  private enum Work: CaseIterable { case install, activate, rollBack, prune, repair }

  /// The rounds of CI, of the small model, and those of `make test-slow`.
  private static let isSlow = ProcessInfo.processInfo.environment["SIGNED_MANIFEST_SLOW_TESTS"] == "1"

  @Test("Twenty times, at random moments", arguments: 0..<20)
  func killed(round: Int) throws { try run(round, seed: UInt64(round)) }

  @Test("Two hundred times more", .enabled(if: KillTests.isSlow))
  func killedOften() throws { for round in 0..<200 { try run(round, seed: 1000 + UInt64(round)) } }

  private func run(_ round: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let work = Work.allCases[round % Work.allCases.count]
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    let server = try HostileServer(serving: copy.path)
    let device = try InstallDevice()
    let targets = [server.url("v2/targets")]
    _ = try device.install("acme/voice@1.0", of: "v2", targets: [Publication.server.url("v2/targets")]).successful()
    if work != .install { _ = try device.install("acme/voice@2.0", of: "v2", targets: [Publication.server.url("v2/targets")]).successful() }
    var words = try device.words("acme/voice@2.0", of: "v2", targets: targets)
    switch work {
    case .install: break
    case .activate: words = try device.words("acme/voice@1.0", of: "v2", targets: targets)
    case .rollBack: words = ["rollback", "acme/voice", "--store", device.store]
    case .prune:
      for variant in ["linux", "mac", "phone"] { _ = try device.install("acme/multi:\(variant)", of: "v2").successful() }
      words = ["prune", "--store", device.store]
    case .repair:
      try damage(device)
      words = try ["repair"] + device.words(of: "v2", targets: targets).dropFirst(2)
    }
    // Most of a run is over in this time, and some of the runs.
    let child = try Child(builtCommand("manifest-install"), words, environment: InstallDevice.noProxies)
    usleep(UInt32.random(in: 0...300_000, using: &generator))
    child.send(SIGKILL)
    let wasKilled = try child.wait().status == -SIGKILL
    if work != .repair {
      let version = try #require(try device.active()).version
      if work == .install || work == .activate || work == .rollBack {
        #expect(["1.0", "2.0"].contains(version))
      } else {
        #expect(version == "2.0")
      }
      try device.expectActive(version, isRecorded: false)
    }
    let again = try device.run(words)
    #expect(again.status == 0, "\(again.errorText)")
    switch work {
    case .install: try device.expectActive("2.0")
    case .activate: try device.expectActive("1.0")
    case .rollBack: #expect(try device.active() != nil)
    case .prune:
      #expect(try device.listed().count == 4)
      try device.expectActive("2.0")
    case .repair: try device.expectActive("2.0")
    }
    #expect(!device.names("staging").contains { $0.hasPrefix("trash/") || $0.hasPrefix("versions/") }, "\(device.names("staging"))")
    if work == .install || work == .repair { try expectNothingVerifiedAgain(server, wasKilled: wasKilled) }
  }

  /// A segment is asked for twice at most, and only those twice that were on their way when the process was killed.
  private func expectNothingVerifiedAgain(_ server: HostileServer, wasKilled: Bool) throws {
    let ranges = try server.requests(Publication.weights, atLeast: 0).compactMap { $0.headers["range"] }
    var counts: [String: Int] = [:]
    for range in ranges { counts[range, default: 0] += 1 }
    #expect(counts.values.allSatisfy { $0 <= 2 }, "\(counts)")
    #expect(counts.values.count { $0 == 2 } <= (wasKilled ? 4 : 0), "\(counts)")
  }

  private func damage(_ device: InstallDevice) throws {
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    for offset in [700_000, 3_000_000, 5_000_000] as [UInt64] {
      try handle.seek(toOffset: offset)
      try handle.write(contentsOf: Data("damaged".utf8))
    }
    try handle.close()
  }
}
