import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import Testing

/// Of a long file the payload is read on one core while its signatures are checked on another.
@Suite struct `Long metadata is trusted after all that short metadata is trusted after` {
  /// Over a mebibyte of targets.
  static let entries: [ByteString: JSONTree] = {
    let entry = FixtureRepository.entry(of: [1, 2, 3])
    return Dictionary(uniqueKeysWithValues: (0..<12_000).map { (ByteString("org/model/\($0).bin"), entry) })
  }()

  static let badEntry: JSONTree = .object(["length": .integer(1), "hashes": .object(["sha256": .text("00")])])

  static func error(_ change: (inout FixtureRepository) -> Void) -> VerificationError? {
    let repository = FixtureRepository { repository in
      repository.entries = entries
      change(&repository)
    }
    do {
      _ = try Device(refreshedFrom: repository)
      return nil
    } catch {
      return error as? VerificationError
    }
  }

  @Test func `every target is there`() throws {
    let repository = FixtureRepository { $0.entries = Self.entries }
    #expect(repository["1.targets.json"].count > 1 << 20)
    var device = Device(repository)
    #expect(try device.refresh(repository).targets.payload.count == 12_000)
    #expect(try TrustedManifest(anchor: device.anchor, stored: device.stored).targets.payload.count == 12_000)
  }

  @Test func `a signature of another key does not count`() {
    #expect(
      Self.error { $0.targets.signers = [FixtureKey(9)] }
        == .thresholdNotMet(role: "targets", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1"))
  }

  @Test(arguments: [FixtureKey(4), FixtureKey(9)]) func `one bad entry is refused, whoever has signed it`(signer: FixtureKey) throws {
    let error = Self.error { repository in
      repository.targets.signers = [signer]
      repository.entries["org/model/6000.bin"] = Self.badEntry
    }
    guard case .malformed(role: "targets", let cause) = try #require(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(cause)".contains("org/model/6000.bin"))
  }

  @Test func `what was kept is held against its hashes`() throws {
    var device = try Device(refreshedFrom: FixtureRepository { $0.entries = Self.entries })
    let bytes = try #require(device.stored.targets)
    for index in [0, bytes.count / 2, bytes.count - 1] {
      device.stored.targets?[index] ^= 1
      let error = #expect(throws: VerificationError.self) { try TrustedManifest(anchor: device.anchor, stored: device.stored) }
      guard case .damagedState(role: "targets", .wrongMetadataDigest) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      device.stored.targets = bytes
    }
  }
}
