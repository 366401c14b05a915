import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The length of a file; 0 where there is none.
private func size(of path: String) -> Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }

/// A small disk of its own: mounted by root, or else in a mount namespace of its own, which is reached through a process that lives there.
final class SmallDisk {
  let path: String
  private let folder: TemporaryFolder
  private let holder: Process?

  /// - Parameter fileCount: how many files it has room for, where there is a number.
  convenience init(megabytes: Int, fileCount: Int? = nil) throws { try self.init(kilobytes: megabytes << 10, fileCount: fileCount) }

  init(kilobytes: Int, fileCount: Int? = nil) throws {
    let size = "size=\(kilobytes)k" + (fileCount.map { ",nr_inodes=\($0)" } ?? "")
    folder = try TemporaryFolder()
    let place = folder("disk")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    guard geteuid() != 0 else {
      (path, holder) = (place, nil)
      _ = try runChild("mount", ["-t", "tmpfs", "-o", size, "none", place]).successful()
      return
    }
    let holder = Process()
    holder.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    let script = "mount -t tmpfs -o \(size) none '\(place)' && touch '\(place)/mounted' && exec sleep 600"
    holder.arguments = ["--user", "--map-root-user", "--mount", "sh", "-c", script]
    try holder.run()
    self.holder = holder
    path = "/proc/\(holder.processIdentifier)/root\(place)"
    try waitUntil("a small disk, for which one needs to be root or to have leave for `unshare --user --mount`") { [path] in
      FileManager.default.fileExists(atPath: path + "/mounted")
    }
    try FileManager.default.removeItem(atPath: path + "/mounted")
  }

  func remount(_ option: String) throws {
    guard let holder else {
      _ = try runChild("mount", ["-o", "remount,\(option)", path]).successful()
      return
    }
    let enter = ["--preserve-credentials", "--user", "--mount", "--target", "\(holder.processIdentifier)"]
    _ = try runChild("nsenter", enter + ["mount", "-o", "remount,\(option)", folder("disk")]).successful()
  }

  deinit {
    if let holder {
      holder.terminate()
      holder.waitUntilExit()
    } else {
      _ = try? runChild("umount", ["-l", path])
    }
  }
}

@Suite("Disks that are full, read-only or two")
struct DiskTests {
  private func install(_ device: InstallDevice, _ store: String, _ version: String, of state: String = "v2", _ more: [String] = []) throws
    -> ChildResult
  {
    let server = try Publication.server
    return try device.run(
      [
        "install", "acme/voice@\(version)", "--state", device.state, "--store", store, "--metadata-url", server.url("v2/metadata"),
        "--targets-url", server.url(state + "/targets"), "--stall-timeout", "5",
      ] + more)
  }

  private func active(_ device: InstallDevice, _ store: String) throws -> String? {
    let listing = try JSONSerialization.jsonObject(with: Data(device.run(["list", "--store", store, "--json"]).successful().output))
    let models = try #require((listing as? [String: Any])?["models"] as? [[String: Any]])
    let entry = models.first { $0["active"] as? Bool == true }
    #expect(entry?["unchanged"] as? Bool != false)
    return entry?["version"] as? String
  }

  @Test("Too little space is told with both figures before the first byte is fetched")
  func tooLittleSpace() throws {
    let disk = try SmallDisk(megabytes: 12)
    let device = try InstallDevice()
    _ = try install(device, disk.path, "1.0").successful()
    let copy = try TemporaryFolder()
    _ = try runChild("cp", ["-R", "--reflink=auto", Publication.path("v2"), copy("v2")]).successful()
    let server = try HostileServer(serving: copy.path)
    let result = try device.run([
      "install", "acme/voice@2.0", "--state", device.state, "--store", disk.path, "--metadata-url", server.url("v2/metadata"),
      "--targets-url",
      server.url("v2/targets"), "--json",
    ])
    #expect(result.status == 14, "\(result.errorText)")
    let error = try #require(try device.json(result).last?["error"] as? [String: Any])
    #expect(
      (error["expected"] as? String)?.contains("6,8") == true && (error["found"] as? String)?.hasSuffix("bytes free") == true, "\(error)")
    #expect(try server.requests(Publication.weights, atLeast: 0).isEmpty)
    #expect(try active(device, disk.path) == "1.0")
  }

  @Test("Many tiny files are counted as the disk counts them: in whole blocks, and in number")
  func tinyFiles() throws {
    let folder = try TemporaryFolder()
    let paths = (0..<300).map { "acme/many/1/f\($0).txt" }
    for path in paths { try folder.write(path, to: "models/\(path)") }
    for words in [["init", "--no-passphrase"], ["publish", folder("models"), "--stage"]] {
      _ = try runChild(builtCommand("manifest-sign"), words + ["--repository", folder("repository")]).successful()
    }
    let server = try HostileServer(serving: folder("repository/manifests"))
    let device = try InstallDevice(root: folder("repository/manifests/metadata/1.root.json"))
    func install(_ disk: SmallDisk, _ more: [String] = []) throws -> (ChildResult, [String: Any]) {
      let result = try device.run(
        [
          "install", "acme/many", "--state", device.state, "--store", disk.path, "--metadata-url", server.url("metadata"), "--targets-url",
          server.url("targets"), "--json",
        ] + more)
      return (result, try #require(try device.json(result).last))
    }
    for (disk, unit) in [(try SmallDisk(megabytes: 1), "bytes"), (try SmallDisk(megabytes: 64, fileCount: 200), "room for")] {
      for rehearsal in [["--dry-run"], []] {
        let (result, last) = try install(disk, rehearsal)
        #expect(result.status == 14, "\(result.errorText)")
        let error = try #require(last["error"] as? [String: Any])
        for figure in ["expected", "found"] { #expect((error[figure] as? String)?.contains(unit) == true, "\(error)") }
        if !rehearsal.isEmpty { #expect(try #require(last["disk"] as? Int) > 300 * 4096) }
      }
    }
    #expect(try server.requests(".txt", atLeast: 0).isEmpty)
    let (result, _) = try install(try SmallDisk(megabytes: 4))
    #expect(result.status == 0, "\(result.errorText)")
  }

  @Test("Where a rehearsal finds space enough there is enough, and where there is too little nothing stays of it")
  func rehearsedSpace() throws {
    let device = try InstallDevice()
    let words = try device.words("acme/multi:mac")
    var outcomes: Set<[Int32]> = []
    for kilobytes in stride(from: 320, through: 440, by: 8) {
      let disk = try SmallDisk(kilobytes: kilobytes)
      let install = words.map { $0 == device.store ? disk.path + "/store" : $0 }
      let rehearsal = try device.run(install + ["--dry-run"])
      let result = try device.run(install)
      outcomes.insert([rehearsal.status, result.status])
      guard result.status != 0 else { continue }
      #expect(try runChild("find", [disk.path + "/store", "-type", "f", "-size", "+0"]).successful().text.isEmpty)
    }
    #expect(
      outcomes.contains([0, 0]) && outcomes.contains([14, 14]) && outcomes.isSubset(of: [[0, 0], [14, 0], [14, 14]]), "\(outcomes)")
  }

  @Test(
    "A disk that fills in mid-write leaves the active version and a usable part, and is not taken for the network",
    arguments: ["v2", "plain"])
  func fillsInMidWrite(state: String) throws {
    let disk = try SmallDisk(megabytes: 24)
    let device = try InstallDevice()
    _ = try install(device, disk.path, "1.0").successful()
    let server = try Publication.server
    let child = try Child(
      builtCommand("manifest-install"),
      [
        "install", "acme/voice@2.0", "--state", device.state, "--store", disk.path, "--metadata-url", server.url("v2/metadata"),
        "--targets-url",
        server.url("\(state)/targets", "slowly=500000", for: Publication.weights),
      ], environment: InstallDevice.noProxies)
    let parts = disk.path + "/staging/parts"
    let part = try Publication.part("2.0")
    try waitUntil("a part of the file is there") { size(of: "\(parts)/\(part)") > 400_000 }
    // Fills the disk: dd ends with an error when it is full.
    _ = try runChild("dd", ["if=/dev/zero", "of=\(disk.path)/filler", "bs=64k"])
    let result = try child.wait()
    #expect(result.status == 14, "\(result.errorText)")
    #expect(result.errorText.contains("No space left") && !result.errorText.contains("asking again"))
    #expect(try active(device, disk.path) == "1.0")
    try FileManager.default.removeItem(atPath: disk.path + "/filler")
    #expect(try !FileManager.default.contentsOfDirectory(atPath: parts).isEmpty)
    _ = try install(device, disk.path, "2.0", of: state).successful()
    #expect(try active(device, disk.path) == "2.0")
  }

  @Test("A store on a disk that can't be written is used, and nothing else is tried with it")
  func readOnlyStore() throws {
    let disk = try SmallDisk(megabytes: 24)
    let device = try InstallDevice()
    _ = try install(device, disk.path, "1.0").successful()
    try disk.remount("ro")
    #expect(try active(device, disk.path) == "1.0")
    let offline = try install(device, disk.path, "1.0", ["--offline"])
    #expect(offline.status == 0, "\(offline.errorText)")
    let online = try install(device, disk.path, "2.0")
    #expect(online.status == 14, "\(online.errorText)")
    #expect(online.errorText.contains("acme/voice@1.0:default is installed and stays active: --offline uses it"), "\(online.errorText)")
    #expect(try device.run(["rollback", "acme/voice", "--store", disk.path]).status == 14)
    #expect(try active(device, disk.path) == "1.0")
    try disk.remount("rw")
    _ = try install(device, disk.path, "2.0").successful()
  }

  @Test("A copy of a store on a disk that can't be written serves as it is")
  func readOnlyCopy() throws {
    let disk = try SmallDisk(megabytes: 24)
    let device = try InstallDevice()
    _ = try device.install().successful()
    let copy = disk.path + "/copy"
    _ = try runChild("cp", ["-R", device.store, copy]).successful()
    try disk.remount("ro")
    #expect(try active(device, copy) == "1.0")
    let offline = try install(device, copy, "1.0", ["--offline"])
    #expect(offline.status == 0 && offline.text.hasPrefix("present  acme/voice@1.0"), "\(offline.errorText)")
    #expect(try install(device, copy, "2.0", ["--offline"]).status == 18, "it is the model that is not here")
    try disk.remount("rw")
    let weights = try #require(try FileManager.default.subpathsOfDirectory(atPath: copy).first { $0.hasSuffix(Publication.weights) })
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(copy)/\(weights)")
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: "\(copy)/\(weights)"))
    try disk.remount("ro")
    #expect(try install(device, copy, "1.0", ["--offline"]).status == 12)
  }

  @Test(
    "Of a store that can't be written, and whose record is lost or names no active version, what is whole serves", arguments: [true, false])
  func readOnlyWithoutActive(isLost: Bool) throws {
    let disk = try SmallDisk(megabytes: 24)
    let device = try InstallDevice()
    for version in ["1.0", "2.0"] { _ = try install(device, disk.path, version).successful() }
    let record = disk.path + "/records/acme/voice.json"
    if isLost {
      try FileManager.default.removeItem(atPath: record)
    } else {
      var tree = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: record))) as? [String: Any])
      tree["active"] = nil
      try JSONSerialization.data(withJSONObject: tree).write(to: URL(fileURLWithPath: record))
    }
    let serve = { (version: String?) in
      try device.run([
        "install", "acme/voice" + (version.map { "@" + $0 } ?? ""), "--offline", "--state", device.state, "--store", disk.path,
        "--targets-url", "file:///nowhere",
      ])
    }
    try disk.remount("ro")
    for version in ["2.0", "1.0"] {
      let result = try serve(version == "2.0" ? nil : version)
      #expect(result.status == 0 && result.text.hasPrefix("present  acme/voice@\(version):default"), "\(result.text)\(result.errorText)")
    }
    try disk.remount("rw")
    try FileManager.default.removeItem(atPath: disk.path + "/models/acme/voice/2.0/default/tokens.bin")
    try disk.remount("ro")
    let other = try serve(nil)
    #expect(other.status == 0 && other.text.contains("acme/voice@1.0:default"), "\(other.text)\(other.errorText)")
    #expect(other.text.hasPrefix(isLost ? "stand-in" : "present"), "\(other.text)")
    let named = try serve("2.0")
    #expect([12, 13].contains(named.status) && named.errorText.contains("acme/voice@2.0"), "\(named.errorText)")
  }

  @Test("Going back works on a disk that is full")
  func rollbackOnFullDisk() throws {
    let disk = try SmallDisk(megabytes: 32)
    let device = try InstallDevice()
    _ = try install(device, disk.path, "1.0").successful()
    _ = try install(device, disk.path, "2.0").successful()
    for _ in 0..<2 {
      _ = try runChild("dd", ["if=/dev/zero", "of=\(disk.path)/filler", "bs=4k"])
      let back = try device.run(["rollback", "acme/voice", "--store", disk.path])
      #expect(back.status == 0, "\(back.errorText)")
      #expect(try active(device, disk.path) == "1.0")
      try FileManager.default.removeItem(atPath: disk.path + "/filler")
      _ = try device.run(["rollback", "acme/voice", "--store", disk.path]).successful()
    }
  }

  @Test("Files that were left in another folder for staging are pruned where it is named, and nothing else in it is")
  func pruneStagingElsewhere() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let name = try Publication.part("2.0")
    try device.folder.write("a part", to: "elsewhere/parts/\(name)")
    try device.folder.write("", to: "elsewhere/lock")
    try device.folder.write("somebody's", to: "elsewhere/parts/notes.txt")
    let prune = ["prune", "--store", device.store]
    #expect(try device.run(prune).successful().text.hasPrefix("Nothing to remove"))
    let elsewhere = prune + ["--staging", device.folder("elsewhere")]
    #expect(try device.run(elsewhere + ["--dry-run"]).successful().text.hasPrefix("would remove  unfinished downloads"))
    #expect(FileManager.default.fileExists(atPath: device.folder("elsewhere/parts/\(name)")))
    #expect(try device.run(elsewhere).successful().text.hasPrefix("removed  unfinished downloads"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: device.folder("elsewhere/parts")) == ["notes.txt"])
  }

  @Test("Files may be fetched on another disk than the store's", arguments: ["v2", "plain"])
  func stagingElsewhere(state: String) throws {
    let disk = try SmallDisk(megabytes: 24)
    let device = try InstallDevice()
    _ = try install(device, device.store, "2.0", of: state, ["--staging", disk.path + "/staging"]).successful()
    try device.expectActive("2.0")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path + "/staging") == ["lock"])
    // Too little on either of them is told.
    let small = try SmallDisk(megabytes: 2)
    let other = try InstallDevice()
    #expect(try install(other, other.store, "2.0", ["--staging", small.path]).status == 14)
    #expect(try install(other, small.path, "2.0", ["--staging", disk.path]).status == 14)
  }

  @Test("A symbolic link planted in the store is not followed", arguments: ["models", "models/acme", "records", "staging", "records/acme"])
  func plantedLink(place: String) throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let files = FileManager.default
    try files.createDirectory(atPath: device.folder("elsewhere"), withIntermediateDirectories: false)
    _ = try? files.removeItem(atPath: device.store + "/" + place)
    try files.createSymbolicLink(atPath: device.store + "/" + place, withDestinationPath: device.folder("elsewhere"))
    let result = try device.install(of: "v2")
    #expect(result.status == 14 && result.errorText.contains("symbolic link"), "\(result.errorText)")
    #expect(try files.contentsOfDirectory(atPath: device.folder("elsewhere")).isEmpty)
  }

  @Test("A link in place of an installed file is not read through, and repair puts the file back")
  func linkInPlaceOfFile() throws {
    let device = try InstallDevice()
    _ = try device.install().successful()
    let file = try #require(try device.active()).folder + "/" + Publication.weights
    try FileManager.default.moveItem(atPath: file, toPath: device.folder("moved"))
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: device.folder("moved"))
    #expect(try device.listed().first?.unchanged == false)
    let server = try Publication.server
    let result = try device.run([
      "repair", "--state", device.state, "--store", device.store, "--metadata-url", server.url("v1/metadata"), "--targets-url",
      server.url("v1/targets"),
    ])
    #expect(result.status == 0, "\(result.errorText)")
    try device.expectActive("1.0")
  }
}

@Suite("Processes at once")
struct ProcessTests {
  @Test("While one installs, another is told so; the first is not disturbed")
  func twoProcesses() throws {
    let device = try InstallDevice()
    let slow = [try Publication.server.url("v1/targets", "slowly=150000", for: Publication.weights)]
    let first = try Child(builtCommand("manifest-install"), device.words(targets: slow), environment: InstallDevice.noProxies)
    let part = try Publication.part("1.0")
    try waitUntil("the first one fetches the large file") { device.names("staging/parts").contains(part) }
    let second = try device.install()
    #expect(second.status == 15 && second.errorText.contains("\(first.processID)"), "\(second.errorText)")
    #expect(try device.run(["list", "--store", device.store]).status == 0)
    #expect(try first.wait().status == 0)
    try device.expectActive("1.0")
  }

  @Test("While one fetches into another folder for staging, none that changes another store disturbs it there")
  func sharedStaging() throws {
    let (device, other) = (try InstallDevice(), try InstallDevice())
    let staging = ["--staging", device.folder("elsewhere")]
    let slow = [try Publication.server.url("v1/targets", "slowly=150000", for: Publication.weights)]
    let words = try device.words(targets: slow, more: staging)
    let first = try Child(builtCommand("manifest-install"), words, environment: InstallDevice.noProxies)
    let part = device.folder("elsewhere/parts/" + (try Publication.part("1.0")))
    try waitUntil("the first one fetches the large file") { FileManager.default.fileExists(atPath: part) }
    for result in [try other.install(more: staging), try other.run(["prune", "--store", other.store] + staging)] {
      #expect(result.status == 15 && result.errorText.contains("\(first.processID)"), "\(result.errorText)")
    }
    #expect(FileManager.default.fileExists(atPath: part))
    #expect(try first.wait().status == 0)
    try device.expectActive("1.0")
    _ = try other.install(more: staging).successful()
    try other.expectActive("1.0")
  }

  @Test("A store that is named as its own staging folder fetches into the one that it has")
  func ownStaging() throws {
    let device = try InstallDevice()
    try FileManager.default.createDirectory(atPath: device.store, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: device.folder("link"), withDestinationPath: device.store)
    for staging in [device.store, device.folder("link")] {
      _ = try device.install(more: ["--staging", staging]).successful()
      #expect(!FileManager.default.fileExists(atPath: device.store + "/parts"))
      try device.expectActive("1.0")
      try FileManager.default.removeItem(atPath: device.store + "/models/acme/voice/1.0/default/" + Publication.weights)
    }
  }

  @Test("A process that was killed holds no lock")
  func killedHolder() throws {
    let device = try InstallDevice()
    let slow = [try Publication.server.url("v1/targets", "slowly=150000", for: Publication.weights)]
    let first = try Child(builtCommand("manifest-install"), device.words(targets: slow), environment: InstallDevice.noProxies)
    let part = try Publication.part("1.0")
    try waitUntil("the first one fetches the large file") { device.names("staging/parts").contains(part) }
    first.send(SIGKILL)
    _ = try first.wait()
    _ = try device.install().successful()
    try device.expectActive("1.0")
  }

  @Test("Interrupted, it ends with 130 and keeps what it fetched", arguments: ["v1", "plain1"])
  func interrupted(state: String) throws {
    let device = try InstallDevice()
    let slow = [try Publication.server.url("\(state)/targets", "slowly=150000", for: Publication.weights)]
    let first = try Child(
      "env", ["--default-signal=INT", builtCommand("manifest-install")] + device.words(targets: slow), environment: InstallDevice.noProxies)
    let part = try device.store + "/staging/parts/" + Publication.part("1.0")
    try waitUntil("a part of the file is there") { size(of: part) > 100_000 }
    first.send(SIGINT)
    #expect(try first.wait(seconds: 60).status == 130)
    #expect(size(of: part) > 100_000)
    #expect(try device.active() == nil)
    _ = try device.install().successful()
    try device.expectActive("1.0")
  }
}
