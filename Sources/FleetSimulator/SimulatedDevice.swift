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
  /// Which of the mirrors that were asked answered last.
  private var answered = 0

  private var holdsStandIns = false

  package init(anchor: [UInt8]) { self.anchor = anchor }

  /// A device that has kept something already.
  package init(anchor: [UInt8], kept: KeptTrust) throws(SimulationError) {
    self.init(anchor: anchor)
    holdsStandIns = kept.holdsStandIns
    for (version, bytes) in kept.roots {
      try disk.replace("root.json", with: bytes)
      try disk.replace("roots/\(version).json", with: bytes)
    }
    let roles = kept.metadata.map(\.0)
    try writeRecord {
      ($0.root, $0.newestRefresh) = (kept.verifiedUnderRoot, kept.newestRefresh)
      ($0.keptTimestamp, $0.keptSnapshot) = (roles.contains(.timestamp), roles.contains(.snapshot))
    }
    for (role, bytes) in kept.metadata { try disk.replace(Self.name(role), with: bytes) }
  }

  /// What a device may have kept of earlier refreshes.
  package struct KeptTrust: Sendable {
    package var roots: [(Version, [UInt8])] = []
    package var verifiedUnderRoot: Version?
    package var newestRefresh: UTCTime?
    package var metadata: [(MetadataRole, [UInt8])] = []
    /// Whether timestamp and snapshot stand in for files that nobody has any more, and are not signed.
    package var holdsStandIns = false

    package init() {}
  }

  private static let record = "trust"

  /// What is remembered beside the metadata files.
  private struct Record: Equatable {
    var root: Version?
    var keptTimestamp = false
    var keptSnapshot = false
    var rotatingSince: Version?
    var supersededTimestamp = ""
    var supersededSnapshot = ""
    var newestRefresh: UTCTime?

    init(_ bytes: [UInt8]?) {
      let lines = String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      guard lines.count == 7 else { return }
      (keptTimestamp, keptSnapshot) = (lines[1] == "timestamp", lines[2] == "snapshot")
      (root, rotatingSince) = (Int64(lines[0]).flatMap { Version($0) }, Int64(lines[3]).flatMap { Version($0) })
      (supersededTimestamp, supersededSnapshot) = (String(lines[4]), String(lines[5]))
      newestRefresh = try? UTCTime(text: Array(lines[6].utf8).span)
    }

    var bytes: [UInt8] {
      let kept = "\(keptTimestamp ? "timestamp" : "")\n\(keptSnapshot ? "snapshot" : "")"
      let superseded = "\(rotatingSince?.description ?? "")\n\(supersededTimestamp)\n\(supersededSnapshot)"
      return Array("\(root?.description ?? "")\n\(kept)\n\(superseded)\n\(newestRefresh?.description ?? "")".utf8)
    }
  }

  /// What identifies a file on the disk; nothing where there is none.
  private func digest(_ name: String) -> String { disk[name].map { "\(SHA256.hash(of: $0))" } ?? "" }

  /// What is kept.
  package var stored: StoredMetadata {
    let roots = disk.files.compactMap { name, bytes in
      name.hasPrefix("roots/") ? Int64(name.dropFirst(6).dropLast(5)).map { ($0, bytes) } : nil
    }
    var stored = StoredMetadata(
      roots: roots.sorted { $0.0 < $1.0 }.map(\.1),
      verifiedUnderRoot: record.root, newestRefresh: record.newestRefresh,
      timestamp: disk["timestamp.json"], snapshot: disk["snapshot.json"], targets: disk["targets.json"])
    stored.holdsStandIns = holdsStandIns
    stored.rotatingSinceRoot = record.rotatingSince
    if stored.timestamp != nil, digest("timestamp.json") == record.supersededTimestamp { stored.superseded.insert(.timestamp) }
    if stored.snapshot != nil, digest("snapshot.json") == record.supersededSnapshot { stored.superseded.insert(.snapshot) }
    return stored
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
    for (wasKept, name) in [(record.keptTimestamp, "timestamp.json"), (record.keptSnapshot, "snapshot.json")]
    where wasKept && disk[name] == nil {
      throw .refused(.missingFromState(name: ByteString(name)))
    }
    var workflow: ClientWorkflow
    do { workflow = try ClientWorkflow(anchor: anchor, stored: stored, now: now, limits: limits) } catch { throw .refused(error) }
    while let request = workflow.request, request.role == .root { _ = try step(request, &workflow, mirrors[...]) }
    // As `MetadataMirrors` does it: where what a timestamp names can't be had, the next mirror's own is asked for.
    var untried = mirrors[...]
    var failed: [UInt8]?
    var failure: SimulationError?
    while true {
      do throws(SimulationError) {
        if let request = workflow.request, request.role == .timestamp {
          untried = untried[try step(request, &workflow, untried)...].dropFirst()
        }
        if workflow.acceptedTimestamp != failed {
          while let request = workflow.request {
            let order =
              mirrors[..<untried.startIndex].suffix(1) + mirrors[untried.startIndex...] + mirrors[..<untried.startIndex].dropLast()
            _ = try step(request, &workflow, order)
          }
          guard let manifest = workflow.manifest else { throw .refused(.neverRefreshed(role: "targets")) }
          return manifest
        }
      } catch {
        if error == .powerCut { throw error }
        if workflow.acceptedTimestamp == nil { untried = [] }
        failure = failure ?? error
      }
      failed = workflow.acceptedTimestamp ?? failed
      guard !untried.isEmpty else { throw failure ?? .unreachable(urlPath: "timestamp.json") }
      workflow.askForNewerTimestamp()
    }
  }

  /// Has one request answered, and keeps what comes of it.
  /// - Returns: the index of the mirror that answered.
  private mutating func step(
    _ request: MetadataRequest, _ workflow: inout ClientWorkflow, _ mirrors: ArraySlice<SimulatedMirror>
  ) throws(SimulationError) -> Int {
    let changes = try ask(Array(mirrors), request) { (answer) throws(VerificationError) in
      switch answer {
      case .file(let bytes): return try workflow.supply(bytes)
      case .notAvailable: return try workflow.supplyNotAvailable()
      case .failure, .endless:
        workflow.supplyFailure()
        return []
      }
    }
    for change in changes { try keep(change) }
    return mirrors.startIndex + answered
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
      let changes = try ask(mirrors, request) { (answer) throws(VerificationError) in
        switch answer {
        case .file(let bytes): return try search.supply(bytes)
        case .notAvailable: try search.supplyNotAvailable()
        case .failure, .endless: break
        }
        return []
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
          let changes = try ask(mirrors, request) { (answer) throws(VerificationError) in
            switch answer {
            case .file(let bytes): return try walk.supply(bytes)
            case .notAvailable: throw .unavailable(role: request.role.name, urlPath: request.urlPath)
            case .failure, .endless: return []
            }
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

  /// Asks one mirror after another until one has what is trusted, and feeds each answer; that there is none only once all were asked.
  private mutating func ask(
    _ mirrors: [SimulatedMirror], _ request: MetadataRequest, _ supply: (SimulatedMirror.Answer) throws(VerificationError) -> [TrustChange]
  ) throws(SimulationError) -> [TrustChange] {
    requests.append(request.urlPath)
    var failure: SimulationError?
    var isDenied = false
    do throws(VerificationError) {
      for (index, mirror) in mirrors.enumerated() {
        answered = index
        switch mirror.answer(request) {
        case .file(let bytes):
          do throws(VerificationError) { return try supply(.file(bytes)) } catch {
            failure = failure ?? .refused(error)
            _ = try supply(.failure)
          }
        case .notAvailable: isDenied = true
        case .failure, .endless:
          failure = failure ?? .unreachable(urlPath: request.urlPath)
          _ = try supply(.failure)
        }
      }
      // Of the root, the workflow knows what one mirror's failure makes of another's "not available".
      if failure == nil || isDenied && request.role == .root { return try supply(.notAvailable) }
    } catch { throw .refused(error) }
    throw failure ?? .unreachable(urlPath: request.urlPath)
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
    case .supersedeTimestampAndSnapshot(let root):
      let (timestamp, snapshot) = (digest("timestamp.json"), digest("snapshot.json"))
      try writeRecord {
        ($0.rotatingSince, $0.root) = ($0.rotatingSince ?? $0.root ?? root, root)
        ($0.keptTimestamp, $0.keptSnapshot, $0.supersededTimestamp, $0.supersededSnapshot) = (false, false, timestamp, snapshot)
      }
    case .refreshed(let time):
      try writeRecord {
        ($0.newestRefresh, $0.keptTimestamp, $0.keptSnapshot) = (max($0.newestRefresh ?? time, time), true, true)
        ($0.rotatingSince, $0.supersededTimestamp, $0.supersededSnapshot) = (nil, "", "")
      }
    case .metadata(let role, let bytes, let root):
      try writeRecord { $0.root = root }
      try disk.replace(Self.name(role), with: bytes)
      switch role {
      case .topLevel(.timestamp): try writeRecord { ($0.keptTimestamp, $0.supersededTimestamp) = (true, "") }
      case .topLevel(.snapshot): try writeRecord { ($0.keptSnapshot, $0.supersededSnapshot) = (true, "") }
      default: break
      }
    }
  }

  private var record: Record { Record(disk[Self.record]) }

  private mutating func writeRecord(_ change: (inout Record) -> Void) throws(SimulationError) {
    var new = record
    change(&new)
    guard new != record else { return }
    try disk.replace(Self.record, with: new.bytes)
  }
}
