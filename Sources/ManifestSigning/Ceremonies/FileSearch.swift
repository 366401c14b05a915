internal import TUFMetadata

/// Where devices find a path: the search of TUF 1.0.34 §5.6.7, in metadata that is published already, or that would be once what waits is signed.
struct FileSearch {
  struct Finding: Equatable {
    /// `targets`, or the delegated role.
    let role: ByteString
    let file: TargetFile
  }

  private enum Outcome {
    case found(Finding)
    /// A terminating role was trusted with the path, and nobody below it lists it.
    case ended
    case nothing
  }

  let targets: Targets?
  /// A delegated role's metadata; nil where there is none.
  let delegated: (ByteString) -> Targets?

  /// - Parameter teamsAlone: whether only teams are searched: not the top-level list, and no bin.
  func find(_ path: TargetPath, teamsAlone: Bool = false) -> Finding? {
    guard let targets else { return nil }
    var visited: Set<ByteString> = []
    if !teamsAlone, let file = targets[path] { return Finding(role: TopLevelRole.targets.name, file: file) }
    guard case .found(let finding) = search(path, below: targets, teamsAlone: teamsAlone, &visited) else { return nil }
    return finding
  }

  private func search(_ path: TargetPath, below metadata: Targets, teamsAlone: Bool = false, _ visited: inout Set<ByteString>) -> Outcome {
    for role in metadata.delegations?.roles(trustedWith: path) ?? [] {
      if teamsAlone, !role.isTeam { continue }
      if visited.insert(role.name).inserted, let own = delegated(role.name) {
        if let file = own[path] { return .found(Finding(role: role.name, file: file)) }
        let outcome = search(path, below: own, &visited)
        guard case .nothing = outcome else { return outcome }
      }
      if role.isTerminating { return .ended }
    }
    return .nothing
  }
}

extension DelegatedRole {
  /// Whether it is trusted with paths by name: roles that share them out by hashes are bins.
  var isTeam: Bool { if case .paths = scope { true } else { false } }
}
