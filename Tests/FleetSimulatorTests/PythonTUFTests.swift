import Digests
import FleetSimulator
import Foundation
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

/// A repository with delegations of every kind that python-tuf has published, each role's keys rotated once, and what its client finds there.
struct PeerRepository: Decodable {
  let files: [String: String]
  let names: [String]
  /// The digest that python-tuf's client finds for each path, null, or its error's name: all in one process, and each in one of its own.
  let together: [String: String?]
  let apart: [String: String?]

  init(consistent: Bool) throws {
    let result = try runChild(
      peerPython(), [peerScript("tuf_delegations.py")] + (consistent ? [] : ["--no-consistent-snapshot"])
    ).successful()
    self = try JSONDecoder().decode(Self.self, from: Data(result.output))
  }

  var mirror: SimulatedMirror { SimulatedMirror(files.mapValues { Array($0.utf8) }) }

  /// A device that was shipped with the first root.
  func device() throws -> SimulatedDevice {
    var device = SimulatedDevice(anchor: mirror.files["1.root.json"] ?? [])
    #expect(try device.refresh(from: [mirror], at: Fleet.now).versions == [5, 2, 2, 2])
    return device
  }

  /// What our search finds for a path, in the words of the other.
  func find(_ path: String, by device: inout SimulatedDevice) throws -> Outcome {
    let manifest = try device.manifest()
    do {
      let finding = try device.find(target(path), in: manifest, from: [mirror], at: Fleet.now)
      return finding.map { .found($0.file.hashes.sha256.description) } ?? .notFound
    } catch {
      guard case .refused(let cause) = error else { throw error }
      return .refused(cause)
    }
  }
}

enum Outcome: Equatable {
  case found(String)
  case notFound
  case refused(VerificationError)
}

@Suite struct `python-tuf as publisher and as second client: delegations` {
  /// Where the two disagree, and why ours is right.
  static let disagreements: [String: Outcome] = [
    // TUF 1.0.34 §4.2 and §5.6.3: the threshold is one of distinct keys; here one public key signs under two ids. python-tuf counts two.
    "twins/a": .refused(.thresholdNotMet(role: "twins", signed: 1, threshold: 2, keyCount: 2, delegator: "targets")),
    // §5.6.7.1: both stop at the same role. That a limit was reached is not the same as that nobody lists the file: ours says which.
    "many/32": .refused(.tooManyDelegations(limit: 32)),
    // §4.5 sets no limit to the length of a role's name. python-tuf names its cache files after the role, and the disk refuses 300 characters.
    "names/8/a": .found(digest("\(String(repeating: "n", count: 300)): names/8/a")),
  ]

  @Test(arguments: [true, false]) func `both find the same, in one process and in several`(consistent: Bool) throws {
    let repository = try PeerRepository(consistent: consistent)
    var shared = try repository.device()
    #expect(repository.together == repository.apart)
    #expect(repository.together.count > 40)
    for (path, theirs) in repository.together.sorted(by: { $0.key < $1.key }) {
      let together = try repository.find(path, by: &shared)
      var own = try repository.device()
      #expect(try repository.find(path, by: &own) == together, "\(path): another search before changes what is found")
      if let ours = Self.disagreements[path] {
        #expect(together == ours, "\(path)")
        continue
      }
      switch theirs {
      case nil: #expect(together == .notFound, "\(path)")
      case "UnsignedMetadataError":
        guard case .refused(.thresholdNotMet) = together else {
          Issue.record("\(path): \(together)")
          continue
        }
      case let found?: #expect(together == .found(found), "\(path)")
      }
    }
    // The disagreements are still what they are said to be.
    #expect(repository.together["twins/a"] == digest("twins: twins/a"))
    #expect(repository.together["many/32"] == .some(nil))
    #expect(repository.together["names/8/a"] == "OSError")
    // And what was to be shown was there: refused through one delegator, found through the other; nested four deep; ended by a terminating role.
    #expect(repository.together["right/a"] == "UnsignedMetadataError" && repository.together["left/a"] == digest("shared: left/a"))
    #expect(repository.together["nested/b/c"] == digest("grandchild: nested/b/c"))
    #expect(repository.together["ends/b"] == .some(nil) && repository.together["last/b"] == .some(nil))
    for (number, name) in repository.names.enumerated() where name.utf8.count < 200 {
      #expect(repository.together["names/\(number)/a"] == digest("\(name): names/\(number)/a"))
    }
  }
}
