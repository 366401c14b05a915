import Digests
import RepositoryFixtures
import TUFMetadata
import Testing

/// One change of good metadata, and the place at which the reader has to find it.
struct Fault: CustomTestStringConvertible, Sendable {
  let rule: String
  let path: [ByteString]
  let value: JSONTree?
  let place: String

  init(_ rule: String, _ path: ByteString..., value: JSONTree?, place: String? = nil) {
    self.rule = rule
    self.path = path
    self.value = value
    // A missing member is reported at the object that lacks it.
    let names = ["signed"] + path.map(\.description)
    self.place = place ?? (value == nil ? names.dropLast() : names[...]).joined(separator: ".")
  }

  var testDescription: String { rule }

  func expect<Payload: ReadableRolePayload>(_: Payload.Type, in good: JSONTree) {
    #expect(fault(Payload.self, in: good) == nil)
    var tree = good
    switch path.count {
    case 1: tree[path[0]] = value
    case 2: tree[path[0], path[1]] = value
    case 3: tree[path[0], path[1], path[2]] = value
    case 4: tree[path[0], path[1], path[2], path[3]] = value
    default: Issue.record("no such depth")
    }
    switch fault(Payload.self, in: tree) {
    case .missingMember(let name, let place): #expect(value == nil && place == self.place && name == path.last?.description)
    case .invalidValue(let place, _, _): #expect(place == self.place)
    case let other: Issue.record("\(rule): \(String(describing: other))")
    }
  }
}

@Suite struct `Every role has the members that TUF asks for` {
  static let common: [Fault] = [
    Fault("_type is there", "_type", value: nil), Fault("_type is the role's", "_type", value: .text("mirrors")),
    Fault("_type is a string", "_type", value: .integer(1)), Fault("_type is written in lower case", "_type", value: .text("Root")),
    Fault("spec_version is there", "spec_version", value: nil), Fault("spec_version is a string", "spec_version", value: .integer(1)),
    Fault("no other major version", "spec_version", value: .text("2.0.0")), Fault("no version 0", "spec_version", value: .text("0.9.0")),
    Fault("three numbers", "spec_version", value: .text("1.0")), Fault("no fourth number", "spec_version", value: .text("1.0.0.0")),
    Fault("no empty number", "spec_version", value: .text("1..0")), Fault("digits only", "spec_version", value: .text("1.0.x")),
    Fault("no major version that begins with 1", "spec_version", value: .text("10.0.0")),
    Fault("version is there", "version", value: nil), Fault("no version 0", "version", value: .integer(0)),
    Fault("no negative version", "version", value: .integer(-1)), Fault("no version true", "version", value: .boolean(true)),
    Fault("no version as text", "version", value: .text("1")), Fault("no version null", "version", value: .null),
    Fault("expires is there", "expires", value: nil), Fault("expires is a time", "expires", value: .text("2030-01-01")),
    Fault("expires is a string", "expires", value: .integer(1_900_000_000)),
  ]

  @Test(arguments: common) func `the members that all roles have are held to their rules`(fault: Fault) throws {
    fault.expect(Root.self, in: try signed("1.root.json"))
    fault.expect(Timestamp.self, in: try signed("timestamp.json"))
    fault.expect(Snapshot.self, in: try signed("1.snapshot.json"))
    fault.expect(Targets.self, in: try signed("1.targets.json"))
  }

  @Test(arguments: ["1.0.0", "1.0.34", "1.99.99", "1.0.00"]) func `every version 1 of the specification is read`(version: String) throws {
    var tree = try signed("timestamp.json")
    tree["spec_version"] = .text(version)
    #expect(fault(Timestamp.self, in: tree) == nil)
  }

  static let root: [Fault] = [
    Fault("keys is there", "keys", value: nil), Fault("keys is an object", "keys", value: .array([])),
    Fault("roles is there", "roles", value: nil), Fault("root is there", "roles", "root", value: nil),
    Fault("timestamp is there", "roles", "timestamp", value: nil), Fault("snapshot is there", "roles", "snapshot", value: nil),
    Fault("targets is there", "roles", "targets", value: nil), Fault("keyids is there", "roles", "root", "keyids", value: nil),
    Fault("keyids is an array", "roles", "root", "keyids", value: .text("x")),
    Fault("threshold is there", "roles", "root", "threshold", value: nil),
    Fault("a key id has 64 digits", "roles", "root", "keyids", value: .array([.text("ab")]), place: "signed.roles.root.keyids[0]"),
    Fault("consistent_snapshot is a boolean", "consistent_snapshot", value: .integer(1)),
    Fault("consistent_snapshot is not null", "consistent_snapshot", value: .null),
  ]

  @Test(arguments: root) func `root has its own members`(fault: Fault) throws { fault.expect(Root.self, in: try signed("1.root.json")) }

  @Test func `a root without consistent_snapshot has none, and other roles are left alone`() throws {
    var tree = try signed("1.root.json")
    tree["consistent_snapshot"] = nil
    tree["roles", "mirrors"] = .text("whatever")
    let metadata = try UnverifiedMetadata<Root>(parsing: FixtureRepository.file(tree, by: []))
    #expect(!metadata.payload.consistentSnapshot)
  }

  static let digit = String(repeating: "a", count: 64)
  static let digests: [(rule: String, value: JSONTree?)] = [
    ("sha256 is there", nil), ("empty", .text("")), ("zz", .text("zz")), ("63 digits", .text(String(digit.dropLast()))),
    ("65 digits", .text(digit + "a")),
    ("upper case", .text(digit.uppercased())), ("no digit g", .text(String(digit.dropLast()) + "g")), ("a path", .text("../../x")),
    ("a number", .integer(1)), ("null", .null),
  ]

  static let files: [Fault] =
    [
      Fault("version is there", "version", value: nil), Fault("no version 0", "version", value: .integer(0)),
      Fault("no version true", "version", value: .boolean(true)), Fault("no length 0", "length", value: .integer(0)),
      Fault("no negative length", "length", value: .integer(-1)), Fault("length is a number", "length", value: .text("1")),
      Fault("hashes is an object", "hashes", value: .array([])),
      Fault("no empty hashes", "hashes", value: .object([:]), place: "signed.meta.NAME.hashes"),
      Fault("sha512 alone is not enough", "hashes", value: .object(["sha512": .text(digit + digit)]), place: "signed.meta.NAME.hashes"),
      Fault(
        "sha512 has 128 digits", "hashes", value: .object(["sha256": .text(digit), "sha512": .text(digit)]),
        place: "signed.meta.NAME.hashes.sha512"),
    ] + digests.map { Fault("sha256: \($0.rule)", "hashes", "sha256", value: $0.value) }

  @Test(arguments: files) func `what timestamp and snapshot say of a file is held to its rules`(fault: Fault) throws {
    func expect<Payload: ReadableRolePayload>(_: Payload.Type, _ file: String, _ name: ByteString) throws {
      let good = try signed(file)
      #expect(TUFMetadataTests.fault(Payload.self, in: good) == nil)
      var tree = good
      if fault.path.count == 1 {
        tree["meta", name, fault.path[0]] = fault.value
      } else {
        tree["meta", name, fault.path[0], fault.path[1]] = fault.value
      }
      let prefix = "signed.meta.\(name)"
      switch TUFMetadataTests.fault(Payload.self, in: tree) {
      case .missingMember(_, let place), .invalidValue(let place, _, _): #expect(place.hasPrefix(prefix))
      case let other: Issue.record("\(fault.rule): \(String(describing: other))")
      }
    }
    try expect(Timestamp.self, "timestamp.json", "snapshot.json")
    try expect(Snapshot.self, "1.snapshot.json", "targets.json")
  }

  @Test func `timestamp and snapshot name the next file`() throws {
    Fault("meta is there", "meta", value: nil).expect(Timestamp.self, in: try signed("timestamp.json"))
    Fault("snapshot.json is there", "meta", "snapshot.json", value: nil).expect(Timestamp.self, in: try signed("timestamp.json"))
    Fault("targets.json is there", "meta", "targets.json", value: nil).expect(Snapshot.self, in: try signed("1.snapshot.json"))
    Fault("meta is an object", "meta", value: .array([])).expect(Snapshot.self, in: try signed("1.snapshot.json"))
  }

  static let entries: [Fault] =
    [
      Fault("length is there", "targets", "a", "length", value: nil),
      Fault("no negative length", "targets", "a", "length", value: .integer(-1)),
      Fault("length is a number", "targets", "a", "length", value: .text("1")),
      Fault("length is not true", "targets", "a", "length", value: .boolean(true)),
      Fault("hashes is there", "targets", "a", "hashes", value: nil),
      Fault("custom is an object", "targets", "a", "custom", value: .text("x")),
      Fault("custom is not null", "targets", "a", "custom", value: .null), Fault("a target is an object", "targets", "a", value: .null),
      Fault("targets is there", "targets", value: nil), Fault("targets is an object", "targets", value: .array([])),
      Fault("fsverity names its algorithm", "targets", "a", "custom", "fsverity", value: .text(digit)),
      Fault("fsverity has 64 digits", "targets", "a", "custom", "fsverity", value: .text("sha256:" + digit.dropLast())),
      Fault("fsverity in lower case", "targets", "a", "custom", "fsverity", value: .text("sha256:" + digit.uppercased())),
      Fault("fsverity of sha512 is unknown", "targets", "a", "custom", "fsverity", value: .text("sha512:" + digit)),
      Fault("fsverity is a string", "targets", "a", "custom", "fsverity", value: .object([:])),
      Fault("a target path leads nowhere else", "targets", "../a", value: FixtureRepository.entry(of: [])),
      Fault("a target path is not empty", "targets", "", value: FixtureRepository.entry(of: []), place: "signed.targets"),
      Fault("a target path does not begin with a slash", "targets", "/a", value: FixtureRepository.entry(of: [])),
    ] + digests.map { Fault("sha256: \($0.rule)", "targets", "a", "hashes", "sha256", value: $0.value) }

  @Test(arguments: entries) func `each target is held to its rules`(fault: Fault) throws {
    fault.expect(
      Targets.self, in: try signed("1.targets.json", of: FixtureRepository { $0.entries = ["a": FixtureRepository.entry(of: [1])] }))
  }

  @Test func `targets may be none, and are found by the bytes of their path`() throws {
    let none = try UnverifiedMetadata<Targets>(parsing: FixtureRepository { $0.entries = [:] }["1.targets.json"]).payload
    #expect(none.count == 0 && none.all.map(\.path).isEmpty && none.delegations == nil)
    var entry = FixtureRepository.entry(of: [1])
    entry["custom"] = .object(["fsverity": .text("sha256:" + Self.digit), "more": .array([.null])])
    let repository = FixtureRepository { [entry] in $0.entries = ["e\u{301}": entry, "z": FixtureRepository.entry(of: [])] }
    let targets = try UnverifiedMetadata<Targets>(parsing: repository["1.targets.json"]).payload
    #expect(targets[try TargetPath("e\u{301}")]?.fsverity?.description == "sha256:" + Self.digit)
    #expect(targets[try TargetPath("\u{E9}")] == nil)
    #expect(targets.all.map(\.path.description) == ["e\u{301}", "z"])
    #expect(targets[try TargetPath("z")]?.byteCount == 0)
  }

  @Test func `each target is reached by its number in byte order of the paths`() throws {
    // Few and many: names are looked for differently.
    for count in [1, 8, 9, 300] {
      let entries = (0..<count).map { (ByteString("a/\($0 * 7919 % count)"), FixtureRepository.entry(of: [UInt8]("\($0)".utf8))) }
      let repository = FixtureRepository { $0.entries = Dictionary(uniqueKeysWithValues: entries) }
      let targets = try UnverifiedMetadata<Targets>(parsing: repository["1.targets.json"]).payload
      let sorted = try entries.map { try TargetPath($0.0) }.sorted()
      #expect(targets.count == count && (0..<count).map(targets.path(at:)) == sorted)
      for (position, path) in sorted.enumerated() {
        #expect(targets.file(at: position) == targets[path] && targets[path] != nil)
        #expect(targets.order(at: position, to: path) == 0)
        #expect(targets.order(at: position, to: try TargetPath(path.description + "0")) < 0)
        #expect(targets.order(at: position, to: try TargetPath("A")) > 0)
      }
    }
  }
}

@Suite struct `What the reader does not know is kept and what is ambiguous is refused` {
  @Test func `unknown members are part of what is signed`() throws {
    var tree = try signed("timestamp.json")
    tree["x-note"] = .object(["deep": .array([.integer(1), .null])])
    let metadata = try UnverifiedMetadata<Timestamp>(
      parsing: FixtureRepository.file(tree, by: [FixtureKey(2)]) { $0["unsigned note"] = .boolean(true) })
    metadata.withSignedBytes { bytes in #expect((0..<bytes.count).map { bytes[$0] } == tree.canonicalBytes) }
  }

  @Test(arguments: ["1.0", "1e0", "1.5", "01", "9223372036854775808", "-0.0"]) func `a version is an integer in its one spelling`(
    text: String
  ) throws {
    let file = String(decoding: FixtureRepository()["timestamp.json"], as: UTF8.self)
    #expect(file.hasSuffix("\"version\":1}}"))
    let bytes = Array((file.dropLast(3) + text + "}}").utf8)
    let error = #expect(throws: MetadataError.self) { try UnverifiedMetadata<Timestamp>(parsing: bytes) }
    guard case .syntax = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a member that stands twice is refused, at every depth`() throws {
    let file = String(decoding: FixtureRepository()["timestamp.json"], as: UTF8.self)
    for text in [#""signed":"#, #""version":"#, #""keyid":"#, #""hashes":"#] {
      let doubled = file.replacing(text, with: text + "0," + text, maxReplacements: 1)
      let error = #expect(throws: MetadataError.self) { try UnverifiedMetadata<Timestamp>(parsing: Array(doubled.utf8)) }
      guard case .syntax(.duplicateMember, _) = error else {
        Issue.record("\(text): \(String(describing: error))")
        continue
      }
    }
  }

  static let envelopes: [(rule: String, edit: FixtureRepository.Edit, place: String)] = [
    ("signatures is there", { $0["signatures"] = nil }, ""), ("signed is there", { $0["signed"] = nil }, ""),
    ("signatures is an array", { $0["signatures"] = .object([:]) }, "signatures"),
    ("a signature is an object", { $0["signatures"] = .array([.null]) }, "signatures[0]"),
    ("keyid is there", { $0["signatures"] = .array([.object(["sig": .text("")])]) }, "signatures[0]"),
    ("sig is there", { $0["signatures"] = .array([.object(["keyid": .text(String(repeating: "a", count: 64))])]) }, "signatures[0]"),
    (
      "sig is a string", { $0["signatures"] = .array([.object(["keyid": .text(String(repeating: "a", count: 64)), "sig": .null])]) },
      "signatures[0].sig"
    ),
    ("a key id has 64 digits", { $0["signatures"] = .array([.object(["keyid": .text("a"), "sig": .text("")])]) }, "signatures[0].keyid"),
    ("signed is an object", { $0["signed"] = .array([]) }, "signed"),
  ]

  @Test(arguments: envelopes) func `the file around what is signed is held to its rules`(
    rule: String, edit: @escaping FixtureRepository.Edit, place: String
  ) throws {
    let file = FixtureRepository.file(try signed("timestamp.json"), by: [FixtureKey(2)], edit: edit)
    let error = #expect(throws: MetadataError.self) { try UnverifiedMetadata<Timestamp>(parsing: file) }
    switch error {
    case .missingMember(_, let path), .invalidValue(let path, _, _): #expect(path == place)
    default: Issue.record("\(String(describing: error))")
    }
  }

  @Test func `a file that is no object is refused`() {
    #expect(throws: MetadataError.invalidValue(path: "", expected: "an object", found: "an array")) {
      try UnverifiedMetadata<Timestamp>(parsing: Array("[]".utf8))
    }
  }
}
