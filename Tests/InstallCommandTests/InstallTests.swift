import Foundation
import TestSupport
import Testing

@Suite("A model is installed whole, verified, and only then active")
struct InstallTests {
  @Test("The newest version is installed, is read-only, and is left alone the next time")
  func newestVersion() throws {
    let device = try InstallDevice()
    let first = try device.install(of: "v2").successful()
    #expect(first.text.hasPrefix("installed  acme/voice@2.0:default"))
    try device.expectActive("2.0")
    let folder = try #require(try device.active()).folder
    for name in ["", "/parts"] {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder + name) where file.contains(".") {
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)\(name)/\(file)")[.posixPermissions] as? Int
        #expect(mode.map { $0 & 0o222 } == 0)
      }
    }
    #expect(try device.install(of: "v2").successful().text.hasPrefix("present  "))
    // Nothing is left in staging.
    #expect(!FileManager.default.fileExists(atPath: device.store + "/staging"))
  }

  @Test("A second version becomes active, the first stays as the way back, and what they share is not fetched again")
  func secondVersion() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    let server = try HostileServer(serving: copy.path)
    _ = try device.install(of: "v2", targets: [server.url("v2/targets")]).successful()
    try device.expectActive("2.0")
    #expect(try device.listed().map(\.version) == ["1.0", "2.0"])
    #expect(try device.listed().map(\.previous) == [true, false])
    #expect(try device.listed().allSatisfy(\.unchanged), "sharing storage changes no file")
    #expect(try server.requests("tokens.bin", atLeast: 0).isEmpty)
    #expect(try !server.requests("weights.safetensors").isEmpty)
    let back = try device.run(["rollback", "acme/voice", "--store", device.store]).successful()
    #expect(back.text.hasPrefix("active  acme/voice@1.0:default"))
    try device.expectActive("1.0")
    _ = try device.run(["rollback", "acme/voice", "--store", device.store]).successful()
    try device.expectActive("2.0")
  }

  @Test("Pruning removes neither the active version nor the way back")
  func pruning() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    #expect(try device.run(["prune", "--store", device.store]).successful().text.hasPrefix("Nothing to remove"))
    _ = try device.install(of: "v2").successful()
    _ = try device.install("acme/multi:linux", of: "v2").successful()
    _ = try device.install("acme/multi:mac", of: "v2").successful()
    _ = try device.install("acme/multi:phone", of: "v2").successful()
    let rehearsal = try device.run(["prune", "--dry-run", "--store", device.store]).successful()
    #expect(rehearsal.text.hasPrefix("would remove  acme/multi@1:linux"))
    #expect(try device.listed().count == 5)
    #expect(try device.run(["prune", "--store", device.store]).successful().text.hasPrefix("removed  acme/multi@1:linux"))
    #expect(try device.listed().map { "\($0.version):\($0.variant)" } == ["1:mac", "1:phone", "1.0:default", "2.0:default"])
    #expect(!device.names("models/acme/multi").contains("1/linux"))
    try device.expectActive("2.0")
  }

  @Test("A withdrawn version is not installed, and one that is active says so and stays usable")
  func withdrawal() throws {
    let device = try InstallDevice()
    _ = try device.install(of: "v2").successful()
    let refused = try device.install("acme/voice@2.0", of: "withdrawn")
    #expect(refused.status == 18 && refused.errorText.contains("it stammers"), "\(refused.errorText)")
    try device.expectActive("2.0")
    // Said from then on, without asking anybody.
    #expect(try device.listed().map(\.withdrawn) == ["it stammers"])
    let offline = ["--store", device.store, "--state", device.state, "--targets-url", "file:///nowhere"]
    for words in [["install", "acme/voice", "--offline"], ["repair"]] {
      let result = try device.run(words + offline).successful()
      #expect(result.errorText.contains("withdrawn by its publisher: it stammers"), "\(result.errorText)")
    }
    let failed = try device.install(of: "withdrawn", targets: ["http://127.0.0.1:9/targets"], more: ["--retries", "0"])
    #expect(failed.status == 13 && failed.errorText.contains("stays active, was withdrawn"), "\(failed.errorText)")
    // One that is damaged is not repaired, which hinders no other model.
    _ = try device.install("acme/multi:mac", of: "withdrawn").successful()
    for model in ["voice", "multi"] {
      let file = try #require(try device.active("acme/\(model)")).folder + (model == "voice" ? "/tokens.bin" : "/mac.txt")
      try FileManager.default.removeItem(atPath: file)
    }
    let server = try Publication.server
    let repair = try device.run([
      "repair", "--store", device.store, "--state", device.state, "--metadata-url", server.url("withdrawn/metadata"), "--targets-url",
      server.url("withdrawn/targets"),
    ])
    #expect(repair.status == 18 && repair.text == "repaired  acme/multi@1:mac\n", "\(repair.text)\(repair.errorText)")
    // The newest that is not withdrawn.
    _ = try device.install(of: "withdrawn").successful()
    try device.expectActive("1.0")
    #expect(try device.listed().filter { $0.model == "acme/voice" }.map(\.withdrawn) == ["it stammers", nil])
    let back = try device.run(["rollback", "acme/voice", "--store", device.store])
    #expect(back.status == 18, "\(back.errorText)")
    try device.expectActive("1.0")
  }

  @Test("A check that refuses keeps the version from becoming active; what was fetched is used the next time")
  func refusingCheck() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let folder = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), folder("v2")]).successful()
    let server = try HostileServer(serving: folder.path)
    let targets = [server.url("v2/targets")]
    let refused = try device.install(of: "v2", targets: targets, more: ["--check", "test -e \"$MODEL_FOLDER/missing\""])
    #expect(refused.status == 19, "\(refused.errorText)")
    try device.expectActive("1.0")
    let count = try server.requests("weights").count
    let command = "test -s \"$MODEL_FOLDER/weights.safetensors\" && test \"$MODEL@$MODEL_VERSION:$MODEL_VARIANT\" = acme/voice@2.0:default"
    _ = try device.install(of: "v2", targets: targets, more: ["--check", command]).successful()
    try device.expectActive("2.0")
    #expect(try server.requests("weights", atLeast: count).count == count)
  }

  @Test("A rehearsal tells variant, download and disk size, and changes nothing")
  func rehearsal() throws {
    let device = try InstallDevice()
    let before = try device.json(device.install(of: "v2", more: ["--dry-run", "--json"]).successful())
    let result = try #require(before.last)
    let all = 6_600_000 + 1_200_000 + 100
    #expect(result["status"] as? String == "planned" && result["version"] as? String == "2.0")
    #expect((all - 100...all + 200).contains(try #require(result["download"] as? Int)))
    #expect(!FileManager.default.fileExists(atPath: device.store))
    _ = try device.install("acme/voice@1.0", of: "v2").successful()
    let after = try #require(try device.json(device.install(of: "v2", more: ["--dry-run", "--json"]).successful()).last)
    #expect(try #require(after["download"] as? Int) < all - 1_200_000 + 200)
  }

  /// How an earlier attempt left a file: cut off, with holes, or in another folder than the store's.
  enum Remains: CaseIterable { case cutOff, withHoles, elsewhere }

  @Test("A rehearsal counts what an interrupted installation left, and no hole in it: so much is then fetched", arguments: Remains.allCases)
  func rehearsalAfterInterruption(remains: Remains) throws {
    let device = try InstallDevice()
    let whole = try Publication.file("acme/voice/2.0/\(Publication.weights)")
    let segments = 5
    let part = "\(remains == .elsewhere ? "elsewhere" : "store/staging")/parts/\(try Publication.part("2.0"))"
    try device.folder.write(Array(whole.prefix(segments * 524_288)), to: part, mode: 0o600)
    if remains == .withHoles {
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: device.folder(part)))
      try file.truncate(atOffset: UInt64(whole.count))
      try file.close()
    }
    let version = try KillSite.digest(device.folder.write("acme\0voice\0" + "2.0\0default", to: "key"))
    for name in ["tokens.bin", "parts/notes.txt"] {
      let file = try Array(Publication.file("acme/voice/2.0/\(name)"))
      try device.folder.write(file, to: "store/staging/versions/\(version)/\(name)", mode: 0o444)
    }
    let staging = remains == .elsewhere ? ["--staging", device.folder("elsewhere")] : []
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    let server = try HostileServer(serving: copy.path)
    let targets = [server.url("v2/targets")]
    let rehearsal = try device.install(of: "v2", targets: targets, more: ["--dry-run", "--json"] + staging).successful()
    let plan = try #require(try device.json(rehearsal).last)
    let rest = whole.count - segments * 524_288
    #expect(plan["download"] as? Int == rest)
    #expect((rest...rest + 200_000).contains(try #require(plan["disk"] as? Int)))
    #expect(try server.requests(Publication.weights, atLeast: 0).isEmpty)
    _ = try device.install(of: "v2", targets: targets, more: staging).successful()
    try device.expectActive("2.0")
    let fetched = try server.requests(Publication.weights).filter { $0.path.hasSuffix(Publication.weights) }
    #expect(fetched.count == 13 - segments)
    #expect(try server.requests("tokens.bin", atLeast: 0).isEmpty)
  }

  @Test(
    "The variant is that of the device: the exact architecture first, then the platform's general one",
    arguments: [
      (["--platform", "macos", "--architecture", "arm64"], "mac"), (["--platform", "ios", "--architecture", "arm64"], "phone"),
      (["--platform", "iphone"], "phone"), (["--platform", "linux", "--architecture", "amd64"], "linux-x86"),
      (["--platform", "linux", "--architecture", "aarch64"], "linux"), (["--platform", "android"], "new-runtime"),
      (["--platform", "android", "--runtime", "engine=2.10"], "new-runtime"),
      (["--platform", "android", "--runtime", "engine=2.9"], nil), (["--platform", "android", "--runtime", "other=9"], nil),
      (["--platform", "macos", "--architecture", "x86_64"], nil), (["--platform", "windows"], nil),
    ] as [([String], String?)])
  func variants(options: [String], variant: String?) throws {
    let device = try InstallDevice()
    let result = try device.install("acme/multi", more: options + ["--json"])
    let last = try #require(try device.json(result).last)
    if let variant {
      #expect(result.status == 0, "\(result.errorText)")
      #expect(last["variant"] as? String == variant)
      #expect(try device.active("acme/multi")?.variant == variant)
    } else {
      #expect(result.status == 18, "\(result.errorText)")
      let items = try #require((last["error"] as? [String: Any])?["items"] as? [String])
      #expect(items.contains("1:mac for macos on arm64") && items.contains("1:phone for ios") && items.count == 5)
      #expect(device.names("models").isEmpty)
    }
  }

  @Test("Where the newest version has nothing for the device, the newest that has is taken, and the output says so")
  func newestForDevice() throws {
    let linux = ["--platform", "linux"]
    let device = try InstallDevice()
    let taken = try device.install("acme/newer", more: linux).successful()
    #expect(taken.text.hasPrefix("installed  acme/newer@2.5:only") && taken.errorText.contains("nothing for linux"), "\(taken.errorText)")
    #expect(taken.errorText.contains("is in 3.0; the newest version that has something is 2.5"), "\(taken.errorText)")
    #expect(try device.install("acme/newer", more: ["--platform", "macos"]).successful().text.hasPrefix("installed  acme/newer@3.0:only"))
  }

  @Test(
    "A version that is named is not replaced by another: those that have something for the device are named, and where none has, all that exist"
  )
  func namedVersionForOthers() throws {
    let device = try InstallDevice()
    let named = try device.install("acme/newer@3.0", more: ["--platform", "linux"])
    #expect(named.status == 18 && named.errorText.contains("3.0:only for macos"), "\(named.errorText)")
    #expect(named.errorText.contains("ask for acme/newer@2.5") && named.errorText.contains("another that has: 1.0"), "\(named.errorText)")
    // No name stands twice in it.
    let single = try device.install("acme/newer@2.5", more: ["--platform", "macos"])
    #expect(single.status == 18 && single.errorText.components(separatedBy: "3.0").count == 2, "\(single.errorText)")
    let none = try device.install("acme/newer", more: ["--platform", "windows"])
    #expect(none.status == 18)
    for offer in ["3.0:only for macos", "2.5:only for linux", "1.0:only for linux"] {
      #expect(none.errorText.contains(offer), "\(none.errorText)")
    }
  }

  @Test("A variant that is named is taken as named; what does not exist is named with what does")
  func namedVariants() throws {
    let device = try InstallDevice()
    _ = try device.install("acme/multi@1:mac").successful()
    #expect(try device.active("acme/multi")?.variant == "mac")
    for (model, word) in [("acme/multi:none", "phone"), ("acme/multi@7", "1"), ("acme/none", "acme/none")] {
      let result = try device.install(model)
      #expect(result.status == 18 && result.errorText.contains(word), "\(result.errorText)")
    }
    for model in ["acme", "acme/", "/x", "acme/x@", "acme/x:", "acme/../x", ""] {
      #expect(try device.install(model).status == 2, "\(model)")
    }
  }

  @Test("With --json each event is a line, and the result the last one")
  func events() throws {
    let device = try InstallDevice()
    let result = try device.install(of: "v2", more: ["--json"]).successful()
    let lines = try device.json(result)
    let names = lines.dropLast().compactMap { $0["event"] as? String }
    #expect(names.count == lines.count - 1)
    #expect(Set(["state", "planned", "file", "progress", "verified"]).isSubset(of: names), "\(names)")
    let states = lines.compactMap { $0["state"] as? String }
    #expect(states.first == "refreshing trust" && states.last == "active")
    #expect(lines.last?["status"] as? String == "installed" && lines.last?["event"] == nil)
    // Of a failure too the last line is the one that tells.
    let failed = try device.json(device.install("acme/voice@7", of: "v2", more: ["--json"]))
    #expect((failed.last?["error"] as? [String: Any])?["exit"] as? Int == 18)
  }

  @Test(
    "With --json there is one object a line also where no event comes",
    arguments: [
      (["install", "acme/voice", "--offline"], 0), (["install", "acme/voice", "--targets-url", "ftp://x"], 2), (["install"], 2),
      (["install", "acme/voice", "--no-such-option"], 2), (["install", "acme/voice", "--offline", "--dry-run"], 2), (["repair"], 0),
      (["repair", "acme/none"], 1), (["repair", "a/b/c"], 2),
    ] as [([String], Int32)])
  func lines(words: [String], status: Int32) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let places = words.count == 1 && words[0] == "install" ? [] : ["--store", device.store, "--state", device.state]
    let result = try device.run(words + places + ["--json"])
    #expect(result.status == status, "\(result.text)\(result.errorText)")
    #expect(result.text.split(separator: "\n").count == 1, "\(result.text)")
    #expect(try device.json(result).count == 1)
  }

  @Test(
    "On a terminal a bar for the file and one for the whole show how far it is, with speed and time left, whatever its width",
    arguments: [40, 80, 100, 120])
  func bars(columns: Int) throws {
    let device = try InstallDevice()
    let slow = [try Publication.server.url("v1/targets", "slowly=500000", for: Publication.weights)]
    let words = try device.words(targets: slow)
    let command = ([try builtCommand("manifest-install")] + words).map { "'\($0)'" }.joined(separator: " ")
    let shown = try runChild(
      "script", ["-qec", "stty cols \(columns) && \(command)", "/dev/null"],
      environment: InstallDevice.noProxies.merging(["TERM": "xterm"]) { $1 })
    #expect(shown.status == 0)
    let frames = shown.text.components(separatedBy: "\r\u{1B}[K").map { frame in
      frame.replacing("\u{1B}[A\u{1B}[K", with: "").components(separatedBy: "\r\n")
    }.filter { $0[0].hasPrefix("downloading") }
    #expect(frames.joined().allSatisfy { $0.count < columns }, "\(frames)")
    let name = columns < 80 ? "" : #"weights\.safetensors  "#
    let first = try Regex(#"downloading  \#(name)\[[#-]{10}\] \d+ %"#)
    let bytes = columns < 80 ? "" : #"\d.* of 7\.8 MB  "#
    let second = try Regex(#"total \[[#-]{4,10}\] \d+ %  \#(bytes)\d\S* [kM]B/s  \d+ s left"#)
    #expect(frames.contains { $0.count == 2 && $0[0].wholeMatch(of: first) != nil && $0[1].wholeMatch(of: second) != nil }, "\(frames)")
    #expect(!(try device.install("acme/multi")).errorText.contains("["))
  }

  @Test("What a crash left of a version that changed places with a new one goes at the next start", arguments: ["repair", "install"])
  func leftover(verb: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let key = try device.folder.write("acme\0voice\0" + "1.0\0default", to: "key")
    let name = try KillSite.digest(key)
    _ = try runChild("cp", ["-R", try #require(try device.active()).folder, device.folder("copy")]).successful()
    try device.folder.write("", to: "store/staging/versions/mark")
    try FileManager.default.moveItem(atPath: device.folder("copy"), toPath: device.store + "/staging/versions/" + name)
    let words = try device.words()
    _ = try device.run([verb] + (verb == "repair" ? words.dropFirst(2) : words.dropFirst())).successful()
    #expect(!device.names("staging").contains { $0.hasPrefix("trash/") || $0.contains(name) }, "\(device.names("staging"))")
    try device.expectActive("1.0")
  }

  @Test("Damage is found, and only the bad segments are fetched into a new file")
  func repair() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    #expect(try device.run(["repair", "--store", device.store, "--state", device.state, "--targets-url", "file:///nowhere"]).status == 0)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    try handle.seek(toOffset: 1_000_000)
    try handle.write(contentsOf: Data("damaged".utf8))
    try handle.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file)
    let damaged = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(try device.listed().first?.unchanged == false)
    let folder = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v1"), folder("v1")]).successful()
    let server = try HostileServer(serving: folder.path)
    let open = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
    let result = try device.run([
      "repair", "acme/voice", "--store", device.store, "--state", device.state, "--metadata-url", server.url("v1/metadata"),
      "--targets-url",
      server.url("v1/targets"),
    ])
    #expect(result.status == 0 && result.text == "repaired  acme/voice@1.0:default\n", "\(result.text)\(result.errorText)")
    try device.expectActive("1.0")
    #expect(try open.readToEnd() == damaged, "the old file is not changed in its place")
    let requests = try server.requests("weights").filter { !$0.path.hasSuffix(".verity") }
    #expect(requests.map { $0.headers["range"] } == ["bytes=524288-1048575"])
  }

  @Test(
    "A repair that was killed while it copied the good segments goes on from the damaged file, and fetches the bad ones alone",
    arguments: [1, 700_000, 3_000_000])
  func repairAfterKill(copied: UInt64) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    for offset in [1_000, 5_000_000] as [UInt64] {
      try handle.seek(toOffset: offset)
      try handle.write(contentsOf: Data("damaged".utf8))
    }
    try handle.close()
    // What the killed process left: the first bytes, and a hole before some of the last.
    let part = try device.store + "/staging/parts/" + Publication.part("1.0")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    try FileManager.default.createDirectory(atPath: device.store + "/staging/parts", withIntermediateDirectories: true)
    try bytes.prefix(Int(copied)).write(to: URL(fileURLWithPath: part))
    let left = try FileHandle(forUpdating: URL(fileURLWithPath: part))
    try left.seek(toOffset: 3_900_000)
    try left.write(contentsOf: bytes[3_900_000..<4_300_000])
    try left.close()
    let folder = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v1"), folder("v1")]).successful()
    let server = try HostileServer(serving: folder.path)
    _ = try device.run([
      "repair", "--store", device.store, "--state", device.state, "--metadata-url", server.url("v1/metadata"), "--targets-url",
      server.url("v1/targets"),
    ]).successful()
    try device.expectActive("1.0")
    let ranges = try server.requests("weights").compactMap { $0.headers["range"] }
    #expect(Set(ranges) == ["bytes=0-524287", "bytes=4718592-5242879"] && ranges.count == 2)
  }
}
