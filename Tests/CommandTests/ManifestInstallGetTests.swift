import Foundation
import TestSupport
import Testing

@Suite("manifest-install get puts verified files in place, and nothing else")
struct ManifestInstallGetTests {
  /// The file of a target as it is published.
  private func source(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: Published.path("plain/targets/\(path)"))) }

  @Test("Every target of a repository that python-tuf published", arguments: ["v1", "plain"])
  func everyTargetArrives(repository: String) throws {
    let device = try Device(repository)
    let paths = try Published.paths.reversed() as [String]
    let result = try device.get(paths, from: Published.server.url(repository + "/targets"), of: repository).successful()
    let fetched = try device.fetched()
    #expect(fetched.keys.sorted() == paths.sorted())
    for path in paths { #expect(try fetched[path] == source(path)) }
    // In the order given, and nothing is left beside the files.
    #expect(result.text.split(separator: "\n").map { $0.contains(paths[0]) }.first == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: device.models).sorted().allSatisfy { !$0.hasPrefix(".") })
    for path in paths {
      let mode = try FileManager.default.attributesOfItem(atPath: device.models + "/" + path)[.posixPermissions] as? Int
      #expect(mode.map { $0 & 0o222 } == 0, "files are read-only")
    }
  }

  @Test("What is there and intact is not fetched again; what is damaged is")
  func intactFilesAreLeftAlone() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: Published.path("v1"), toPath: folder("v1"))
    let server = try HostileServer(serving: folder.path)
    let device = try Device()
    let (first, second) = ("file-3.bin", "org/model-1/weights.bin")
    _ = try device.get([first, second], from: server.url("v1/targets")).successful()
    // Of the same length, so that only its bytes tell.
    try FileManager.default.removeItem(atPath: device.models + "/" + second)
    try Data(repeating: 7, count: source(second).count).write(to: URL(fileURLWithPath: device.models + "/" + second))
    let result = try device.get([first, second, first], from: server.url("v1/targets")).successful()
    #expect(result.text.split(separator: "\n").map { $0.prefix(7) } == ["present", "fetched", "present"])
    #expect(try device.fetched()[second] == source(second))
    #expect(try server.requests(".file-3.bin").count == 1)
    #expect(try server.requests(".weights.bin", atLeast: 2).count == 2)
  }

  @Test(
    "A file that is not as signed never appears",
    arguments: [
      Attack("closes_early", "", 13), Attack("reset", "", 13), Attack("close", "", 13), Attack("says_less", "", 12),
      Attack("half_without_length", "", 12), Attack("longer", "", 12), Attack("flipped", "", 12), Attack("endless", "", 12),
      Attack("endless_chunked", "", 12), Attack("announces=10000000000", "", 12), Attack("html", "", 12), Attack("empty", "", 12),
      Attack("gzip", "", 13), Attack("encoding=br", "", 13), Attack("status=404", "", 13), Attack("endless_status=404", "", 13),
      Attack("status=206", "", 13), Attack("endless_status=500", "", 13), Attack("drip", "", 13), Attack("hang", "", 13),
      Attack("loop", "", 13),
    ])
  func unsignedBytesNeverAppear(attack: Attack) throws {
    let device = try Device()
    let server = try Published.server
    let (result, peak) = try device.measured(
      ["get", "--state", device.state, "--into", device.models, "--metadata-url", server.url("v1/metadata")] + Device.patience
        + ["--targets-url", server.url("v1/targets", attack.behaviour), "org/model-1/weights.bin"])
    try device.expectLittleMemory(peak, attack.testDescription)
    #expect(result.status == attack.code, "\(result.errorText)")
    #expect(try device.fetched().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: device.models).isEmpty)
  }

  @Test("A file that was there stays there when its replacement fails")
  func aFormerFileStays() throws {
    let device = try Device()
    let path = "org/model-1/weights.bin"
    try device.folder.write("an older version", to: "models/" + path)
    #expect(try device.get([path], from: Published.server.url("v1/targets", "flipped")).status == 12)
    #expect(try device.fetched() == [path: Data("an older version".utf8)])
  }

  @Test("Nothing is fetched where one of the names is not in the manifest")
  func unlistedNamesAreFoundFirst() throws {
    let device = try Device()
    let result = try device.get(["file-0.bin", "file-0.bim"], from: Published.server.url("v1/targets"))
    #expect(result.status == 12)
    #expect(result.errorText.contains("file-0.bim"))
    #expect(try device.fetched().isEmpty)
  }

  @Test("A target of a delegated role is found, and its metadata kept for the next time")
  func delegatedTargetsAreFound() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: Published.path("delegated"), toPath: folder("delegated"))
    let server = try HostileServer(serving: folder.path)
    let device = try Device("delegated")
    let path = "org/model-1/weights.bin"
    for _ in 0..<2 {
      let result = try device.install([
        "get", "--state", device.state, "--into", device.models, "--metadata-url", server.url("delegated/metadata"), "--targets-url",
        server.url("delegated/targets"), path,
      ])
      #expect(result.status == 0, "\(result.errorText)")
      #expect(try device.fetched()[path] == source(path))
    }
    #expect(try server.requests("1.team.json").count == 1)
    // What the role signs is held against its own metadata alone.
    let other = try Device("delegated")
    let refused = try other.install([
      "get", "--state", other.state, "--into", other.models, "--metadata-url",
      server.url("delegated/metadata", "flipped", for: "team.json"),
      "--targets-url", server.url("delegated/targets"), path,
    ])
    #expect(refused.status == 10)
    #expect(try other.fetched().isEmpty)
  }

  @Test("Several look-ups in one run find what one in a run of its own does, in every order")
  func lookUpsDoNotDisturbEachOther() throws {
    let server = try Published.server
    let paths = try Published.paths
    func get(_ paths: [String]) throws -> [String: Data] {
      let device = try Device("delegated")
      _ = try device.install(
        [
          "get", "--state", device.state, "--into", device.models, "--metadata-url", server.url("delegated/metadata"), "--targets-url",
          server.url("delegated/targets"),
        ] + paths
      ).successful()
      return try device.fetched()
    }
    let apart = try paths.reduce(into: [:]) { files, path in files.merge(try get([path])) { $1 } }
    #expect(apart.count == paths.count && paths.count > 4)
    #expect(try get(paths) == apart)
    #expect(try get(paths.reversed()) == apart)
  }

  @Test("No name leads out of the folder", arguments: ["../x", "/etc/passwd", "a/../../x", ""])
  func pathsStayInside(path: String) throws {
    #expect(try Device().get([path], from: Published.server.url("v1/targets")).status == 2)
  }

  @Test("A symbolic link below the folder is not followed")
  func linksAreNotFollowed() throws {
    let device = try Device()
    try FileManager.default.createDirectory(atPath: device.models, withIntermediateDirectories: false)
    try FileManager.default.createDirectory(atPath: device.folder("elsewhere"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: device.models + "/org", withDestinationPath: device.folder("elsewhere"))
    let result = try device.get(["org/model-1/weights.bin"], from: Published.server.url("v1/targets"))
    #expect(result.status == 14, "\(result.errorText)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder("elsewhere")).isEmpty)
    // In place of a file, it is replaced and not written through.
    try device.folder.write("untouched", to: "elsewhere/file")
    try FileManager.default.createSymbolicLink(atPath: device.models + "/file-3.bin", withDestinationPath: device.folder("elsewhere/file"))
    _ = try device.get(["file-3.bin"], from: Published.server.url("v1/targets")).successful()
    #expect(try device.folder.text(of: "elsewhere/file") == "untouched")
    #expect(try device.fetched()["file-3.bin"] == source("file-3.bin"))
  }

  @Test("Killed in mid-download, it leaves no file, and the next run cleans up")
  func aKilledDownloadLeavesNothing() throws {
    let device = try Device()
    let server = try Published.server
    let path = "org/model-1/weights.bin"
    let child = try Child(
      builtCommand("manifest-install"),
      [
        "get", "--state", device.state, "--into", device.models, "--metadata-url", server.url("v1/metadata"), "--targets-url",
        server.url("v1/targets", "drip"), path,
      ])
    try waitForStaging(device)
    child.send(SIGKILL)
    #expect(try child.wait().status == -SIGKILL)
    #expect(try device.fetched().keys.allSatisfy { $0.hasPrefix(".signed-manifest-staging/") })
    _ = try device.get([path], from: server.url("v1/targets")).successful()
    #expect(try device.fetched().keys.sorted() == [path])
    #expect(try FileManager.default.contentsOfDirectory(atPath: device.models) == ["org"])
  }

  @Test("Interrupted, it ends with 130 and leaves nothing")
  func interruptingLeavesNothing() throws {
    let device = try Device()
    let server = try Published.server
    // Whoever runs the tests may have blocked or ignored signals, and children inherit that.
    let launcher = """
      import os, signal, sys
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      signal.signal(signal.SIGINT, signal.SIG_DFL)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let child = try Child(
      peerPython(),
      [
        "-c", launcher, try builtCommand("manifest-install"), "get", "--state", device.state, "--into", device.models, "--metadata-url",
        server.url("v1/metadata"), "--targets-url", server.url("v1/targets", "hang"), "org/model-1/weights.bin",
      ])
    try waitForStaging(device)
    child.send(SIGINT)
    #expect(try child.wait(seconds: 60).status == 130)
    #expect(try FileManager.default.contentsOfDirectory(atPath: device.models).isEmpty)
  }

  private func waitForStaging(_ device: Device) throws { try waitUntil("a download begins") { try !device.fetched().isEmpty } }

  @Test("A big file takes no more memory than a small one")
  func memoryStaysConstant() throws {
    let peaks = try ["file-0.bin", "big.bin"].map { path in
      let device = try Device("big")
      let server = try Published.server
      let words = [
        "-f", "%M", "-o", device.folder("peak"), try builtCommand("manifest-install"), "get", "--state", device.state, "--into",
        device.models,
        "--metadata-url", server.url("big/metadata"), "--targets-url", server.url("big/targets"), path,
      ]
      _ = try runChild("time", words).successful()
      return try #require(Int(device.folder.text(of: "peak").trimmingCharacters(in: .whitespacesAndNewlines)))
    }
    // Kilobytes: the big file has 262,144.
    #expect(peaks[1] - peaks[0] < 8192, "\(peaks)")
  }
}
