import ManifestVerifier
import RepositoryFixtures
import Synchronization
import TUFMetadata
import TestSupport
import TrustStore

/// A device whose state lies in a folder.
struct StoredDevice {
  let folder: TemporaryFolder
  var path: String { folder("state") }

  init(anchor: [UInt8]) throws {
    folder = try TemporaryFolder()
    try TrustStore.initialise(path, root: anchor)
  }

  /// A device that has refreshed from a repository.
  init(refreshedFrom repository: FixtureRepository) throws {
    try self.init(anchor: repository.anchor)
    try refresh(repository)
  }

  /// Refreshes.
  /// - Parameter kept: told of each change that was kept.
  @discardableResult
  func refresh(_ repository: FixtureRepository, kept: (TrustChange) -> Void = { _ in }) throws -> TrustedManifest {
    try refreshState(path, from: repository, kept: kept)
  }

  /// What the state holds, without a mirror.
  func manifest() throws -> TrustedManifest {
    let store = try TrustReader(path)
    return try TrustedManifest(anchor: store.anchor(), stored: store.metadata())
  }

  func bytes(of name: String) throws -> [UInt8] { try folder.bytes(of: "state/" + name) }
}

/// Refreshes the state of a folder from a repository.
@discardableResult
func refreshState(_ path: String, from repository: FixtureRepository, kept: (TrustChange) -> Void = { _ in }) throws -> TrustedManifest {
  var store = try TrustStore(path)
  var workflow = try ClientWorkflow(anchor: store.anchor(), stored: store.metadata(), now: FixtureRepository.now)
  while let request = workflow.request {
    let changes = try repository.files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
    for change in changes {
      try store.keep(change)
      kept(change)
    }
  }
  guard let manifest = workflow.manifest else { throw VerificationError.neverRefreshed(role: "targets") }
  return manifest
}

extension TrustedManifest {
  /// The versions of the four roles, root first.
  var versions: [Int64] { roles.map { $0.version.number } }
}

/// A number that hooks on any thread may raise.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func increment() { count.add(1, ordering: .sequentiallyConsistent) }
}
