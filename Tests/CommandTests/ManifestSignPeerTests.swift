import Foundation
import TestSupport
import Testing

/// A folder served over HTTP by Python for as long as the value lives.
final class WebServer {
  private let process = Process()
  private let input = Pipe()
  let url: String

  init(_ folder: String) throws {
    process.executableURL = URL(fileURLWithPath: try peerPython())
    process.arguments = [try peerScript("serve.py"), folder]
    let output = Pipe()
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    var line = ""
    while !line.hasSuffix("\n") {
      guard let data = try output.fileHandleForReading.read(upToCount: 1), !data.isEmpty else {
        throw MissingForTests("Tests/Peers/serve.py ended before it named its port")
      }
      line += String(decoding: data, as: UTF8.self)
    }
    url = "http://127.0.0.1:\(line.dropLast())"
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

@Suite struct `python-tuf and this package read each other's repositories` {
  /// Has python-tuf refresh from what is served and download targets.
  func client(_ site: ReleaseSite, _ server: WebServer, _ targets: [String]) throws -> ChildResult {
    try runChild(
      peerPython(),
      [
        try peerScript("tuf_client.py"), site.metadata + "/1.root.json", server.url + "/metadata", server.url + "/targets",
        site.folder("cache"),
      ] + targets)
  }

  @Test func `python-tuf refreshes from what is published, downloads targets, and follows the next publication`() throws {
    let site = try ReleaseSite(
      options: ["--no-passphrase", "--root-keys", "3", "--root-threshold", "2", "--targets-keys", "2", "--targets-threshold", "2"])
    try site.publish(["--stage"])
    let server = try WebServer(site.folder("repository/manifests"))
    let files = Array(ReleaseSite.smallCatalog.keys)
    let first = try json(try client(site, server, ["catalog.json", "acme/tiny/model.json"] + files).successful().text)
    #expect(first["versions"] as? [String: Int] == ["root": 1, "targets": 1, "snapshot": 1, "timestamp": 1])
    for target in try #require(first["targets"] as? [[String: Any]]) {
      let path = try #require(target["path"] as? String)
      #expect(try bytes(of: try #require(target["file"] as? String)) == bytes(of: site.published(path)), "\(path)")
    }
    try site.write("more weights", to: "acme/tiny/1.1/weights.bin")
    try site.publish(["--stage"])
    // From its cache, which holds the first publication.
    let second = try json(try client(site, server, ["catalog.json", "acme/tiny/1.1/weights.bin"]).successful().text)
    #expect(second["versions"] as? [String: Int] == ["root": 1, "targets": 2, "snapshot": 2, "timestamp": 2])
    // And it refuses what we would refuse.
    let place = try site.published("acme/tiny/1.1/weights.bin")
    try write(Array("more weightS".utf8), to: place)
    try site.remove("cache/targets")
    expect(1, "hash", in: try client(site, server, ["acme/tiny/1.1/weights.bin"]))
  }

  @Test(arguments: [
    [], ["--no-consistent-snapshot"], ["--rotate", "root", "--rotate", "targets", "--rotate", "timestamp"],
    ["--thresholds", "root=2/3", "targets=3/3", "snapshot=1/2", "timestamp=2/2", "--rotate", "root", "--rotate", "root"],
    ["--bare-meta", "--sha512", "--compact"], ["--no-unknown-members", "--version", "7", "--targets", "40"],
    ["--no-consistent-snapshot", "--rotate", "snapshot", "--bare-meta"],
  ])
  func `what python-tuf published is verified here`(options: [String]) throws {
    let folder = try TemporaryFolder()
    let made = try json(try runChild(peerPython(), [try peerScript("tuf_publisher.py"), folder("r")] + options).successful().text)
    let verify = try builtCommand("manifest-verify")
    let state = folder("state")
    try require(0, try runChild(verify, ["init", "--state", state, folder("r/metadata/1.root.json")]))
    try require(0, try runChild(verify, ["refresh", "--state", state, "--metadata", folder("r/metadata")]))
    let listed = try json(try runChild(verify, ["list", "--state", state, "--json"]).successful().text)
    #expect(!listed.isEmpty)
    // Every file under its own name, as a device has it.
    let targets = try #require(made["targets"] as? [[String: Any]])
    let isPrefixed = !options.contains("--no-consistent-snapshot")
    for target in targets {
      let path = try #require(target["path"] as? String)
      let digest = try #require((target["hashes"] as? [String: String])?["sha256"])
      let url = URL(fileURLWithPath: folder("r/targets/" + path))
      let served = isPrefixed ? url.deletingLastPathComponent().path + "/\(digest)." + url.lastPathComponent : url.path
      try folder.write(try bytes(of: served), to: "base/" + path)
    }
    try require(0, try runChild(verify, ["check", "--state", state, "--base", folder("base"), "--all"]))
    // A second refresh from the kept state, and one from a newer root, change nothing.
    try require(0, try runChild(verify, ["refresh", "--state", state, "--metadata", folder("r/metadata")]))
    let last = try #require((made["versions"] as? [String: Int])?["root"])
    try require(0, try runChild(verify, ["init", "--state", folder("late"), folder("r/metadata/\(last).root.json")]))
    try require(0, try runChild(verify, ["refresh", "--state", folder("late"), "--metadata", folder("r/metadata")]))
    // One bit of a file.
    let longest = try #require(targets.max { ($0["length"] as? Int ?? 0) < ($1["length"] as? Int ?? 0) }?["path"] as? String)
    var changed = try folder.bytes(of: "base/" + longest)
    changed[changed.count / 2] ^= 1
    try folder.write(changed, to: "base/" + longest)
    let result = try runChild(verify, ["check", "--state", state, "--base", folder("base"), "--all"])
    #expect(result.status == 12 && result.text.contains("\(longest): wrong digest"))
  }
}
