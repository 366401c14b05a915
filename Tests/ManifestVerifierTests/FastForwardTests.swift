import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `FN 5: a key that is taken away lets a device recover from a fast-forward attack` {
  /// A repository whose timestamp, snapshot and the targets' entry were driven to high versions by a thief, and a device that has them.
  static func attacked() throws -> (FixtureRepository, Device) {
    var repository = FixtureRepository()
    let before = (repository.targets, repository.snapshot, repository.timestamp)
    repository.targets.version = 1_000_000
    repository.snapshot.version = 1_000_000
    repository.timestamp.version = 1_000_000
    repository.publish()
    let device = try Device(refreshedFrom: repository)
    (repository.targets, repository.snapshot, repository.timestamp) = before
    return (repository, device)
  }

  @Test(arguments: ["timestamp", "snapshot"]) func `the key of either role, once taken away, supersedes both files`(role: String) throws {
    var (repository, device) = try Self.attacked()
    repository.rotate { if role == "timestamp" { $0.timestamp.keys = [FixtureKey(40)] } else { $0.snapshot.keys = [FixtureKey(40)] } }
    repository.publish()
    #expect(try device.refresh(repository).versions == [2, 1, 1, 1])
    #expect(device.changes.names == ["root 2", "supersede", "timestamp under 2", "snapshot under 2", "targets under 2"])
  }

  @Test func `without a key taken away the device stays where it was driven to`() throws {
    var (repository, device) = try Self.attacked()
    repository.rotate { $0.targets.keys = [FixtureKey(40)] }
    repository.publish()
    let (trusted, offered) = (Version(known: 1_000_000), Version(known: 1))
    #expect(device.refusal(repository) == .rolledBack(role: "timestamp", trusted: trusted, offered: offered))
  }

  @Test func `a key that is only added supersedes nothing`() throws {
    var (repository, device) = try Self.attacked()
    repository.rotate {
      $0.timestamp.keys.append(FixtureKey(40))
      $0.snapshot.keys.append(FixtureKey(41))
    }
    repository.publish()
    let (trusted, offered) = (Version(known: 1_000_000), Version(known: 1))
    #expect(device.refusal(repository) == .rolledBack(role: "timestamp", trusted: trusted, offered: offered))
    #expect(device.changes.names == ["root 2"])
    #expect(device.stored.timestamp != nil && device.stored.snapshot != nil)
  }

  @Test func `the same key under another id is not taken away`() throws {
    var (repository, device) = try Self.attacked()
    repository.rotate { $0.timestamp.keys = [FixtureKey(2, note: "renamed")] }
    repository.publish()
    #expect(device.refusal(repository) != nil)
    #expect(device.changes.names == ["root 2"])
  }

  @Test func `a key that is taken away and given back within one walk still discards`() throws {
    var (repository, device) = try Self.attacked()
    let keys = repository.timestamp.keys
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    repository.rotate { $0.timestamp.keys = keys }
    repository.publish()
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
  }

  @Test(arguments: [1, 2]) func `a crash between the root and the discarding loses nothing`(kept: Int) throws {
    var (repository, device) = try Self.attacked()
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    repository.rotate { _ in }
    repository.publish()
    #expect(throws: Device.Crash.self) { try device.refresh(repository, lastChange: kept) }
    #expect(device.stored.verifiedUnderRoot == .first && device.stored.timestamp != nil)
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
    #expect(device.changes.names.contains("supersede"))
  }

  @Test func `keys are compared with the root that the cache was verified under and not with the anchor`() throws {
    // A rotation long ago, after which the device has refreshed, is none now: rollback protection holds.
    var repository = FixtureRepository()
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    repository.timestamp.version = 9
    repository.publish()
    var device = try Device(refreshedFrom: repository)
    #expect(device.stored.verifiedUnderRoot == Version(2))
    repository.timestamp.version = 8
    repository.publish()
    #expect(device.refusal(repository) == .rolledBack(role: "timestamp", trusted: Version(known: 9), offered: Version(known: 8)))
    #expect(device.changes.isEmpty)
  }

  @Test func `an expired root does not discard, and the discarding comes with the next one`() throws {
    var (repository, device) = try Self.attacked()
    repository.rotate {
      $0.timestamp.keys = [FixtureKey(40)]
      $0.root.expires = "2029-01-01T00:00:00Z"
    }
    #expect(device.refusal(repository) != nil)
    #expect(device.changes.names == ["root 2"])
    repository.rotate { $0.root.expires = "2031-01-01T00:00:00Z" }
    repository.publish()
    #expect(try device.refresh(repository).versions == [3, 1, 1, 1])
  }

  @Test func `after the discarding older versions are not accepted again once newer ones were seen`() throws {
    var (repository, device) = try Self.attacked()
    repository.rotate { $0.timestamp.keys = [FixtureKey(40)] }
    repository.publish()
    let older = repository
    repository.publishNext()
    try device.refresh(repository)
    #expect(device.refusal(older) == .rolledBack(role: "timestamp", trusted: Version(known: 2), offered: .first))
  }
}
