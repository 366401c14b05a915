import Digests
import FleetSimulator
import ManifestVerifier
import TUFMetadata
import Testing

/// What most scenarios have in common: a publisher, an attacker who has recorded its first publication, and a device that trusts it.
struct Fleet {
  static let now = time("2030-01-01T00:00:00Z")
  static let expiry = time("2031-01-01T00:00:00Z")

  var publisher: SimulatedPublisher
  var attacker = SimulatedAttacker()
  var device: SimulatedDevice

  init(_ change: (inout SimulatedPublisher) throws(SimulationError) -> Void = { _ in }) throws {
    publisher = try SimulatedPublisher(seed: 1, expires: Self.expiry) { (publisher) throws(SimulationError) in
      publisher.targets.targets[target("org/model/weights.gguf")] = SimulatedPublisher.file("weights")
      try change(&publisher)
    }
    attacker.record(publisher)
    device = SimulatedDevice(anchor: publisher.anchor)
    try device.refresh(from: [mirror], at: Self.now)
  }

  /// The honest mirror as it is now.
  var mirror: SimulatedMirror { SimulatedMirror(publisher.files) }

  /// Publishes the next version of everything, and lets the attacker look.
  mutating func publishNext() throws {
    try publisher.publishNext()
    attacker.record(publisher)
  }

  /// What a refresh is refused for.
  mutating func refusal(_ mirrors: SimulatedMirror..., at now: UTCTime = Fleet.now) -> VerificationError? {
    do {
      try device.refresh(from: mirrors, at: now)
      return nil
    } catch {
      if case .refused(let error) = error { return error }
      Issue.record("\(error)")
      return nil
    }
  }

  /// Refreshes from the honest mirror.
  @discardableResult
  mutating func refresh(at now: UTCTime = Fleet.now) throws -> [Int64] { try device.refresh(from: [mirror], at: now).versions }

  /// The name of the role that lists a path; nil where none does.
  mutating func finder(of path: String, at now: UTCTime = Fleet.now) throws -> String? {
    try finding(of: path, at: now)?.chain.last?.role.name.description
  }

  mutating func finding(of path: String, at now: UTCTime = Fleet.now) throws -> TargetSearch.Finding? {
    let manifest = try device.manifest()
    return try device.find(target(path), in: manifest, from: [mirror], at: now)
  }

  /// What a search is refused for.
  mutating func searchRefusal(of path: String, from mirrors: SimulatedMirror..., at now: UTCTime = Fleet.now) throws -> VerificationError? {
    let manifest = try device.manifest()
    do {
      let found = try device.find(target(path), in: manifest, from: mirrors.isEmpty ? [mirror] : mirrors, at: now)
      Issue.record("the search came to an end: \(found == nil ? "not found" : "found")")
      return nil
    } catch {
      if case .refused(let error) = error { return error }
      throw error
    }
  }
}

extension SimulatedPublisher {
  /// Adds a delegated role of the given files.
  mutating func addRole(
    _ name: ByteString, keys: [SimulatedKey], files: [String] = [], delegations: [SimulatedDelegation] = []
  ) {
    var role = SimulatedRole(keys: keys, expires: Fleet.expiry)
    for file in files { role.targets[target(file)] = SimulatedPublisher.file("\(name): \(file)") }
    role.delegations = delegations
    delegated[name] = role
  }
}

extension TrustedManifest {
  /// The versions of the four roles, root first.
  var versions: [Int64] { roles.map { $0.version.number } }
}

func time(_ text: String) -> UTCTime {
  do { return try UTCTime(text: Array(text.utf8).span) } catch { preconditionFailure("\(error)") }
}

func target(_ path: String) -> TargetPath {
  do { return try TargetPath(path) } catch { preconditionFailure("\(error)") }
}

func version(_ number: Int64) -> Version {
  guard let version = Version(number) else { preconditionFailure("no version: \(number)") }
  return version
}

/// The SHA-256 of a path, in hexadecimal digits.
func digest(_ path: String) -> String { SHA256.hash(of: Array(path.utf8)).description }
