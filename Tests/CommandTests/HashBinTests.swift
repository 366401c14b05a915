import Foundation
import TestSupport
import Testing

@Suite struct `A catalog spread over bins` {
  static let paths = (0..<40).map { "acme/m\($0 % 4)/1.0/file-\($0).bin" }
  static let files = Dictionary(uniqueKeysWithValues: paths.map { ($0, Array("the content of \($0)".utf8)) })

  static func site(bins: Int = 16) throws -> ReleaseSite {
    try ReleaseSite(files, options: ["--no-passphrase", "--bins", "\(bins)", "--targets-keys", "2", "--targets-threshold", "2"])
  }

  /// The names of all published files of bins: `1.bin-0000.json` and so on.
  static func bins(_ site: ReleaseSite) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: site.metadata).filter { $0.contains(".bin-") })
  }

  @Test func `python-tuf finds files in their bins, after a change and after two changes of the number of bins`() throws {
    let site = try Self.site()
    try site.publish(["--stage"])
    let server = try WebServer(site.folder("repository/manifests"))
    func follow(_ targets: [String]) throws {
      let result = try runChild(
        peerPython(),
        [
          try peerScript("tuf_client.py"), site.metadata + "/1.root.json", server.url + "/metadata", server.url + "/targets",
          site.folder("cache"),
        ] + targets)
      let found = try #require(try json(try result.successful().text)["targets"] as? [[String: Any]])
      for target in found {
        let path = try #require(target["path"] as? String)
        #expect(try bytes(of: try #require(target["file"] as? String)) == bytes(of: site.published(path)), "\(path)")
      }
    }
    try follow(["catalog.json", "acme/m0/model.json"] + Self.paths.prefix(12))
    try site.write("new", to: "acme/m1/1.1/new.bin")
    try site.publish(["--stage"])
    try follow(["acme/m1/1.1/new.bin", "acme/m2/model.json"])
    // From its cache, whose snapshot lists bins that are no longer delegated to.
    try site.publish(["--bins", "8"])
    try follow(["acme/m1/1.1/new.bin"] + Self.paths.suffix(12))
    try site.publish(["--bins", "1"])
    try follow(["acme/m1/1.1/new.bin", "acme/m0/model.json"])
    try site.publish(["--bins", "64"])
    try follow(["acme/m1/1.1/new.bin", "acme/m3/model.json"] + Self.paths.prefix(12))
  }

  @Test func `a change signs the bins that it touches and nothing beside them`() throws {
    let site = try Self.site(bins: 64)
    try site.publish()
    let first = try Self.bins(site)
    #expect(first.count == 64)
    let targets = try site.version(of: "targets")
    #expect(try json(of: site.metadata + "/1.targets.json").description.contains("acme/m0/model.json") == false)
    try site.write("new", to: "acme/m1/1.0/new.bin")
    let report = try json(try site.publish(["--json"]).text)
    // That of the file, and that of the description, which lists it; the list of models stays as it was.
    let new = try Self.bins(site).subtracting(first)
    #expect((1...2).contains(new.count) && new.allSatisfy { $0.hasPrefix("2.") })
    #expect((report["bins"] as? [String: Int]) == ["count": 64, "signed": new.count])
    #expect(try site.version(of: "targets") == targets)
    // Without a change nothing is signed, and a version that was given is not given again.
    let images = try site.snapshot(of: "repository/manifests/metadata")
    try site.publish()
    #expect(try site.snapshot(of: "repository/manifests/metadata") == images)
    try site.publish(["--bins", "4"])
    #expect(try Self.bins(site).subtracting(first).subtracting(new).count == 4)
    try require(0, try site.sign(["verify", site.models]))
    try require(0, try site.device())
  }

  @Test func `manifest-verify lists, shows, checks and explains what bins list`() throws {
    let site = try Self.site()
    try site.publish()
    let (state, verify) = (site.folder("state"), try builtCommand("manifest-verify"))
    try require(0, try runChild(verify, ["init", "--state", state, site.metadata + "/1.root.json"]))
    try require(0, try runChild(verify, ["refresh", "--state", state, "--metadata", site.metadata]))
    let listed = try json(try runChild(verify, ["list", "--state", state, "--json"]).successful().text)
    let paths = try #require(listed["files"] as? [[String: Any]]).compactMap { $0["path"] as? String }
    #expect(Set(paths) == Set(Self.paths + (0..<4).map { "acme/m\($0)/model.json" } + ["catalog.json"]))
    #expect(paths.count == Set(paths).count)
    try require(0, try runChild(verify, ["check", "--state", state, "--base", site.models, "--all"]))
    let explained = try runChild(verify, ["explain", "--state", state, "--base", site.models, Self.paths[0]])
    #expect(explained.status == 0 && explained.text.contains("bin-00"), "\(explained.text)")
    try site.write("other", to: Self.paths[3])
    let checked = try runChild(verify, ["check", "--state", state, "--base", site.models, "--all"])
    #expect(checked.status == 12 && checked.text.contains(Self.paths[3]))
  }

  @Test func `manifest-install get fetches the one bin that may list the file`() throws {
    let site = try Self.site()
    try site.publish(["--stage"])
    let (state, install) = (site.folder("state"), try builtCommand("manifest-install"))
    try require(
      0,
      try runChild(
        install,
        [
          "init", "--state", state, site.metadata + "/1.root.json", "--metadata-url", "file://" + site.metadata, "--targets-url",
          "file://" + site.targets,
        ]))
    func kept() throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.utf8.count == 64 + 5 })
    }
    func get(_ path: String) throws -> ChildResult { try runChild(install, ["get", "--state", state, "--into", site.folder("got"), path]) }
    try require(0, try get("catalog.json"))
    #expect(try kept().isEmpty)
    try require(0, try get(Self.paths[0]))
    #expect(try kept().count == 1)
    #expect(try bytes(of: site.folder("got/" + Self.paths[0])) == Self.files[Self.paths[0]])
    // One that nobody lists costs its bin too, and is told as such.
    expect(12, "not listed", in: try get("acme/m0/1.0/none.bin"))
    #expect(try kept().count <= 2)
  }

  @Test func `a bin that is damaged, or one of another version, stops what reads it`() throws {
    let site = try Self.site(bins: 512)
    try site.publish()
    let digest = try runChild("sh", ["-c", "printf %s '\(Self.paths[0])' | sha256sum"]).successful().text
    let number = try #require(Int(digest.prefix(3), radix: 16)) / 8
    let name = "bin-" + String(repeating: "0", count: 4 - String(number, radix: 16).utf8.count) + String(number, radix: 16)
    let place = site.metadata + "/1.\(name).json"
    let good = try bytes(of: place)
    #expect(String(decoding: good, as: UTF8.self).contains(Self.paths[0]))
    try write(Array(String(decoding: good, as: UTF8.self).replacing("\"length\":", with: "\"length\":1").utf8), to: place)
    expect(10, name, in: try site.device())
    expect(10, name, in: try site.sign(["verify"]))
    try write(good, to: place)
    try require(0, try site.sign(["verify"]))
  }

  @Test func `bins that expire are seen by status and verify before a device sees it, and refresh brings them back`() throws {
    let begin = Int(Date.now.timeIntervalSince1970)
    func at(_ days: Int) -> [String: String?] { ["SOURCE_DATE_EPOCH": String(begin + days * 86_400)] }
    func time(_ days: Int) -> String { Date(timeIntervalSince1970: Double(begin + days * 86_400)).formatted(.iso8601) }
    let lifetimes = ["root=3000", "targets=30", "snapshot=1000", "timestamp=1000"].flatMap { ["--lifetime", $0] }
    let site = try ReleaseSite(Self.files, options: ["--no-passphrase", "--bins", "16"] + lifetimes, environment: at(-15))
    try site.publish(environment: at(-15))
    // What changes lives a fortnight longer than what does not.
    try site.write("new", to: "acme/m9/1.0/new.bin")
    try site.publish(environment: at(0))
    expect(0, in: try site.sign(["status", "--fail-within", "10d"]))
    let soon = try site.sign(["status", "--fail-within", "20d"])
    expect(19, "bins (bin-0000 to bin-000f) expire within 20 days: the first ", in: soon)
    let row = try #require(soon.text.split(separator: "\n").first { $0.hasPrefix("16 bins (bin-0000 to bin-000f) ") })
    #expect(row.contains("1 to 2") && row.contains("1 of 1") && row.contains("targets-1"), "\(row)")
    try require(0, try site.sign(["verify"]))

    let late = try site.sign(["status", "--at", time(20), "--json"])
    expect(11, in: late)
    let bins = try #require(try json(late.text)["bins"] as? [String: Any])
    let expired = try #require(bins["expired"] as? [String])
    #expect(bins["count"] as? Int == 16 && (2..<16).contains(expired.count) && (bins["days_left"] as? Int ?? 0) < 0)
    expect(11, "\(expired.count) bins (\(expired[0]) to ", " expired", in: try site.sign(["status", "--at", time(20)]))
    let verified = try site.sign(["verify", "--at", time(20)])
    expect(11, "devices can't use \(expired.count) bins", expired[0], in: verified)
    #expect(verified.errorText.components(separatedBy: "error:").count == 2, "one failure for all of them: \(verified.errorText)")
    // As a device would.
    let (state, verify) = (site.folder("state"), try builtCommand("manifest-verify"))
    try require(0, try runChild(verify, ["init", "--state", state, site.metadata + "/1.root.json"]))
    let refresh = try site.sign(["refresh"], environment: at(20))
    try require(0, refresh)
    #expect(refresh.text.contains("Published ") && refresh.text.contains(" bins (") && refresh.text.split(separator: "\n").count < 8)
    try require(0, try site.sign(["verify", "--at", time(20)]))
    expect(0, in: try site.sign(["status", "--at", time(20), "--fail-within", "5d"]))
  }

  @Test func `many bins are summed up in what ceremonies say, and all of them told in JSON`() throws {
    let site = try Self.site(bins: 64)
    try site.publish()
    let rotated = try site.sign(["rotate", "targets", "--no-passphrase"])
    try require(0, rotated)
    #expect(
      rotated.text.contains("Signed 64 bins (bin-0000 to bin-003f) with targets-3, targets-4.")
        || rotated.text.contains("targets-4, targets-3"))
    #expect(
      rotated.text.contains("Published root 2, 64 bins (bin-0000 to bin-003f), targets 2, snapshot 2, timestamp 2."), "\(rotated.text)")
    #expect(rotated.text.contains("under 64 bins (bin-0000 to bin-003f) count no longer."))
    #expect(rotated.text.split(separator: "\n").count < 20, "\(rotated.text)")
    try require(0, try site.device())
    let report = try json(try site.sign(["rotate", "root", "--compromised", "--no-passphrase", "--json"]).text)
    let published = try #require(report["published"] as? [String: Int])
    #expect(published["bin-0000"] == 3 && published["bin-003f"] == 3 && published.count == 64 + 4)
    try require(0, try site.device())
    try require(0, try site.sign(["verify", site.models]))
    // One that is missing a key: one line, one error.
    try site.remove("repository/secrets/targets-3.key")
    let refresh = try site.sign(["refresh"], environment: ["SOURCE_DATE_EPOCH": String(Int(Date.now.timeIntervalSince1970) + 300 * 86_400)])
    expect(17, "64 bins (bin-0000 to bin-003f), targets are due and can't be signed here", in: refresh)
    #expect(refresh.text.split(separator: "\n").count < 8, "\(refresh.text)")
  }

  @Test(arguments: ["0", "3", "48", "16385", "32768", "-1"])
  func `their number is a power of two`(count: String) throws {
    let site = try ReleaseSite(options: nil)
    expect(2, count, in: try site.sign(["init", "--no-passphrase", "--bins", count]))
    #expect(!FileManager.default.fileExists(atPath: site.repository + "/keys"))
  }
}
