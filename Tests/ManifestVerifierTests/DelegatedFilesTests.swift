import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing

@Suite struct `One walk tells of every delegated file what a search for it would find` {
  /// A tree of delegations at random: patterns that overlap, terminating roles, roles that two others delegate to, circles, keys that do not fit.
  static func delegations(_ random: inout SeededGenerator, depth: Int, _ names: inout [ByteString]) -> [FixtureDelegation] {
    // Metadata lists a role once.
    var here: Set<ByteString> = []
    return (0..<Int.random(in: 1...3, using: &random)).map { _ in
      let known = Int.random(in: 0..<4, using: &random) == 0 ? names.filter { !here.contains($0) }.randomElement(using: &random) : nil
      let isKnown = known != nil
      let name = known ?? ByteString("role \(names.count)")
      here.insert(name)
      let patterns = ["*", "a/*", "b/*", "a/?", "b/[12]", "c/*"]
      let files = (0..<4).map { _ in "\(["a", "b", "c"].randomElement(using: &random) ?? "a")/\(Int.random(in: 1...4, using: &random))" }
      return FixtureDelegation(name, key: Int.random(in: 0..<8, using: &random) == 0 ? 21 : 20) {
        $0.paths = (0..<2).map { _ in patterns.randomElement(using: &random) ?? "*" }
        $0.isTerminating = Int.random(in: 0..<4, using: &random) == 0
        $0.isPublished = !isKnown
        guard !isKnown else { return }
        names.append(name)
        $0.signers = [FixtureKey(20)]
        for file in files { $0.entries[ByteString(file)] = FixtureRepository.entry(of: Array("\(name)\(file)".utf8)) }
        if depth > 0 { $0.delegations = delegations(&random, depth: depth - 1, &names) }
      }
    }
  }

  /// What a search finds, in words.
  static func words(_ body: () throws(VerificationError) -> TargetFile?) -> String {
    do throws(VerificationError) { return try body().map { "listed as \($0.hashes.sha256)" } ?? "not listed" } catch { return "\(error)" }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>) func `in trees of every shape`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var names: [ByteString] = []
    var repository = FixtureRepository()
    repository.delegate(to: Self.delegations(&random, depth: 3, &names), omittingFromSnapshot: seed % 5 == 0 ? Set(names.suffix(1)) : [])
    var files = try WalkResult(repository).kept
    if seed % 3 == 0, let lost = names.randomElement(using: &random) { files[lost] = nil }
    let device = try Device(refreshedFrom: repository)
    for limit in [32, 3] {
      var limits = VerificationLimits()
      limits.delegationCount = limit
      var kept = try KeptManifest(anchor: device.anchor, stored: device.stored, limits: limits)
      try kept.readAll { files[$0] }
      let walk = kept.delegatedFiles()
      var told: [TargetPath: String] = [:]
      walk.visit { path, result in
        #expect(told.updateValue(Self.words(result.get), forKey: path) == nil, "\(path) is told once")
      }
      for path in ["a", "b", "c"].flatMap({ folder in (1...5).map { "\(folder)/\($0)" } }) {
        let path = try TargetPath(path)
        let searched = Self.words { () throws(VerificationError) in try kept.find(path).finding?.file }
        if let words = told[path] {
          #expect(words == searched, "\(path), seed \(seed)")
          #expect(walk.tells(of: path))
        } else {
          // Listed by nobody who may; or by nobody at all, of which only a search can tell that a role on its way is not trusted.
          #expect(searched == "not listed" || !kept.refusals.isEmpty || limit == 3, "\(path), seed \(seed)")
          #expect(!walk.tells(of: path))
        }
      }
    }
  }
}
