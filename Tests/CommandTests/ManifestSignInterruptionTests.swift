import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct `whatever ends a publication, devices see the old one or the new one` {
  /// A file that takes a while to hash and no room on the disk.
  static let bigByteCount: UInt64 = 1 << 29

  func siteWithBigFile() throws -> ReleaseSite {
    let site = try ReleaseSite()
    try site.publish()
    try site.write([], to: "acme/big/1.0/big.bin")
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: site.models + "/acme/big/1.0/big.bin"))
    try file.truncate(atOffset: Self.bigByteCount)
    return site
  }

  /// How often a file is opened, as it is seen from outside: only root can see what `manifest-sign` has open.
  private final class Openings {
    private let descriptor = inotify_init1(CInt(IN_NONBLOCK))
    private var found = 0

    init(of path: String) throws {
      // The path ends with a zero byte and lives through the call. Events that are the same come as one, unless another is between them.
      try #require(unsafe inotify_add_watch(descriptor, path, UInt32(IN_OPEN | IN_CLOSE_NOWRITE)) >= 0)
    }

    deinit { close(descriptor) }

    var count: Int {
      var events = [inotify_event](repeating: inotify_event(), count: 64)
      // Of a file, an event is that structure and no more; the array has room for as many bytes as are asked for.
      let byteCount = unsafe read(descriptor, &events, events.count * MemoryLayout<inotify_event>.stride)
      found += events.prefix(max(byteCount, 0) / MemoryLayout<inotify_event>.stride).count { $0.mask & UInt32(IN_OPEN) != 0 }
      return found
    }
  }

  /// Starts a publication, and holds it while it hashes the big file; SIGCONT lets it go on.
  func startHashing(_ site: ReleaseSite) throws -> Child {
    let openings = try Openings(of: site.models + "/acme/big/1.0/big.bin")
    let child = try site.child(["publish", site.models])
    // Once to look for secret keys in it, and once more to hash it.
    try waitUntil("publish opens the big file") { openings.count == 2 }
    child.send(SIGSTOP)
    return child
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal while it hashes ends it with 130, and nothing is visible`(signal: Int32) throws {
    let site = try siteWithBigFile()
    let before = try site.snapshot(of: "repository/manifests")
    let child = try startHashing(site)
    child.send(signal)
    child.send(SIGCONT)
    expect(130, in: try child.wait())
    #expect(try site.snapshot(of: "repository/manifests") == before)
  }

  @Test func `whatever would change the repository is refused while one publishes, and told which process that is`() throws {
    let site = try siteWithBigFile()
    let child = try startHashing(site)
    defer { child.send(SIGKILL) }
    for words in [["publish", site.models], ["refresh"], ["rotate", "timestamp"], ["propose", "--threshold", "root=1"], ["sign"]] {
      expect(15, "locked", "\(child.processID)", in: try site.sign(words))
    }
    // Those that only read are not.
    #expect(try site.sign(["status"]).status == 0)
  }

  @Test func `a file that is written to while it is hashed is an error`() throws {
    let site = try siteWithBigFile()
    let before = try site.snapshot(of: "repository/manifests")
    let child = try startHashing(site)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: site.models + "/acme/big/1.0/big.bin"))
    try file.seekToEnd()
    try file.write(contentsOf: [1])
    child.send(SIGCONT)
    expect(12, "acme/big/1.0/big.bin", "changed while it was hashed", in: try child.wait())
    #expect(try site.snapshot(of: "repository/manifests") == before)
  }

  @Test func `a publisher that is killed at any moment leaves a tree that verifies, and the next one completes`() throws {
    let site = try ReleaseSite()
    try site.publish(["--stage"])
    // How long an undisturbed one takes, so that the moments spread over all of it.
    try site.write("timed", to: "acme/tiny/timed/weights.bin")
    let start = Date()
    try site.publish(["--stage"])
    let microseconds = Date().timeIntervalSince(start) * 1_000_000
    for round in 0..<30 {
      try site.write("weights \(round)", to: "acme/tiny/r\(round)/weights.bin")
      let child = try site.child(["publish", site.models, "--stage"])
      usleep(UInt32(Double.random(in: 0...microseconds)))
      child.send(SIGKILL)
      _ = try child.wait()
      let verified = try site.sign(["verify"])
      #expect(verified.status == 0, "round \(round): \(verified.errorText)")
    }
    try site.write("the last", to: "acme/tiny/last/weights.bin")
    try site.publish(["--stage"])
    try require(0, try site.sign(["verify", site.models]))
    #expect(try site.device().status == 0)
    let leftovers = try site.snapshot(of: "repository/manifests/metadata").keys.filter { $0.hasPrefix(".") }
    #expect(leftovers.isEmpty)
  }
}
