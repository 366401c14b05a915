import Foundation
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing

@Suite struct `No single flipped bit is accepted with changed meaning` {
  /// What is signed, as bytes: what the signatures are over.
  static func signed(_ file: [UInt8]) throws -> [UInt8] {
    try #require(JSONDocument(parsing: file).root.member("signed")).canonicalBytes
  }

  /// Flips each bit of a file in turn and offers the result.
  /// - Parameter offer: what a device then trusts; throws where it refuses.
  static func flipAll(_ file: [UInt8], _ offer: ([UInt8]) throws -> [UInt8]) throws {
    let meaning = try signed(file)
    var accepted = 0
    for index in file.indices {
      for bit in 0..<8 {
        var flipped = file
        flipped[index] ^= 1 << UInt8(bit)
        guard let trusted = try? offer(flipped) else { continue }
        accepted += 1
        if try signed(trusted) != meaning { Issue.record("bit \(bit) of byte \(index) is accepted and says something else") }
      }
    }
    // A flip in white space, or in what is not signed, may leave the meaning as it is: few do.
    #expect(accepted < file.count)
  }

  /// Versions alone are stated, so that only signatures stand between a flip and the device. A signature beyond the threshold and
  /// an unsigned note give flips that change nothing a place.
  static let repository = FixtureRepository {
    $0.statesLengthsAndHashes = false
    let edit: FixtureRepository.Edit = { $0["note"] = .text("unsigned") }
    $0.root.keys.append(FixtureKey(71))
    ($0.root.editFile, $0.timestamp.editFile, $0.snapshot.editFile, $0.targets.editFile) = (edit, edit, edit, edit)
  }

  @Test func `of a root that is the anchor`() throws {
    try Self.flipAll(Self.repository.anchor) { try Trusted<Root>(selfSigned: $0).bytes }
  }

  @Test func `of a root that is the next one`() throws {
    var repository = Self.repository
    repository.rotate { _ in }
    let first = try Trusted<Root>(selfSigned: repository.anchor)
    try Self.flipAll(repository["2.root.json"]) { try first.successor($0).bytes }
  }

  @Test(arguments: ["timestamp.json", "1.snapshot.json", "1.targets.json"]) func `of a file that only its signatures protect`(name: String)
    throws
  {
    let before = ["timestamp.json", "1.snapshot.json", "1.targets.json"].prefix { $0 != name }
    let stored = StoredMetadata(roots: [Self.repository.anchor])
    var workflow = try ClientWorkflow(anchor: Self.repository.anchor, stored: stored, now: FixtureRepository.now)
    _ = try workflow.supplyNotAvailable()
    for earlier in before { _ = try workflow.supply(Self.repository[earlier]) }
    let start = workflow
    try Self.flipAll(Self.repository[name]) { flipped in
      var workflow = start
      guard case .metadata(_, let bytes, _) = try workflow.supply(flipped).first else { return [] }
      return bytes
    }
  }

  @Test(arguments: ["1.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json"]) func `of a file of the worked example`(
    name: String
  ) throws {
    func file(_ name: String) throws -> [UInt8] {
      try Array(Data(contentsOf: packageRoot.appending(path: "manifests/metadata/" + name)))
    }
    let anchor = try file("1.root.json")
    guard name != "1.root.json" else { return try Self.flipAll(anchor) { try Trusted<Root>(selfSigned: $0).bytes } }
    var start = try ClientWorkflow(
      anchor: anchor, stored: StoredMetadata(roots: [anchor]), now: UTCTime(known: "2027-01-01T00:00:00Z"))
    _ = try start.supplyNotAvailable()
    for earlier in ["timestamp.json", "1.snapshot.json", "1.targets.json"].prefix(while: { $0 != name }) {
      _ = try start.supply(file(earlier))
    }
    let whole = start
    try Self.flipAll(file(name)) { flipped in
      var workflow = whole
      guard case .metadata(_, let bytes, _) = try workflow.supply(flipped).first else { return [] }
      return bytes
    }
  }

  @Test(arguments: ["1.snapshot.json", "1.targets.json"]) func `of a file whose hash is signed: none is accepted at all`(name: String)
    throws
  {
    let repository = FixtureRepository()
    var start = try ClientWorkflow(anchor: repository.anchor, stored: .init(), now: FixtureRepository.now)
    _ = try start.supplyNotAvailable()
    _ = try start.supply(repository["timestamp.json"])
    if name == "1.targets.json" { _ = try start.supply(repository["1.snapshot.json"]) }
    let file = repository[name]
    for index in file.indices {
      for bit in 0..<8 {
        var (workflow, flipped) = (start, file)
        flipped[index] ^= 1 << UInt8(bit)
        if (try? workflow.supply(flipped)) != nil { Issue.record("bit \(bit) of byte \(index) is accepted") }
      }
    }
  }
}
