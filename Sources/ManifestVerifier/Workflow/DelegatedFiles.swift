public import TUFMetadata

/// Which role each file is trusted from that delegated roles list: what a search for each of them would find, in one walk over the roles.
///
/// A search goes through the delegators' lists for one path; where thousands of bins share out a hundred thousand files, a search for each would
/// go through thousands of bins a hundred thousand times. Here each delegation is looked at once for every way that leads to it, with
/// all the paths that come along that way. The rules are those of `TargetSearch`.
public struct DelegatedFiles: Sendable {
  private enum State: Sendable {
    case undecided
    case found(TargetFile, in: ByteString)
    case refused(VerificationError)
    /// A terminating role ended the search, or nobody listed the path who may.
    case ended
  }

  /// A path, under which the bits that the walk needs stand.
  private struct Entry: Sendable {
    let path: TargetPath
    let digits: [UInt8]
    var state = State.undecided
    /// The roles that the search for it came by.
    var visited: [ByteString] = []

    var isUndecided: Bool { if case .undecided = state { true } else { false } }
  }

  private let kept: KeptManifest
  /// In byte order of the hashes of the paths, so that a bin's are a range of them.
  private var entries: [Entry]
  private var indices: [TargetPath: Int] = [:]
  /// The paths that each role lists, roles in the order of the walk.
  private let listings: [Targets]

  /// - Parameter listings: the metadata of every delegated role, each once.
  init(of kept: KeptManifest, listedBy listings: [Targets]) {
    self.kept = kept
    self.listings = listings
    var paths: Set<TargetPath> = []
    let targets = kept.manifest.targets.payload
    for listing in listings { for (path, _) in listing.all where targets[path] == nil { paths.insert(path) } }
    entries = paths.map { Entry(path: $0, digits: $0.hashDigits) }.sorted { $0.digits.lexicographicallyPrecedes($1.digits) }
    for (index, entry) in entries.enumerated() { indices[entry.path] = index }
    guard !entries.isEmpty else { return }
    look(in: targets, TopLevelRole.targets.name, Array(entries.indices))
    for index in entries.indices where entries[index].isUndecided { entries[index].state = .ended }
  }

  /// Visits every file that a delegated role lists where a search comes to it, in the order of the walk over the roles, and each role's in byte order.
  /// A failure tells that whose a path is can't be known, because a role on the way can't be trusted; it is told once.
  public func visit<E: Error>(_ body: (TargetPath, Result<TargetFile, VerificationError>) throws(E) -> Void) throws(E) {
    var told: Set<Int> = []
    for listing in listings {
      for (path, _) in listing.all {
        guard let index = indices[path], !told.contains(index) else { continue }
        switch entries[index].state {
        case .found(let file, _):
          told.insert(index)
          try body(path, .success(file))
        case .refused(let error):
          told.insert(index)
          try body(path, .failure(error))
        case .undecided, .ended: break
        }
      }
    }
  }

  /// Whether `visit` tells of a path.
  public func tells(of path: TargetPath) -> Bool {
    guard let index = indices[path] else { return false }
    switch entries[index].state {
    case .found, .refused: return true
    case .undecided, .ended: return false
    }
  }

  // MARK: The walk

  /// Looks for paths in one role's metadata, and then in what it delegates to.
  /// - Parameter candidates: in ascending order. A search visits a bounded number of roles, so that this goes no deeper either.
  private mutating func look(in metadata: Targets, _ name: ByteString, _ candidates: [Int]) {
    for index in candidates {
      if let file = metadata[entries[index].path] { entries[index].state = .found(file, in: name) }
    }
    for delegation in Delegation.all(of: metadata, by: name) {
      let matching = matches(delegation.role.scope, among: candidates)
      guard !matching.isEmpty else { continue }
      visit(delegation, matching)
      guard delegation.role.isTerminating else { continue }
      for index in matching where entries[index].isUndecided { entries[index].state = .ended }
    }
  }

  private mutating func visit(_ delegation: Delegation, _ paths: [Int]) {
    let name = delegation.role.name
    var going: [Int] = []
    for index in paths where !entries[index].visited.contains(name) {
      if entries[index].visited.count >= kept.limits.delegationCount {
        entries[index].state = .refused(.tooManyDelegations(limit: kept.limits.delegationCount))
      } else if !delegation.isDescribed(in: kept.manifest) {
        entries[index].state = .refused(.notInSnapshot(role: name))
      } else {
        entries[index].visited.append(name)
        going.append(index)
      }
    }
    guard !going.isEmpty else { return }
    switch kept.known(delegation) {
    case .success(let metadata): look(in: metadata.payload, name, going)
    case .failure(let error): for index in going { entries[index].state = .refused(error) }
    // The walk that read all stopped before it.
    case nil: for index in going { entries[index].state = .refused(.notKept(role: name)) }
    }
  }

  /// The candidates that a delegation is trusted with and that are still looked for.
  private func matches(_ scope: DelegatedRole.Scope, among candidates: [Int]) -> [Int] {
    guard case .pathHashPrefixes(let prefixes) = scope else {
      return candidates.filter { entries[$0].isUndecided && scope.contains(entries[$0].path, hashDigits: entries[$0].digits) }
    }
    var found: Set<Int> = []
    for prefix in prefixes {
      // In the order of the hashes, those that begin with the prefix follow one another.
      var (low, high) = (0, candidates.count)
      while low < high {
        let middle = low + (high - low) / 2
        if entries[candidates[middle]].digits.lexicographicallyPrecedes(prefix.bytes) { low = middle + 1 } else { high = middle }
      }
      while low < candidates.count, entries[candidates[low]].digits.starts(with: prefix.bytes) {
        if entries[candidates[low]].isUndecided { found.insert(candidates[low]) }
        low += 1
      }
    }
    return found.sorted()
  }
}
