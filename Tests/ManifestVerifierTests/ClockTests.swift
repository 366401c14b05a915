import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

@Suite struct `A clock that was set back is noticed` {
  static let day: Int64 = 86_400

  static func time(_ seconds: Int64) -> UTCTime {
    guard let time = UTCTime(secondsSince1970: FixtureRepository.now.secondsSince1970 + seconds) else { preconditionFailure("no time") }
    return time
  }

  @Test(arguments: [(-day, true), (-day - 1, false), (-1, true), (0, true), (100 * day, true)])
  func `a time more than a day before the newest refresh is refused`(seconds: Int64, isAccepted: Bool) throws {
    let repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    #expect(device.stored.newestRefresh == FixtureRepository.now)
    let now = Self.time(seconds)
    let expected = isAccepted ? nil : VerificationError.clockSetBack(newest: FixtureRepository.now, now: now)
    #expect(device.refusal(repository, at: now) == expected)
    // What is remembered never goes back, however often the clock does so by a little.
    #expect(device.stored.newestRefresh == max(FixtureRepository.now, now))
  }

  @Test func `a refresh that fails is not remembered, whatever role it fails at`() throws {
    let future = Self.time(300 * Self.day)
    for role in ["root", "timestamp", "snapshot", "targets"] {
      var repository = FixtureRepository {
        let expires = "2030-06-01T00:00:00Z"
        switch role {
        case "root": $0.root.expires = expires
        case "timestamp": $0.timestamp.expires = expires
        case "snapshot": $0.snapshot.expires = expires
        default: $0.targets.expires = expires
        }
      }
      var device = Device(repository)
      #expect(
        device.refusal(repository, at: future)
          == .expired(role: ByteString(role), since: UTCTime(known: "2030-06-01T00:00:00Z"), now: future))
      #expect(device.stored.newestRefresh == nil)
      // The clock is set right, and nothing stands in the way.
      #expect(device.refusal(repository) == nil)
      repository.remove("timestamp.json")
      #expect(device.refusal(repository, at: Self.time(1)) != nil)
      #expect(device.stored.newestRefresh == FixtureRepository.now)
    }
  }

  @Test func `a clock that was ahead locks out no longer than a timestamp lives`() throws {
    let repository = FixtureRepository { $0.timestamp.expires = "2030-01-15T00:00:00Z" }
    var device = Device(repository)
    #expect(device.refusal(repository, at: UTCTime(known: "2030-01-15T00:00:00Z")) != nil)
    #expect(device.refusal(repository, at: UTCTime(known: "2030-01-14T23:59:59Z")) == nil)
    #expect(device.refusal(repository) != nil)
    #expect(device.refusal(repository, at: UTCTime(known: "2030-01-14T00:00:00Z")) == nil)
  }

  @Test func `a key that is taken away does not make the time forgotten`() throws {
    var repository = FixtureRepository()
    var device = try Device(refreshedFrom: repository)
    repository.rotate { $0.timestamp.keys = [FixtureKey(70)] }
    repository.publishNext()
    let now = Self.time(-2 * Self.day)
    #expect(device.refusal(repository, at: now) == .clockSetBack(newest: FixtureRepository.now, now: now))
  }
}
