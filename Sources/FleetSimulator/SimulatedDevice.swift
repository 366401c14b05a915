internal import Digests
package import ManifestVerifier
package import TUFMetadata

/// A device: the real workflow and the real search, on a simulated disk, against simulated mirrors.
///
/// It keeps changes in the order in which `TrustStore` does; a test holds the two orders against each other.
package struct SimulatedDevice: Sendable {
  /// The root that its app shipped.
  package let anchor: [UInt8]
  package var disk = SimulatedDisk()
  package var limits = VerificationLimits()
  /// What the last refresh or search asked for, as URL paths.
  package private(set) var requests: [String] = []

  package init(anchor: [UInt8]) { self.anchor = anchor }

  /// A device that has kept something already.
  package init(anchor: [UInt8], kept: KeptTrust) throws(SimulationError) {
    self.init(anchor: anchor)
    for (version, bytes) in kept.roots {
      try disk.replace("root.json", with: bytes)
      try disk.replace("roots/\(version).json", with: bytes)
    }
    try writeRecord(root: kept.verifiedUnderRoot, kept.newestRefresh)
    for (role, bytes) in kept.metadata { try disk.replace(Self.name(role), with: bytes) }
  }

  /// What a device may have kept of earlier refreshes.
  package struct KeptTrust: Sendable {
    package var roots: [(Version, [UInt8])] = []
    package var verifiedUnderRoot: Version?
    package var newestRefresh: UTCTime?
    package var metadata: [(MetadataRole, [UInt8])] = []

    package init() {}
  }

  private static let record = "trust"

  /// What is kept.
  package var stored: StoredMetadata {
    let roots = disk.files.compactMap { name, bytes in
      name.hasPrefix("roots/") ? Int64(name.dropFirst(6).dropLast(5)).map { ($0, bytes) } : nil
    }
    return StoredMetadata(
      roots: roots.sorted { $0.0 < $1.0 }.map(\.1),
      verifiedUnderRoot: record.first.flatMap { Int64($0) }.flatMap { Version($0) },
      newestRefresh: record.last.flatMap { try? UTCTime(text: Array($0.utf8).span) },
      timestamp: disk["timestamp.json"], snapshot: disk["snapshot.json"], targets: disk["targets.json"])
  }

  /// What is trusted without a mirror.
  package func manifest() throws(SimulationError) -> TrustedManifest {
    do { return try TrustedManifest(anchor: anchor, stored: stored) } catch { throw .refused(error) }
  }

  /// Refreshes.
  /// - Parameters:
  ///   - mirrors: asked in this order; "not available" counts only where every one of them says so.
  ///   - now: the time of the device's clock.
  @discardableResult
  package mutating func refresh(from mirrors: [SimulatedMirror], at now: UTCTime) throws(SimulationError) -> TrustedManifest {
    requests = []
    var workflow: ClientWorkflow
    do { workflow = try ClientWorkflow(anchor: anchor, stored: stored, now: now, limits: limits) } catch { throw .refused(error) }
    while let request = workflow.request {
      let changes = try ask(mirrors, request) { (bytes) throws(VerificationError) in
        guard let bytes else { return try workflow.supplyNotAvailable() }
        return try workflow.supply(bytes)
      }
      for change in changes { try keep(change) }
    }
    guard let manifest = workflow.manifest else { throw .refused(.neverRefreshed(role: "targets")) }
    return manifest
  }

  /// Looks a target up through the delegations; nil where nobody lists it.
  package mutating func find(
    _ path: TargetPath, in manifest: TrustedManifest, from mirrors: [SimulatedMirror], at now: UTCTime
  ) throws(SimulationError) -> TargetSearch.Finding? {
    requests = []
    var search: TargetSearch
    do { search = try TargetSearch(for: path, in: manifest, now: now, limits: limits) } catch { throw .refused(error) }
    while let request = search.request {
      if let kept = disk[Self.name(request.role)], search.offerKept(kept) { continue }
      let changes = try ask(mirrors, request) { (bytes) throws(VerificationError) in
        guard let bytes else {
          try search.supplyNotAvailable()
          return []
        }
        return try search.supply(bytes)
      }
      for change in changes { try keep(change) }
    }
    return search.finding
  }

  /// Visits every delegated role that can be reached, as a refresh from a folder does.
  /// - Returns: the delegations whose metadata was not accepted.
  package mutating func walk(
    _ manifest: TrustedManifest, from mirrors: [SimulatedMirror], at now: UTCTime
  ) throws(SimulationError) -> [DelegationWalk.Refusal] {
    requests = []
    do throws(VerificationError) {
      var walk = try DelegationWalk(over: manifest, now: now, limits: limits)
      while let request = walk.request {
        if let kept = disk[Self.name(request.role)], walk.offerKept(kept) { continue }
        do throws(SimulationError) {
          let changes = try ask(mirrors, request) { (bytes) throws(VerificationError) in
            guard let bytes else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
            return try walk.supply(bytes)
          }
          for change in changes { try? keep(change) }
        } catch {
          guard case .refused(let cause) = error else { throw .unavailable(role: request.role.name, urlPath: request.urlPath) }
          try walk.skip(for: cause)
        }
      }
      return walk.refusals
    } catch { throw .refused(error) }
  }

  /// Asks one mirror after another until one has what is trusted. Nil stands for "not available".
  private mutating func ask(
    _ mirrors: [SimulatedMirror], _ request: MetadataRequest, _ supply: ([UInt8]?) throws(VerificationError) -> [TrustChange]
  ) throws(SimulationError) -> [TrustChange] {
    requests.append(request.urlPath)
    var failure: SimulationError?
    for mirror in mirrors {
      switch mirror.answer(request) {
      case .file(let bytes): do { return try supply(bytes) } catch { failure = failure ?? .refused(error) }
      case .notAvailable: break
      case .failure, .endless: failure = failure ?? .unreachable(urlPath: request.urlPath)
      }
    }
    if let failure { throw failure }
    do { return try supply(nil) } catch { throw .refused(error) }
  }

  // MARK: What is kept

  private static func name(_ role: MetadataRole) -> String {
    switch role {
    case .topLevel(let role): role.fileName
    case .delegated(let name): "\(SHA256.hash(of: name.bytes)).json"
    }
  }

  private mutating func keep(_ change: TrustChange) throws(SimulationError) {
    switch change {
    case .root(let version, let bytes):
      try disk.replace("root.json", with: bytes)
      try disk.replace("roots/\(version).json", with: bytes)
    case .discardTimestampAndSnapshot:
      try disk.remove("timestamp.json")
      try disk.remove("snapshot.json")
      try writeRecord(root: nil, stored.newestRefresh)
    case .refreshed(let time): try writeRecord(root: stored.verifiedUnderRoot, time)
    case .metadata(let role, let bytes, let root):
      if stored.verifiedUnderRoot != root { try writeRecord(root: root, stored.newestRefresh) }
      try disk.replace(Self.name(role), with: bytes)
    }
  }

  /// The root that the cache was verified under and the newest refresh, each empty where there is none.
  private var record: [Substring] {
    disk[Self.record].map { String(decoding: $0, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) } ?? []
  }

  private mutating func writeRecord(root: Version?, _ newestRefresh: UTCTime?) throws(SimulationError) {
    try disk.replace(Self.record, with: Array("\(root?.description ?? "")\n\(newestRefresh?.description ?? "")".utf8))
  }
}
