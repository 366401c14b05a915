internal import ManifestVerifier
internal import TUFMetadata

/// Roles, keys, teams and lifetimes while a proposal is made. All that is not edited stays as it is published, members that this program does
/// not know and the exact objects of the keys included: another object would be another key id.
struct StructureDraft {
  struct Team {
    var name: ByteString
    var role: RoleDraft
    /// Nil where the paths are shared out by their hashes.
    var paths: [PathPattern]?
    var isTerminating: Bool
    /// The object as it is published.
    var members: [ByteString: JSONTree]
  }

  private(set) var roles: [TopLevelRole: RoleDraft] = [:]
  private(set) var teams: [Team] = []
  private(set) var policy: Policy
  /// The teams that got another name, by the new one.
  private(set) var renamedTeams: [ByteString: ByteString] = [:]
  /// Keys that a role gets which had it not before, and is not to get where they are worn out.
  private(set) var newKeys: [KeyID] = []
  private var keys: [KeyID: JSONTree] = [:]
  private let root: Root
  private let rootMembers: [ByteString: JSONTree]
  private let delegationMembers: [ByteString: JSONTree]
  private let name: (KeyID) -> String

  /// Begins with what is published.
  init(_ root: MetadataEnvelope, _ payload: Root, _ targets: MetadataEnvelope?, _ policy: Policy, name: @escaping (KeyID) -> String) {
    self.root = payload
    self.policy = policy
    self.name = name
    rootMembers = root.members
    for role in TopLevelRole.allCases { roles[role] = RoleDraft(payload[role]) }
    Self.read(rootMembers[.keys], payload.keys, into: &keys)
    guard case .object(let members)? = targets?.members[.delegations], let delegations = targets?.targets?.delegations else {
      delegationMembers = [:]
      return
    }
    delegationMembers = members
    Self.read(members[.keys], delegations.keys, into: &keys)
    guard case .array(let trees)? = members[.roles] else { return }
    for (role, tree) in zip(delegations.roles, trees) {
      guard case .object(let members) = tree else { continue }
      let paths: [PathPattern]? = if case .paths(let patterns) = role.scope { patterns } else { nil }
      teams.append(
        Team(name: role.name, role: RoleDraft(role.keys), paths: paths, isTerminating: role.isTerminating, members: members))
    }
  }

  private static func read(_ tree: JSONTree?, _ known: [KeyID: Key], into keys: inout [KeyID: JSONTree]) {
    guard case .object(let members)? = tree else { return }
    for id in known.keys { keys[id] = members[ByteString(id.description)] }
  }

  // MARK: Editing

  mutating func apply(_ edit: ProposedEdit) throws(SigningError) {
    let name = self.name
    switch edit {
    case .addKey(let key, let role):
      let id = know(key)
      try change(role) { (draft) throws(SigningError) in try draft.add(id, named: name(id), role: "\(role.name)") }
    case .removeKey(let id, let role):
      try change(role) { (draft) throws(SigningError) in try draft.remove(id, named: name(id), role: "\(role.name)") }
    case .replaceKey(let old, let key, let role):
      let id = know(key)
      try change(role) { (draft) throws(SigningError) in try draft.replace(old, by: id, names: name, role: "\(role.name)") }
    case .setThreshold(let threshold, let role):
      try change(role) { (draft) throws(SigningError) in
        guard RepositoryCreation.RoleSize.bounds.contains(threshold) else {
          throw .ceremony(.refused([.threshold(role: "\(role.name)", threshold, keyCount: draft.keyIDs.count)]))
        }
        draft.threshold = threshold
      }
    case .setLifetime(let days, let role): policy.lifetimes[role] = days
    case .setHolder(let holder, let key): policy.holders[key] = holder
    case .addTeam(let name, let paths, let isTerminating):
      try requireNewTeam(name)
      let team = Team(name: name, role: RoleDraft(), paths: paths, isTerminating: isTerminating, members: [:])
      // Bins end a search: whoever came after them would never be asked.
      teams.insert(team, at: teams.firstIndex { $0.paths == nil } ?? teams.endIndex)
    case .removeTeam(let name): teams.remove(at: try index(of: name))
    case .renameTeam(let old, let new):
      let index = try index(of: old)
      try requireNewTeam(new)
      teams[index].name = new
      renamedTeams[new] = renamedTeams.removeValue(forKey: old) ?? old
    case .addPath(let pattern, let name):
      let index = try index(of: name)
      var paths = teams[index].paths ?? []
      guard !paths.contains(pattern) else {
        throw .ceremony(.path("\(pattern.text)", team: "\(name)", isListed: true))
      }
      paths.append(pattern)
      teams[index].paths = paths
    case .removePath(let pattern, let name):
      let index = try index(of: name)
      guard let position = teams[index].paths?.firstIndex(of: pattern) else {
        throw .ceremony(.path("\(pattern.text)", team: "\(name)", isListed: false))
      }
      teams[index].paths?.remove(at: position)
    case .setTerminating(let isTerminating, let name): teams[try index(of: name)].isTerminating = isTerminating
    case .renewRoot: break
    }
  }

  /// The id of a key that a role is to get.
  private mutating func know(_ key: Ed25519PublicKey) -> KeyID {
    // Where the key is known already, under whatever object, that one stays.
    let id = root.keys.first { $0.value.ed25519 == key }?.key ?? Key(key).id
    if keys[id] == nil { keys[id] = Key.tree(key) }
    newKeys.append(id)
    return id
  }

  private mutating func change(_ role: MetadataRole, _ body: (inout RoleDraft) throws(SigningError) -> Void) throws(SigningError) {
    switch role {
    case .topLevel(let role):
      var draft = roles[role] ?? RoleDraft()
      try body(&draft)
      roles[role] = draft
    case .delegated(let name): try body(&teams[try index(of: name)].role)
    }
  }

  private func index(of team: ByteString) throws(SigningError) -> Int {
    guard let index = teams.firstIndex(where: { $0.name == team }) else { throw .ceremony(.noSuchRole("\(team)")) }
    return index
  }

  /// A team's name is part of a file's name on the server and is typed by people.
  private func requireNewTeam(_ name: ByteString) throws(SigningError) {
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: false
      }
    }
    let others = Array("-_./".utf8)
    // `Root` would collide with `root` on a disk that does not tell them apart.
    let isReserved = HashBins.isBin(name) || TopLevelRole.allCases.contains { $0.rawValue == name.description.lowercased() }
    guard (1...100).contains(name.bytes.count), let first = name.bytes.first, isAlphanumeric(first), !isReserved,
      name.bytes.allSatisfy({ isAlphanumeric($0) || others.contains($0) })
    else { throw .ceremony(.teamName("\(name)")) }
    guard !teams.contains(where: { $0.name == name }) else { throw .ceremony(.teamExists("\(name)")) }
  }

  // MARK: Results

  /// The next root, unsigned.
  func nextRoot(_ version: Version, expires: UTCTime) -> JSONTree {
    var members = rootMembers
    var objects: [ByteString: JSONTree] = [:]
    if case .object(let published)? = members[.roles] { objects = published }
    for (role, draft) in roles { Self.write(draft, into: &objects, at: role.name) }
    members[.version] = .integer(version.number)
    members[.expires] = .string(ByteString(expires.description))
    members[.roles] = .object(objects)
    members[.keys] = used(roles.values.flatMap(\.keyIDs), or: root.keys.keys.filter { root.keys[$0]?.ed25519 == nil })
    return .object(members)
  }

  private static func write(_ draft: RoleDraft, into objects: inout [ByteString: JSONTree], at name: ByteString) {
    var members: [ByteString: JSONTree] = [:]
    if case .object(let published)? = objects[name] { members = published }
    draft.write(into: &members)
    objects[name] = .object(members)
  }

  /// The key objects that are referred to, and those of other kinds, which are somebody else's business.
  private func used(_ ids: [KeyID], or others: [KeyID]) -> JSONTree {
    var objects: [ByteString: JSONTree] = [:]
    for id in ids + others { objects[ByteString(id.description)] = keys[id] }
    return .object(objects)
  }

  /// Bins, whose paths are shared out by their hashes, are signed by the keys of targets: they follow these keys.
  mutating func followTargets(from old: RoleKeys) {
    guard let new = roles[.targets], RoleDraft(old) != new else { return }
    for index in teams.indices where teams[index].paths == nil && teams[index].role == RoleDraft(old) { teams[index].role = new }
  }

  /// The delegations of the next targets; nil for none.
  var delegations: JSONTree? {
    guard !teams.isEmpty || !delegationMembers.isEmpty else { return nil }
    var members = delegationMembers
    members[.keys] = used(teams.flatMap(\.role.keyIDs), or: [])
    members[.roles] = .array(
      teams.map { team in
        var members = team.members
        team.role.write(into: &members)
        members[.name] = .string(team.name)
        members[.terminating] = .boolean(team.isTerminating)
        if let paths = team.paths {
          members[.paths] = .array(paths.map { .string($0.text) })
          members[.pathHashPrefixes] = nil
        }
        return .object(members)
      })
    return .object(members)
  }
}
