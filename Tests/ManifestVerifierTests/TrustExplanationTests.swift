import FileIO
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing

@Suite struct `An explanation follows trust link by link and names the first that fails` {
  let folder: TemporaryFolder
  let device: Device
  let delegated: [ByteString: [UInt8]]

  init() throws {
    folder = try TemporaryFolder()
    var repository = FixtureRepository()
    repository.delegate(to: [
      FixtureDelegation("a", key: 10, paths: ["a/*"]) { $0.delegations = [FixtureDelegation("b", key: 11, paths: ["a/*"], files: ["a/1"])] }
    ])
    repository.rotate { $0.root.keys = [FixtureKey(1), FixtureKey(60)] }
    device = try Device(refreshedFrom: repository)
    delegated = try WalkResult(repository).kept
  }

  func explain(
    _ path: String, _ content: String?, change: (inout Device) -> Void = { _ in }, delegated: [ByteString: [UInt8]]? = nil
  ) throws -> TrustExplanation {
    var device = device
    change(&device)
    let files = delegated ?? self.delegated
    var explanation = TrustExplanation(of: try TargetPath(path), anchor: device.anchor, stored: device.stored) { files[$0] }
    if let content { try folder.write(content, to: "file") }
    explanation.examine(folder("file"))
    return explanation
  }

  static func roles(_ explanation: TrustExplanation) -> [String] { explanation.links.map { $0.role.name.description } }

  @Test func `a file of the top-level targets`() throws {
    let explanation = try explain("org/model/weights.gguf", "weights")
    #expect(explanation.isTrusted && explanation.failure == nil && explanation.file == .holds && explanation.found == nil)
    #expect(Self.roles(explanation) == ["root", "root", "timestamp", "snapshot", "targets"])
    #expect(explanation.links.map { $0.version?.number } == [1, 2, 1, 1, 1])
    #expect(explanation.links.allSatisfy { $0.verdict == .holds && $0.expires == UTCTime(known: "2031-01-01T00:00:00Z") })
    // A later root is signed for by the one before it and by itself.
    let second = explanation.links[1].endorsements
    #expect(second.map(\.delegator) == ["root version 1", "itself"])
    #expect(second.map { $0.keys.keyIDs.count } == [1, 2] && second.map { $0.signers.count } == [1, 2])
    #expect(explanation.links[4].endorsements.map(\.signers) == [[FixtureKey(4).id]])
    #expect(explanation.links[4].endorsements.map(\.delegator) == ["root version 2"])
  }

  @Test func `a file of a delegated role, through each delegator`() throws {
    let explanation = try explain("a/1", "a/1")
    #expect(explanation.isTrusted)
    #expect(Self.roles(explanation).suffix(3) == ["targets", "a", "b"])
    #expect(explanation.links.suffix(2).flatMap(\.endorsements).map(\.delegator) == ["targets", "a"])
  }

  @Test func `a file that differs, is missing, or that nobody lists`() throws {
    let longer = try explain("a/1", "a/1 ")
    #expect(longer.failure == .wrongLength(path: folder("file"), expected: 3, actual: 4))
    #expect(try longer.found?.get().byteCount == 4 && !longer.isTrusted && longer.links.allSatisfy { $0.verdict == .holds })
    let changed = try explain("a/1", "a/2")
    guard case .wrongDigest = changed.failure else {
      Issue.record("\(String(describing: changed.failure))")
      return
    }
    let unlisted = try explain("a/2", "a/2")
    #expect(unlisted.failure == .notListed(path: try TargetPath("a/2")) && unlisted.listed == nil)
    #expect(unlisted.searched == ["a", "b"], "where it was looked for is told")
    #expect(try unlisted.found?.get().byteCount == 3)
    var missing = TrustExplanation(of: try TargetPath("a/1"), anchor: device.anchor, stored: device.stored) { [delegated] in delegated[$0] }
    #expect(!missing.isTrusted && missing.failure == nil)
    missing.examine(folder("none"))
    #expect(missing.failure == .file(.system(.read, path: folder("none"), .notFound)))
  }

  static let faults: [(index: Int, change: @Sendable (inout Device) -> Void)] = [
    (0, { $0.anchor[$0.anchor.count / 2] ^= 1 }), (1, { $0.stored.roots[0][200] ^= 1 }), (2, { $0.stored.timestamp = nil }),
    (3, { $0.stored.snapshot = [0x7B] }), (4, { $0.stored.targets?[100] ^= 1 }),
  ]

  @Test(arguments: 0..<5) func `one damaged role fails, what leads to it holds, and the rest is not reached`(fault: Int) throws {
    let explanation = try explain("org/model/weights.gguf", "weights", change: Self.faults[fault].change)
    let index = Self.faults[fault].index
    #expect(!explanation.isTrusted && explanation.failure != nil && explanation.file == .notReached)
    for (position, link) in explanation.links.enumerated() {
      switch link.verdict {
      case .holds: #expect(position < index)
      case .fails(let error): #expect(position == index && explanation.failure == error)
      case .notReached: #expect(position > index && link.endorsements.isEmpty)
      }
    }
    #expect(
      Self.roles(explanation) == (index == 0 ? [] : ["root"]) + ["root", "timestamp", "snapshot", "targets"])
    // What the file is can be told all the same.
    #expect(try explanation.found?.get().byteCount == 7)
  }

  @Test func `a delegated role that is damaged or not kept`() throws {
    var files = delegated
    files["b"] = nil
    let missing = try explain("a/1", "a/1", delegated: files)
    #expect(missing.failure == .notKept(role: "b") && Self.roles(missing).suffix(3) == ["targets", "a", "b"])
    #expect(missing.links.map(\.verdict).suffix(2) == [.holds, .fails(.notKept(role: "b"))])
    files = delegated
    files["a"]?[150] ^= 1
    let damaged = try explain("a/1", "a/1", delegated: files)
    guard case .damagedState("a", _) = damaged.failure else {
      Issue.record("\(String(describing: damaged.failure))")
      return
    }
    #expect(Self.roles(damaged).last == "a")
    // What does not come by it is trusted.
    #expect(try explain("org/model/weights.gguf", "weights", delegated: files).isTrusted)
  }

  @Test func `only what an explanation shows of a kept file that is not verified is what that says of itself`() throws {
    let explanation = try explain("org/model/weights.gguf", "weights") { $0.stored.timestamp = nil }
    #expect(explanation.links.map { $0.version?.number } == [1, 2, nil, 1, 1])
  }
}
