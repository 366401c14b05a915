import FleetSimulator
import ManifestVerifier
import TUFMetadata
import Testing

@Suite struct `FN 13: a search visits roles in pre-order, each on a way that is trusted with the path` {
  /// Roles `a` and `b` below targets, `c` below `a`; each lists what its name says.
  static func fleet(
    aPaths: [String] = ["*"], cPaths: [String] = ["*"], bPaths: [String] = ["*"], aEnds: Bool = false, cEnds: Bool = false
  ) throws -> Fleet {
    try Fleet { (publisher) throws(SimulationError) in
      let (a, b, c) = (try publisher.key("a"), try publisher.key("b"), try publisher.key("c"))
      publisher.targets.delegations = [
        SimulatedDelegation("a", keys: [a], paths: aPaths, isTerminating: aEnds), SimulatedDelegation("b", keys: [b], paths: bPaths),
      ]
      publisher.addRole(
        "a", keys: [a], files: ["all", "a"], delegations: [SimulatedDelegation("c", keys: [c], paths: cPaths, isTerminating: cEnds)])
      publisher.addRole("b", keys: [b], files: ["all", "b", "bc"])
      publisher.addRole("c", keys: [c], files: ["all", "c", "bc", "dir/c"])
    }
  }

  @Test(arguments: [("all", "a"), ("a", "a"), ("c", "c"), ("bc", "c"), ("b", "b")])
  func `the first role in that order wins`(path: String, role: String) throws {
    var fleet = try Self.fleet()
    let finding = try #require(try fleet.finding(of: path))
    #expect(finding.chain.last?.role.name.description == role)
    #expect(finding.file == SimulatedPublisher.file("\(role): \(path)"))
    #expect(finding.chain.first?.role == .targets)
    #expect(finding.chain.map(\.role.name.description) == (role == "c" ? ["targets", "a", "c"] : ["targets", role]))
  }

  @Test func `what nobody lists is not found, after every role was visited once`() throws {
    var fleet = try Self.fleet()
    #expect(try fleet.finding(of: "none") == nil)
    #expect(fleet.device.requests == ["1.a.json", "1.c.json", "1.b.json"])
  }

  @Test func `the top-level role comes before whom it delegates to`() throws {
    var fleet = try Self.fleet()
    #expect(try fleet.finder(of: "org/model/weights.gguf") == "targets")
    #expect(fleet.device.requests.isEmpty)
  }

  @Test func `a role that is not trusted with the path is not even asked for`() throws {
    var fleet = try Self.fleet(aPaths: ["a*"])
    #expect(try fleet.finder(of: "bc") == "b")
    #expect(fleet.device.requests == ["1.b.json"])
  }

  @Test func `every role on the way has to be trusted with it`() throws {
    var fleet = try Self.fleet(cPaths: ["c"])
    #expect(try fleet.finder(of: "bc") == "b")
    #expect(try fleet.finder(of: "c") == "c")
    // `a` may delegate to `c` what it is not trusted with itself.
    fleet = try Self.fleet(aPaths: ["a*"], cPaths: ["*"])
    #expect(try fleet.finding(of: "c") == nil)
  }

  @Test func `a star does not cross a slash`() throws {
    var fleet = try Self.fleet()
    #expect(try fleet.finding(of: "dir/c") == nil)
    fleet = try Self.fleet(aPaths: ["dir/?"], cPaths: ["*/[a-c]"])
    #expect(try fleet.finder(of: "dir/c") == "c")
  }

  @Test func `a terminating role that matches ends the search after it and its descendants`() throws {
    var fleet = try Self.fleet(aEnds: true)
    #expect(try fleet.finder(of: "c") == "c")
    #expect(try fleet.finding(of: "b") == nil)
    #expect(fleet.device.requests.isEmpty, "`a` and `c` were kept, and `b` is never asked for")
  }

  @Test func `a terminating role deep in the tree ends the search everywhere`() throws {
    var fleet = try Self.fleet(cEnds: true)
    #expect(try fleet.finding(of: "b") == nil)
    #expect(fleet.device.requests == ["1.a.json", "1.c.json"])
  }

  @Test func `a terminating role that does not match ends nothing`() throws {
    var fleet = try Self.fleet(aPaths: ["a*"], aEnds: true)
    #expect(try fleet.finder(of: "b") == "b")
    fleet = try Self.fleet(cPaths: ["c"], cEnds: true)
    #expect(try fleet.finder(of: "b") == "b")
  }

  @Test func `a terminating role that was visited before still ends the search`() throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      let (a, b, c) = (try publisher.key("a"), try publisher.key("b"), try publisher.key("c"))
      let toC = SimulatedDelegation("c", keys: [c], paths: ["*"])
      var endsAtC = toC
      endsAtC.isTerminating = true
      publisher.targets.delegations = [
        SimulatedDelegation("a", keys: [a], paths: ["*"]), endsAtC, SimulatedDelegation("b", keys: [b], paths: ["*"]),
      ]
      publisher.addRole("a", keys: [a], delegations: [toC])
      publisher.addRole("b", keys: [b], files: ["b"])
      publisher.addRole("c", keys: [c])
    }
    #expect(try fleet.finding(of: "b") == nil)
    #expect(fleet.device.requests == ["1.a.json", "1.c.json"])
  }

  @Test func `a circle of delegations ends`() throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      let (a, b) = (try publisher.key("a"), try publisher.key("b"))
      let (toA, toB) = (SimulatedDelegation("a", keys: [a], paths: ["*"]), SimulatedDelegation("b", keys: [b], paths: ["*"]))
      publisher.targets.delegations = [toA]
      publisher.addRole("a", keys: [a], delegations: [toB, toA])
      publisher.addRole("b", keys: [b], files: ["b"], delegations: [toA, toB])
    }
    #expect(try fleet.finder(of: "b") == "b")
    #expect(try fleet.finding(of: "none") == nil)
  }

  @Test(arguments: [31, 32, 33]) func `FN 19: no more than 32 delegated roles are visited in one search`(count: Int) throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("all")
      let names = (1...count).map { ByteString("r\($0)") }
      publisher.targets.delegations = names.map { SimulatedDelegation($0, keys: [key], paths: ["*"]) }
      for name in names { publisher.addRole(name, keys: [key], files: [name.description]) }
    }
    #expect(VerificationLimits().delegationCount == 32)
    guard count > 32 else {
      #expect(try fleet.finder(of: "r\(count)") == "r\(count)")
      return
    }
    #expect(try fleet.searchRefusal(of: "r33") == .tooManyDelegations(limit: 32))
    #expect(fleet.device.requests.count == 32)
  }
}

@Suite struct `FN 14: a role reached through two delegators is verified against each` {
  /// `shared` is delegated to by `a` for `a*` and by `b` for `b*`, with a key of each; its file is signed by some of the two.
  static func fleet(signers: [String], thresholdOfB: Int = 1) throws -> Fleet {
    try Fleet { (publisher) throws(SimulationError) in
      let (a, b) = (try publisher.key("a"), try publisher.key("b"))
      let (ofA, ofB) = (try publisher.key("shared for a"), try publisher.key("shared for b"))
      publisher.targets.delegations = [
        SimulatedDelegation("a", keys: [a], paths: ["a*"]), SimulatedDelegation("b", keys: [b], paths: ["b*"]),
      ]
      publisher.addRole("a", keys: [a], delegations: [SimulatedDelegation("shared", keys: [ofA], paths: ["*"])])
      var toShared = SimulatedDelegation("shared", keys: [ofA, ofB], paths: ["*"])
      if thresholdOfB == 1 { toShared.keys = [ofB] }
      toShared.threshold = thresholdOfB
      publisher.addRole("b", keys: [b], delegations: [toShared])
      var keys: [SimulatedKey] = []
      for name in signers { keys.append(try publisher.key(name)) }
      publisher.addRole("shared", keys: keys, files: ["a1", "b1"])
    }
  }

  static let refusal = VerificationError.thresholdNotMet(role: "shared", signed: 0, threshold: 1, keyCount: 1, delegator: "b")

  @Test func `with both signatures it is found through either, and fetched once`() throws {
    var fleet = try Self.fleet(signers: ["shared for a", "shared for b"])
    #expect(try fleet.finding(of: "a1")?.chain.map(\.role.name) == ["targets", "a", "shared"])
    #expect(try fleet.finding(of: "b1")?.chain.map(\.role.name) == ["targets", "b", "shared"])
    #expect(fleet.device.requests == ["1.b.json"], "`shared` was kept, and verified again")
  }

  @Test func `with one it is refused through the other, whichever came first and however often`() throws {
    var fleet = try Self.fleet(signers: ["shared for a"])
    #expect(try fleet.searchRefusal(of: "b1") == Self.refusal)
    #expect(try fleet.finder(of: "a1") == "shared")
    let kept = fleet.device.disk
    #expect(try fleet.searchRefusal(of: "b1") == Self.refusal)
    #expect(fleet.device.disk == kept)
  }

  @Test func `the threshold is that of the delegator`() throws {
    var fleet = try Self.fleet(signers: ["shared for a"], thresholdOfB: 2)
    #expect(try fleet.finder(of: "a1") == "shared")
    #expect(
      try fleet.searchRefusal(of: "b1") == .thresholdNotMet(role: "shared", signed: 1, threshold: 2, keyCount: 2, delegator: "b"))
  }
}

@Suite struct `FN 12: delegated metadata gets the checks of every other` {
  static func fleet(_ change: (inout SimulatedPublisher) throws(SimulationError) -> Void = { _ in }) throws -> Fleet {
    try Fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("team")
      publisher.targets.delegations = [SimulatedDelegation("team", keys: [key], paths: ["*", "*/*"])]
      publisher.addRole("team", keys: [key], files: ["file"])
      try change(&publisher)
    }
  }

  @Test func `length, then digest, then syntax: no parser sees a byte before both hold`() throws {
    var fleet = try Self.fleet()
    let original = try #require(fleet.publisher.files["1.team.json"])
    var mirror = fleet.mirror
    let before = fleet.device.disk
    mirror.files["1.team.json"] = original.dropLast()
    #expect(
      try fleet.searchRefusal(of: "file", from: mirror)
        == .wrongMetadataLength(role: "team", expected: Int64(original.count), actual: Int64(original.count - 1)))
    // No JSON at all, and of the right length: it is the digest that is wrong.
    mirror.files["1.team.json"] = [UInt8](repeating: 0xFF, count: original.count)
    guard case .wrongMetadataDigest(role: "team", _, _) = try fleet.searchRefusal(of: "file", from: mirror) else {
      Issue.record("not refused for its digest")
      return
    }
    mirror.answers["1.team.json"] = .endless
    #expect(try fleet.searchRefusal(of: "file", from: mirror) == .tooLarge(role: "team", byteLimit: original.count))
    #expect(fleet.device.disk == before)
  }

  @Test func `without a stated length the limit of targets holds`() throws {
    var fleet = try Self.fleet { $0.statesLengthsAndHashes = false }
    var mirror = fleet.mirror
    mirror.answers["1.team.json"] = .endless
    #expect(try fleet.searchRefusal(of: "file", from: mirror) == .tooLarge(role: "team", byteLimit: 5_000_000))
  }

  @Test func `the version is exactly the snapshot's`() throws {
    var fleet = try Self.fleet {
      $0.statesLengthsAndHashes = false
      $0.consistentSnapshot = false
    }
    let old = fleet.mirror
    try fleet.publishNext()
    try fleet.refresh()
    #expect(
      try fleet.searchRefusal(of: "file", from: old) == .wrongVersion(role: "team", expected: version(2), actual: version(1)))
    #expect(try fleet.finder(of: "file") == "team")
  }

  @Test func `it expires at the very second that it states`() throws {
    var fleet = try Self.fleet { $0.delegated["team"]?.expires = Fleet.now.adding(days: 1) }
    let last = Fleet.now.adding(days: 1)
    #expect(try fleet.searchRefusal(of: "file", at: last) == .expired(role: "team", since: last, now: last))
    #expect(try fleet.finder(of: "file") == "team")
    // What was kept is no better.
    #expect(try fleet.searchRefusal(of: "file", at: last) == .expired(role: "team", since: last, now: last))
  }

  @Test func `a role that the snapshot does not list is refused, and the search did not end`() throws {
    var fleet = try Self.fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("ghost")
      publisher.delegated["team"]?.delegations = [SimulatedDelegation("ghost", keys: [key], paths: ["*"])]
    }
    #expect(try fleet.searchRefusal(of: "other") == .notInSnapshot(role: "ghost"))
    var search = try TargetSearch(for: target("other"), in: try fleet.device.manifest(), now: Fleet.now)
    for _ in 0..<2 {
      #expect(throws: VerificationError.notInSnapshot(role: "ghost")) {
        try search.supply(try #require(fleet.publisher.files["1.team.json"]))
      }
      #expect(search.request?.urlPath == "1.team.json", "a search that failed must not look like one that ended")
    }
  }

  @Test func `a role that the snapshot lists has to be there`() throws {
    var fleet = try Self.fleet()
    var mirror = fleet.mirror
    mirror.files["1.team.json"] = nil
    #expect(try fleet.searchRefusal(of: "file", from: mirror) == .unavailable(role: "team", urlPath: "1.team.json"))
    #expect(try fleet.searchRefusal(of: "file", from: mirror, mirror) == .unavailable(role: "team", urlPath: "1.team.json"))
    // Another mirror has it.
    let manifest = try fleet.device.manifest()
    #expect(try fleet.device.find(target("file"), in: manifest, from: [mirror, fleet.mirror], at: Fleet.now) != nil)
  }

  @Test func `FN 6: a key id that stands twice refuses it, even where the threshold is met`() throws {
    var fleet = try Self.fleet {
      let keys = $0.delegated["team"]?.keys ?? []
      $0.delegated["team"]?.signers = keys + keys
    }
    guard case .malformed(role: "team", .invalidValue(path: "signatures", _, _)) = try fleet.searchRefusal(of: "file") else {
      Issue.record("not refused for the key id")
      return
    }
  }

  @Test func `FN 7: one public key counts once, and FN 9: a threshold below 1 refuses the delegator`() throws {
    var fleet = try Self.fleet { (publisher) throws(SimulationError) in
      publisher.targets.delegations[0].threshold = 2
    }
    #expect(
      try fleet.searchRefusal(of: "file") == .thresholdNotMet(role: "team", signed: 1, threshold: 2, keyCount: 1, delegator: "targets"))
    try fleet.publisher.publishNext()
    fleet.publisher.targets.delegations[0].threshold = 0
    try fleet.publisher.publishNext()
    guard case .malformed(role: "targets", _) = fleet.refusal(fleet.mirror) else {
      Issue.record("a threshold of 0 was accepted")
      return
    }
  }

  @Test func `a newer version replaces what was kept, and an equal one is not fetched again`() throws {
    var fleet = try Self.fleet()
    #expect(try fleet.finder(of: "file") == "team")
    #expect(fleet.device.requests == ["1.team.json"])
    try fleet.publishNext()
    try fleet.refresh()
    #expect(try fleet.finder(of: "file") == "team")
    #expect(fleet.device.requests == ["2.team.json"])
    #expect(fleet.device.disk.files.values.contains(try #require(fleet.publisher.files["2.team.json"])))
    #expect(!fleet.device.disk.files.values.contains(try #require(fleet.publisher.files["1.team.json"])))
  }

  @Test func `kept metadata that was damaged is fetched again`() throws {
    var fleet = try Self.fleet()
    #expect(try fleet.finder(of: "file") == "team")
    let name = try #require(fleet.device.disk.files.first { $0.value == fleet.publisher.files["1.team.json"] }?.key)
    try fleet.device.disk.replace(name, with: Array("{".utf8))
    #expect(try fleet.finder(of: "file") == "team")
    #expect(fleet.device.disk[name] == fleet.publisher.files["1.team.json"])
  }
}

@Suite struct `FN 15, 21: names of delegated roles do no harm` {
  static let names: [String] = [
    "a/b", "../x", "..", ".", "#", "a b", "ä☃🔒", "%2F", "Root", "root.json", "07.root", String(repeating: "n", count: 300), "a?b", "a\\b",
  ]

  @Test(arguments: names, [true, false]) func `they are one name in a URL and on the disk`(name: String, consistent: Bool) throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      publisher.consistentSnapshot = consistent
      let key = try publisher.key("team")
      publisher.targets.delegations = [SimulatedDelegation(ByteString(name), keys: [key], paths: ["*"])]
      publisher.addRole(ByteString(name), keys: [key], files: ["file"])
    }
    let root = fleet.device.disk["root.json"]
    #expect(try fleet.finder(of: "file") == name)
    let path = try #require(fleet.device.requests.first)
    #expect(fleet.device.requests.count == 1)
    #expect(path.utf8.allSatisfy { !Array("/#?\\ \n".utf8).contains($0) && $0 < 0x80 }, "\(path)")
    #expect(path.hasPrefix("1.") == consistent)
    for stored in fleet.device.disk.files.keys { #expect(stored.utf8.count <= 69) }
    #expect(fleet.device.disk["root.json"] == root)
    #expect(try fleet.refresh() == [1, 1, 1, 1])
  }

  @Test(arguments: ["root", "timestamp", "snapshot", "targets", ""] as [ByteString])
  func `that of a top-level role, or none, refuses the delegator`(name: ByteString) throws {
    var fleet = try Fleet()
    let key = try fleet.publisher.key("team")
    fleet.publisher.targets.delegations = [SimulatedDelegation(name, keys: [key], paths: ["*"])]
    try fleet.publishNext()
    guard case .malformed(role: "targets", _) = fleet.refusal(fleet.mirror) else {
      Issue.record("accepted")
      return
    }
    #expect(try fleet.device.manifest().targets.payload.version == version(1))
  }
}

@Suite struct `Hash bins` {
  /// `count` bins that share the paths out by the first digits of their hashes, one key for all.
  static func fleet(digits: Int, filled: Int) throws -> (Fleet, [String]) {
    let count = 1 << (4 * digits)
    let files = (0..<filled).map { "org/model-\($0)/weights.gguf" }
    let fleet = try Fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("bins")
      let prefixes = (0..<count).map { number in
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.utf8.count) + text
      }
      publisher.targets.delegations = prefixes.map {
        SimulatedDelegation(ByteString("bin-" + $0), keys: [key], scope: .pathHashPrefixes([ByteString($0)]), isTerminating: true)
      }
      for prefix in prefixes { publisher.addRole(ByteString("bin-" + prefix), keys: [key]) }
      for file in files {
        let prefix = digest(file).prefix(digits)
        publisher.delegated[ByteString("bin-" + prefix)]?.targets[target(file)] = SimulatedPublisher.file(file)
      }
    }
    return (fleet, files)
  }

  @Test func `each file is found in its bin, after one request`() throws {
    var (fleet, files) = try Self.fleet(digits: 1, filled: 40)
    for file in files {
      #expect(try fleet.finder(of: file) == "bin-" + digest(file).prefix(1))
      #expect(fleet.device.requests.count <= 1)
    }
    #expect(try fleet.finding(of: "org/none") == nil)
    #expect(fleet.device.requests.count <= 1)
  }
  /// Bins of four prefixes each, and as many roles of one pattern each; the roles themselves are there as far as they are asked for.
  /// A search that held every role against every other would not come to its end in the time that a test has.
  @Test(.timeLimit(.minutes(3))) func `sixteen thousand delegations are looked through once for each target`() throws {
    let files = (0..<5).map { "org/model-\($0)/weights.gguf" }
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("bins")
      func name(_ bin: Int) -> ByteString { ByteString("bin-\(bin)") }
      publisher.targets.delegations = (0..<16_384).flatMap { bin in
        [
          SimulatedDelegation(ByteString("none-\(bin)"), keys: [key], paths: ["org/none-\(bin)/*", "none-[0-9]*/*.gguf"]),
          SimulatedDelegation(
            name(bin), keys: [key],
            scope: .pathHashPrefixes((4 * bin..<4 * bin + 4).map { ByteString(String($0 + 65_536, radix: 16).dropFirst()) })),
        ]
      }
      for file in files {
        let bin = name((Int(digest(file).prefix(4), radix: 16) ?? 0) / 4)
        if publisher.delegated[bin] == nil { publisher.addRole(bin, keys: [key]) }
        publisher.delegated[bin]?.targets[target(file)] = SimulatedPublisher.file(file)
      }
    }
    let manifest = try fleet.device.manifest()
    let mirror = fleet.mirror
    for file in files {
      #expect(try fleet.device.find(target(file), in: manifest, from: [mirror], at: Fleet.now)?.file == SimulatedPublisher.file(file))
    }
  }
}
