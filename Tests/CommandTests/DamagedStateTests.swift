import Foundation
import TestSupport
import Testing

@Suite("A damaged state is told as such by every verb, with one exit code and the way out")
struct DamagedStateTests {
  enum Fault: String, CaseIterable {
    case missing, empty, cut, altered, folder
  }

  /// A state that every device of these tests is a copy of: two roots, all roles.
  private static let trusting = Result { try VerifyingDevice.trusting("--rotate", "targets") }

  private struct Copy {
    let device: VerifyingDevice
    let folder: TemporaryFolder
    var state: String { folder("state") }

    init() throws {
      device = try DamagedStateTests.trusting.get()
      folder = try TemporaryFolder()
      try FileManager.default.copyItem(atPath: device.state, toPath: folder("state"))
    }

    func run(_ verb: String, _ words: String...) throws -> ChildResult {
      try runChild(builtCommand("manifest-verify"), [verb, "--state", state] + words)
    }

    func refresh() throws -> ChildResult { try run("refresh", "--metadata", device.metadata) }

    func damage(_ name: String, _ fault: Fault) throws {
      let path = folder("state/\(name)")
      let bytes = FileManager.default.contents(atPath: path).map(Array.init) ?? []
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
      switch fault {
      case .missing: break
      case .empty: try folder.write([], to: "state/\(name)")
      case .cut: try folder.write(Array(bytes.dropLast(bytes.count / 2)), to: "state/\(name)")
      case .altered:
        // The date of expiry, or the number of a version: well-formed, and not what was signed.
        let text = String(decoding: bytes, as: UTF8.self)
        try folder.write(text.replacing("2040-", with: "2041-").replacing("anchor 1", with: "anchor +1"), to: "state/\(name)")
      case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
    }

    var contents: [String: Data] {
      get throws { try Device.files(below: state).filter { !$0.key.hasSuffix("lock") } }
    }
  }

  @Test(
    "What new versions are held against: refresh, check, list, show and explain end with 16, and nothing begins anew",
    arguments: ["timestamp.json", "snapshot.json", "roots/1.json", "roots/2.json", "trust"], Fault.allCases)
  func nothingBeginsAnew(name: String, fault: Fault) throws {
    // The chain is whole without its last root only where that is walked to again; here the record says that it was trusted.
    let copy = try Copy()
    try copy.damage(name, fault)
    let before = try copy.contents
    let results = try [
      copy.refresh(), copy.run("check", "--base", copy.device.files, "file-0.bin"), copy.run("list"), copy.run("show"),
      copy.run("explain", "--base", copy.device.files, "file-0.bin"),
    ]
    for (verb, result) in zip(["refresh", "check", "list", "show", "explain"], results) {
      #expect(result.status == 16, "\(verb): \(result.status) \(result.errorText)")
      #expect(result.errorText.contains("in another folder"), "\(verb): \(result.errorText)")
      #expect(!result.errorText.contains("mirror"), "\(verb): \(result.errorText)")
    }
    #expect(results[4].text.contains("FAILS: "))
    #expect(try copy.contents == before)
  }

  @Test(
    "What the rest tells the content of: the next refresh writes it again, loudly", arguments: ["targets.json", "root.json"], Fault.allCases
  )
  func theRestHealsLoudly(name: String, fault: Fault) throws {
    let copy = try Copy()
    let whole = try copy.folder.bytes(of: "state/\(name)")
    try copy.damage(name, fault)
    if name == "targets.json" {
      let check = try copy.run("check", "--base", copy.device.files, "file-0.bin")
      #expect(check.status == 16, "\(check.errorText)")
      #expect(check.errorText.contains("run refresh") || check.errorText.contains("run manifest-verify refresh"), "\(check.errorText)")
    }
    let result = try copy.refresh()
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errorText.contains("warning: \(name) in the state folder was damaged or missing"), "\(result.errorText)")
    #expect(try copy.folder.bytes(of: "state/\(name)") == whole)
    #expect(try copy.refresh().errorText.isEmpty)
  }

  @Test(
    "A delegated role that is damaged or gone: 16 from every verb that needs it, and the next refresh fetches it", arguments: Fault.allCases
  )
  func delegatedRolesHeal(fault: Fault) throws {
    let (device, _) = try VerifyingDevice.delegating()
    let names = try FileManager.default.contentsOfDirectory(atPath: device.state).filter { $0.utf8.count == 69 }
    #expect(names.count == 3)
    for name in names {
      let path = device.folder("state/\(name)")
      let whole = try device.folder.bytes(of: "state/\(name)")
      try FileManager.default.removeItem(atPath: path)
      switch fault {
      case .missing: break
      case .empty: try device.folder.write([], to: "state/\(name)")
      case .cut: try device.folder.write(Array(whole.dropLast(whole.count / 2)), to: "state/\(name)")
      case .altered: try device.folder.write("{}", to: "state/\(name)")
      case .folder: try device.folder.write("somebody's", to: "state/\(name)/file")
      }
      for words in [["list"], ["check", "--base", device.files, "--all"]] {
        let result = try runChild(builtCommand("manifest-verify"), [words[0], "--state", device.state] + words.dropFirst())
        #expect(result.status == 16, "\(words): \(result.status) \(result.errorText)")
      }
      let codes = try ["team/a.bin", "team/inner/c.bin", "elsewhere/any.bin"].map {
        let result = try device.run("explain", "--base", device.files, $0)
        #expect(result.status == 0 || result.errorText.contains("run manifest-verify refresh"), "\(result.errorText)")
        return result.status
      }
      #expect(Set(codes).isSubset(of: [0, 16]) && codes.contains(16), "\(codes)")
      let result = try device.run("refresh", "--metadata", device.metadata)
      #expect(result.status == 0 && (fault == .missing || result.errorText.contains("was damaged")), "\(result.errorText)")
      #expect(try device.folder.bytes(of: "state/\(name)") == whole)
      #expect(try device.checkAll().status == 0)
      // What lay in the way may be somebody's.
      if fault == .folder { #expect(try device.folder.text(of: "state/\(name).set-aside/file") == "somebody's") }
    }
  }

  @Test("A folder in place of a lock", arguments: ["lock", "refresh-lock"])
  func locksAreFiles(name: String) throws {
    let copy = try Copy()
    try copy.damage(name, .folder)
    let result = try name == "lock" ? copy.run("list") : copy.refresh()
    #expect(result.status == 16 && result.errorText.contains("in another folder"), "\(result.errorText)")
  }

  @Test("explain --json tells what is wrong with the clock")
  func theClockIsTold() throws {
    struct Told: Decodable {
      struct Clock: Decodable {
        let verdict: String
        let reason: String?
      }
      let clock: Clock
    }
    let copy = try Copy()
    func clock() throws -> Told.Clock {
      let result = try copy.run("explain", "--base", copy.device.files, "file-0.bin", "--json")
      return try JSONDecoder().decode(Told.self, from: Data(result.output)).clock
    }
    #expect(try clock().verdict == "holds")
    let record = try copy.folder.text(of: "state/trust")
    try copy.folder.write(record.replacing(/newest-refresh .*/, with: "newest-refresh 2999-01-01T00:00:00Z"), to: "state/trust")
    #expect(try clock().verdict == "fails" && clock().reason?.contains("2999-01-01") == true)
  }

  @Test("A role whose name no folder can hold hinders no other")
  func longNamesHinderNoOther() throws {
    let folder = try TemporaryFolder()
    let made = try runChild(peerPython(), [peerScript("tuf_delegations.py")]).successful()
    let published = try #require(try JSONSerialization.jsonObject(with: Data(made.output)) as? [String: Any])
    let files = try #require(published["files"] as? [String: String])
    var left = 0
    for (name, text) in files {
      if name.utf8.count <= 255 { try folder.write(text, to: "metadata/\(name)") } else { left += 1 }
    }
    try #require(left > 0)
    let command = try builtCommand("manifest-verify")
    _ = try runChild(command, ["init", "--state", folder("state"), folder("metadata/1.root.json")]).successful()
    let result = try runChild(command, ["refresh", "--state", folder("state"), "--metadata", folder("metadata")])
    #expect(!result.errorText.contains("File name too long"), "\(result.errorText)")
    // The role after it in the delegator's order was taken over.
    let listed = try runChild(command, ["list", "--state", folder("state")])
    #expect(listed.text.contains("nested/b/c") && listed.text.contains("names/0/a"), "\(listed.errorText)")
  }
}
