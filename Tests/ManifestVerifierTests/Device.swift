import ManifestVerifier
import RepositoryFixtures
import TUFMetadata

/// A device in memory: it asks a repository for what a refresh needs and keeps what it is told to keep.
struct Device {
  var anchor: [UInt8]
  var stored = StoredMetadata()
  /// The paths that were asked for in the last refresh.
  private(set) var requests: [String] = []
  /// What was kept in the last refresh.
  private(set) var changes: [TrustChange] = []

  private var roots: [Version: [UInt8]] = [:]

  /// What ends a refresh in its middle, as a crash would.
  struct Crash: Error {}

  init(_ repository: FixtureRepository) { anchor = repository.anchor }

  /// A device that has refreshed from a repository.
  init(refreshedFrom repository: FixtureRepository) throws {
    self.init(repository)
    try refresh(repository)
  }

  /// Refreshes.
  /// - Parameter lastChange: how many changes are kept before the device crashes.
  @discardableResult
  mutating func refresh(
    _ repository: FixtureRepository, at now: UTCTime = FixtureRepository.now, limits: VerificationLimits = .init(), lastChange: Int = .max
  ) throws -> TrustedManifest {
    (requests, changes) = ([], [])
    var workflow = try ClientWorkflow(anchor: anchor, stored: stored, now: now, limits: limits)
    while let request = workflow.request {
      requests.append(request.urlPath)
      let answer = try repository.files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
      for change in answer {
        if changes.count >= lastChange { throw Crash() }
        keep(change)
      }
    }
    guard let manifest = workflow.manifest else { throw VerificationError.neverRefreshed(role: "targets") }
    return manifest
  }

  private mutating func keep(_ change: TrustChange) {
    switch change {
    case .refreshed(let time):
      // Told by every refresh that succeeds; `changes` are those of the metadata.
      stored.newestRefresh = max(stored.newestRefresh ?? time, time)
      (stored.rotatingSinceRoot, stored.superseded) = (nil, [])
      return
    case .root(let version, let bytes):
      roots[version] = bytes
      stored.roots = roots.sorted { $0.key < $1.key }.map(\.value)
    case .supersedeTimestampAndSnapshot(let root):
      stored.rotatingSinceRoot = stored.rotatingSinceRoot ?? stored.verifiedUnderRoot ?? root
      (stored.superseded, stored.verifiedUnderRoot) = ([.timestamp, .snapshot], root)
    case .metadata(let role, let bytes, let root):
      stored.verifiedUnderRoot = root
      switch role {
      case .timestamp:
        stored.timestamp = bytes
        stored.superseded.remove(.timestamp)
      case .snapshot:
        stored.snapshot = bytes
        stored.superseded.remove(.snapshot)
      case .targets: stored.targets = bytes
      default: break
      }
    }
    changes.append(change)
  }

  /// What a refresh is refused for.
  mutating func refusal(_ repository: FixtureRepository, at now: UTCTime = FixtureRepository.now) -> VerificationError? {
    do {
      try refresh(repository, at: now)
      return nil
    } catch {
      return error as? VerificationError
    }
  }
}

extension TrustedManifest {
  /// The versions of the four roles, root first.
  var versions: [Int64] { roles.map { $0.version.number } }
}

extension [TrustChange] {
  /// What was changed, in words.
  var names: [String] {
    map { change in
      switch change {
      case .root(let version, _): "root \(version)"
      case .supersedeTimestampAndSnapshot: "supersede"
      case .refreshed(let time): "refreshed at \(time)"
      case .metadata(let role, _, let root): "\(role.name) under \(root)"
      }
    }
  }
}
