import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

/// What a walk over a repository did.
struct WalkResult {
  var requests: [String] = []
  var kept: [ByteString: [UInt8]] = [:]
  var refusals: [DelegationWalk.Refusal] = []

  /// Walks over what a fresh device trusts of a repository.
  init(_ repository: FixtureRepository, keeping kept: [ByteString: [UInt8]] = [:], limits: VerificationLimits = .init()) throws {
    self.kept = kept
    var device = Device(repository)
    var walk = try DelegationWalk(over: device.refresh(repository), now: FixtureRepository.now, limits: limits)
    while let request = walk.request {
      if let bytes = self.kept[request.role.name], walk.offerKept(bytes) { continue }
      requests.append(request.urlPath)
      do throws(VerificationError) {
        guard let bytes = repository.files[request.urlPath] else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
        for change in try walk.supply(bytes) {
          guard case .metadata(let role, let bytes, _) = change else { continue }
          self.kept[role.name] = bytes
        }
      } catch {
        if case .tooManyDelegations = error { throw error }
        try walk.skip(for: error)
      }
    }
    refusals = walk.refusals
  }
}

@Suite struct `A walk takes over every delegated role that can be reached` {
  static let nested = FixtureDelegation("a", key: 10, paths: ["a/*"]) {
    $0.delegations = [FixtureDelegation("b/ä", key: 11, paths: ["b/*"], files: ["b/1"]), FixtureDelegation("c", key: 12)]
  }

  @Test func `and asks for nothing where nothing is delegated`() throws {
    let result = try WalkResult(FixtureRepository())
    #expect(result.requests.isEmpty && result.refusals.isEmpty)
  }

  @Test(arguments: [true, false]) func `each once, whatever paths it is trusted with`(consistent: Bool) throws {
    var repository = FixtureRepository { $0.consistentSnapshot = consistent }
    repository.delegate(to: [Self.nested, FixtureDelegation("d", key: 13) { $0.version = 7 }])
    let result = try WalkResult(repository)
    let prefix = consistent ? "1." : ""
    #expect(result.requests == ["\(prefix)a.json", "\(prefix)b%2F%C3%A4.json", "\(prefix)c.json", consistent ? "7.d.json" : "d.json"])
    #expect(result.kept["b/ä"] == repository["\(prefix)b%2F%C3%A4.json"])
    #expect(result.refusals.isEmpty)
    let again = try WalkResult(repository, keeping: result.kept)
    #expect(again.requests.isEmpty && again.kept == result.kept)
  }

  @Test func `a role that two others delegate to is held against each`() throws {
    let shared = FixtureDelegation("shared", key: 20)
    let second = FixtureDelegation("shared", key: 21) { $0.isPublished = false }
    var repository = FixtureRepository()
    repository.delegate(to: [
      FixtureDelegation("a", key: 10) { $0.delegations = [shared] }, FixtureDelegation("b", key: 11) { $0.delegations = [second] },
    ])
    let result = try WalkResult(repository)
    let error = VerificationError.thresholdNotMet(role: "shared", signed: 0, threshold: 1, keyCount: 1, delegator: "b")
    #expect(result.refusals.map(\.error) == [error] && result.refusals.map(\.delegator) == ["b"])
    #expect(result.kept.keys.sorted() == ["a", "b", "shared"])
  }

  @Test func `a role that is refused hinders no other, and only what it leads to is not reached`() throws {
    let bad = FixtureDelegation("bad", key: 30) {
      $0.signers = [FixtureKey(31)]
      $0.delegations = [FixtureDelegation("below", key: 32)]
    }
    let expired = FixtureDelegation("expired", key: 33) { $0.expires = "2029-12-31T23:59:59Z" }
    let unlisted = FixtureDelegation("unlisted", key: 34)
    let absent = FixtureDelegation("absent", key: 35)
    var repository = FixtureRepository()
    repository.delegate(to: [bad, expired, unlisted, absent, FixtureDelegation("good", key: 36)], omittingFromSnapshot: ["unlisted"])
    repository.remove("1.absent.json")
    let result = try WalkResult(repository)
    #expect(result.kept.keys.sorted() == ["good"])
    #expect(
      result.refusals.map(\.error) == [
        .thresholdNotMet(role: "bad", signed: 0, threshold: 1, keyCount: 1, delegator: "targets"),
        .expired(role: "expired", since: UTCTime(known: "2029-12-31T23:59:59Z"), now: FixtureRepository.now),
        .notInSnapshot(role: "unlisted"), .unavailable(role: "absent", urlPath: "1.absent.json"),
      ])
  }

  @Test func `a file that is not the one that the snapshot describes`() throws {
    var repository = FixtureRepository()
    let role = FixtureDelegation("a", key: 10)
    repository.delegate(to: [role])
    let good = repository["1.a.json"]
    repository["1.a.json"] = Array(good.dropLast())
    guard case .wrongMetadataLength = try WalkResult(repository).refusals.first?.error else {
      Issue.record("length")
      return
    }
    repository["1.a.json"] = [UInt8](repeating: 0x20, count: good.count)
    guard case .wrongMetadataDigest = try WalkResult(repository).refusals.first?.error else {
      Issue.record("digest before any parsing")
      return
    }
    var other = repository
    other.delegate(to: [FixtureDelegation("a", key: 10) { $0.version = 2 }])
    let newer = other["2.a.json"]
    repository.snapshot.editSigned = { $0["meta", "a.json"] = .object(["version": .integer(1)]) }
    repository.publish()
    repository["1.a.json"] = newer
    let error = VerificationError.wrongVersion(role: "a", expected: Version(known: 1), actual: Version(known: 2))
    #expect(try WalkResult(repository).refusals.map(\.error) == [error])
  }

  @Test func `delegations in a circle end`() throws {
    let back = FixtureDelegation("a", key: 10) { $0.isPublished = false }
    var repository = FixtureRepository()
    repository.delegate(to: [
      FixtureDelegation("a", key: 10) { $0.delegations = [FixtureDelegation("b", key: 11) { $0.delegations = [back] }] }
    ])
    let result = try WalkResult(repository)
    #expect(result.requests == ["1.a.json", "1.b.json"] && result.refusals.isEmpty)
  }

  @Test func `more delegations than are allowed end it`() throws {
    var repository = FixtureRepository()
    repository.delegate(to: [Self.nested])
    var limits = VerificationLimits()
    limits.walkedDelegationCount = 3
    #expect(try WalkResult(repository, limits: limits).kept.count == 3)
    limits.walkedDelegationCount = 2
    #expect(throws: VerificationError.tooManyDelegations(limit: 2)) { try WalkResult(repository, limits: limits) }
  }
}

@Suite struct `What is kept of delegated roles counts where a search comes to it` {
  /// What a device that walked over a repository has kept.
  static func kept(_ repository: FixtureRepository, _ files: [ByteString: [UInt8]]) throws -> KeptManifest {
    let device = try Device(refreshedFrom: repository)
    var kept = try KeptManifest(anchor: device.anchor, stored: device.stored)
    try kept.readAll { files[$0] }
    return kept
  }

  static func delegated(_ kept: KeptManifest) -> [String: String] {
    var files: [String: String] = [:]
    kept.delegatedFiles().visit { path, result in
      switch result {
      case .success: files[path.description] = "listed"
      case .failure(let error): files[path.description] = error.description
      }
    }
    return files
  }

  static var repository: FixtureRepository {
    var repository = FixtureRepository()
    repository.delegate(to: [
      FixtureDelegation("a", key: 10, paths: ["a/*"], files: ["a/1", "a/2", "b/stray", "org/model/weights.gguf"]) {
        $0.isTerminating = true
      },
      FixtureDelegation("late", key: 11, paths: ["*/*"], files: ["a/hidden", "b/1"]),
    ])
    return repository
  }

  @Test func `and not where it is listed without being trusted with, or behind a terminating role`() throws {
    let kept = try Self.kept(Self.repository, WalkResult(Self.repository).kept)
    #expect(Self.delegated(kept) == ["a/1": "listed", "a/2": "listed", "b/1": "listed"])
    var searched = kept
    let found = try searched.find(TargetPath("b/1"))
    #expect(found.finding?.chain.map(\.role) == [.targets, .delegated("late")])
    #expect(found.finding?.file.byteCount == 3)
    #expect(try searched.find(TargetPath("a/hidden")).finding == nil)
    #expect(try searched.find(TargetPath("org/model/weights.gguf")).finding?.chain.count == 1)
  }

  @Test func `a role of which nothing is kept, or damage, hides only what a search comes to through it`() throws {
    var files = try WalkResult(Self.repository).kept
    files["a"] = nil
    var kept = try Self.kept(Self.repository, files)
    #expect(kept.refusals.map(\.error) == [.notKept(role: "a")] && kept.refusals.map(\.delegator) == ["targets"])
    #expect(throws: VerificationError.notKept(role: "a")) { try kept.find(TargetPath("a/1")) }
    #expect(try kept.find(TargetPath("b/1")).finding != nil)
    #expect(Self.delegated(kept)["a/hidden"] == VerificationError.notKept(role: "a").description)
    files["a"] = [UInt8](repeating: 0x20, count: 10)
    kept = try Self.kept(Self.repository, files)
    guard case .damagedState("a", _) = #expect(throws: VerificationError.self, performing: { try kept.find(TargetPath("a/1")) }) else {
      Issue.record("damage")
      return
    }
  }

  @Test func `what is older than the snapshot says is used, what another key signed is not`() throws {
    let files = try WalkResult(Self.repository).kept
    var newer = Self.repository
    newer.publishNext()
    newer.delegate(to: [
      FixtureDelegation("a", key: 10, paths: ["a/*"], files: ["a/3"]) { $0.version = 2 },
      FixtureDelegation("late", key: 19, paths: ["*/*"], files: ["b/1"]) { $0.version = 2 },
    ])
    var kept = try Self.kept(newer, files)
    #expect(try kept.find(TargetPath("a/1")).finding != nil)
    let withdrawn = VerificationError.thresholdNotMet(role: "late", signed: 0, threshold: 1, keyCount: 1, delegator: "targets")
    #expect(throws: withdrawn) { try kept.find(TargetPath("b/1")) }
  }

  @Test func `a search goes round a circle once and visits a bounded number of roles`() throws {
    let back = FixtureDelegation("a", key: 10) { $0.isPublished = false }
    var repository = FixtureRepository()
    let b = FixtureDelegation("b", key: 11) { $0.delegations = [back, FixtureDelegation("c", key: 12, files: ["x"])] }
    repository.delegate(to: [FixtureDelegation("a", key: 10) { $0.delegations = [b] }])
    let files = try WalkResult(repository).kept
    let device = try Device(refreshedFrom: repository)
    var limits = VerificationLimits()
    limits.delegationCount = 3
    var kept = try KeptManifest(anchor: device.anchor, stored: device.stored, limits: limits)
    let found = try kept.find(TargetPath("x")) { files[$0] }
    #expect(found.finding?.chain.count == 4 && found.visited == ["a", "b", "c"])
    limits.delegationCount = 2
    kept = try KeptManifest(anchor: device.anchor, stored: device.stored, limits: limits)
    #expect(throws: VerificationError.tooManyDelegations(limit: 2)) { try kept.find(TargetPath("x")) { files[$0] } }
  }

  @Test func `what has expired is used, and told of the roles that a search came by`() throws {
    let now = UTCTime(known: "2030-07-01T00:00:00Z")
    var repository = FixtureRepository()
    repository.delegate(to: [
      FixtureDelegation("short", key: 10, paths: ["a/*"], files: ["a/1"]) { $0.expires = "2030-06-01T00:00:00Z" },
      FixtureDelegation("long", key: 11, paths: ["b/*"], files: ["b/1"]),
    ])
    var kept = try Self.kept(repository, WalkResult(repository).kept)
    let visited = try kept.find(TargetPath("a/1")).visited
    #expect(visited == ["short"])
    #expect(kept.expired(at: now, visiting: visited).map(\.role) == [.delegated("short")])
    #expect(try kept.expired(at: now, visiting: kept.find(TargetPath("b/1")).visited).isEmpty)
    #expect(kept.expired(at: now, visiting: nil).count == 1)
    #expect(kept.expired(at: FixtureRepository.now, visiting: nil).isEmpty)
  }
}
