internal import ManifestVerifier
internal import TUFMetadata

/// What a proposal does to the files that devices find: they go by delegations, and nobody sees that in a list of patterns.
struct FileMoves {
  /// What devices find no longer, and who listed it.
  var gone: [(path: TargetPath, role: ByteString)] = []
  /// What devices find in another role's list.
  var moved: [(path: TargetPath, from: ByteString, to: ByteString)] = []
}

extension Ceremony {
  /// Finds files in what is published.
  var publishedSearch: FileSearch {
    FileSearch(targets: published(.targets)?.targets) { published(.delegated($0))?.targets }
  }

  /// Finds files in what will be published once all that waits is signed.
  var nextSearch: FileSearch {
    FileSearch(targets: (pending[.targets] ?? published(.targets))?.targets) { name in
      (pending[.delegated(name)] ?? published(.delegated(name)))?.targets
    }
  }

  /// All paths that are listed by any role, in their order.
  private var listedPaths: [TargetPath] {
    var paths: Set<TargetPath> = []
    for targets in [published(.targets)?.targets] + delegated.files.values.map(\.targets) {
      guard let targets else { continue }
      for (path, _) in targets.all { paths.insert(path) }
    }
    return paths.sorted()
  }

  /// What becomes of the files that devices find now. Where no team comes, goes or changes, nothing does but what the lists tell themselves.
  var fileMoves: FileMoves {
    var moves = FileMoves()
    guard let next = pending[.targets], next.members[.delegations] != published(.targets)?.members[.delegations] else { return moves }
    let (before, after) = (publishedSearch, nextSearch)
    for path in listedPaths {
      guard let old = before.find(path) else { continue }
      guard let new = after.find(path) else {
        moves.gone.append((path, old.role))
        continue
      }
      // A team's files leave the other lists with the next publication, if not at once.
      let from = Self.listName(before.find(path, teamsAlone: true)?.role ?? old.role)
      let to = Self.listName(after.find(path, teamsAlone: true)?.role ?? new.role)
      if from != to { moves.moved.append((path, from, to)) }
    }
    return moves
  }

  /// Bins hold what is the top-level role's.
  private static func listName(_ role: ByteString) -> ByteString { HashBins.isBin(role) ? TopLevelRole.targets.name : role }

  /// The moves in words.
  var movesInWords: [String] {
    let moves = fileMoves
    var words: [String] = []
    for (role, gone) in Dictionary(grouping: moves.gone, by: { Self.listName($0.role) }).sorted(by: { $0.key < $1.key }) {
      words.append("devices no longer find \(Self.list(gone.map(\.path))), which \(role) lists")
    }
    for (to, moved) in Dictionary(grouping: moves.moved, by: \.to).sorted(by: { $0.key < $1.key }) {
      for (from, files) in Dictionary(grouping: moved, by: \.from).sorted(by: { $0.key < $1.key }) {
        words.append("\(to) takes over from \(from): \(Self.list(files.map(\.path)))")
      }
    }
    return words
  }

  private static func list(_ paths: [TargetPath]) -> String {
    let shown = 20
    let names = paths.prefix(shown).map(\.description).joined(separator: ", ")
    return paths.count > shown ? "\(names) and \(paths.count - shown) more files" : names
  }

  /// Puts the files that are published into the next list of the team that is trusted with them from now on. Otherwise devices would lose them: a
  /// terminating team ends their search at once, and the next publication leaves a team's files out of the top-level list.
  mutating func handFilesOver(_ now: UTCTime) throws(SigningError) {
    guard let delegations = pending[.targets]?.targets?.delegations else { return }
    let old = published(.targets)?.targets?.delegations
    // Whoever is trusted with the same paths as before has had them handed over.
    let teams = delegations.roles.filter { team in team.isTeam && old?.roles.first { $0.name == team.name }?.scope != team.scope }
    guard !teams.isEmpty else { return }
    let (before, after) = (publishedSearch, nextSearch)
    var taken: [ByteString: [ByteString: JSONTree]] = [:]
    for path in listedPaths where path.name != Catalog.fileName {
      guard let owner = before.find(path), let team = delegations.roles(trustedWith: path).first(where: \.isTeam),
        teams.contains(where: { $0.name == team.name }), after.find(path, teamsAlone: true) == nil
      else { continue }
      taken[team.name, default: [:]][path.name] = owner.file.tree
    }
    for (name, files) in taken {
      let role = MetadataRole.delegated(name)
      let base: MetadataEnvelope
      if let waiting = pending[role] {
        base = waiting
      } else if let published = published(role) {
        base = try renewed(published, role, now)
      } else {
        continue
      }
      var members = base.members
      var listed: [ByteString: JSONTree] = [:]
      if case .object(let known)? = members[.targets] { listed = known }
      members[.targets] = .object(listed.merging(files) { own, _ in own })
      pending[role] = try Self.envelope(.object(members), role)
    }
  }
}
