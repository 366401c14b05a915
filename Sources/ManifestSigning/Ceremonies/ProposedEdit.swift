public import TUFMetadata

/// One edit of who may sign what. Several make one proposal, applied in their order.
///
/// A role is one of the four, or a team: a role that the top-level targets delegate some paths to.
public enum ProposedEdit: Equatable, Sendable {
  case addKey(Ed25519PublicKey, role: MetadataRole)
  case removeKey(KeyID, role: MetadataRole)
  case replaceKey(KeyID, by: Ed25519PublicKey, role: MetadataRole)
  case setThreshold(Int, role: MetadataRole)
  /// Days from signing to expiry, kept in `keys/policy.json`. A team's metadata lives as long as that of targets.
  case setLifetime(days: Int, role: TopLevelRole)
  /// Who holds a key, kept in `keys/policy.json`; nil takes the name away.
  case setHolder(String?, key: String)
  /// Delegates paths to a team, which gets its keys by further edits.
  case addTeam(ByteString, paths: [PathPattern], isTerminating: Bool)
  case removeTeam(ByteString)
  case renameTeam(ByteString, to: ByteString)
  case addPath(PathPattern, team: ByteString)
  case removePath(PathPattern, team: ByteString)
  case setTerminating(Bool, team: ByteString)
  /// The same root once more, with a new expiry.
  case renewRoot

  /// Whether the edit needs a new root.
  var concernsRoot: Bool {
    if case .setHolder = self { false } else { !concernsTeams }
  }

  /// Whether the edit is one of the top-level targets, whose delegations say who the teams are.
  var concernsTeams: Bool {
    switch self {
    case .addTeam, .removeTeam, .renameTeam, .addPath, .removePath, .setTerminating: true
    case .addKey(_, .delegated), .removeKey(_, .delegated), .replaceKey(_, _, .delegated), .setThreshold(_, .delegated): true
    default: false
    }
  }
}

/// A role's keys and threshold while a proposal is made.
struct RoleDraft: Equatable, Sendable {
  var keyIDs: [KeyID]
  var threshold: Int

  init(_ keys: RoleKeys) {
    keyIDs = keys.keyIDs
    threshold = keys.threshold
  }

  init() {
    keyIDs = []
    threshold = 1
  }

  mutating func add(_ id: KeyID, named name: String, role: String) throws(SigningError) {
    guard !keyIDs.contains(id) else { throw .ceremony(.keyInRole(key: name, role: role)) }
    keyIDs.append(id)
  }

  mutating func remove(_ id: KeyID, named name: String, role: String) throws(SigningError) {
    guard let index = keyIDs.firstIndex(of: id) else { throw .ceremony(.keyNotInRole(key: name, role: role)) }
    keyIDs.remove(at: index)
  }

  mutating func replace(_ id: KeyID, by new: KeyID, names: (KeyID) -> String, role: String) throws(SigningError) {
    guard let index = keyIDs.firstIndex(of: id) else { throw .ceremony(.keyNotInRole(key: names(id), role: role)) }
    guard !keyIDs.contains(new) else { throw .ceremony(.keyInRole(key: names(new), role: role)) }
    keyIDs[index] = new
  }

  /// The members of the role's object, what else stood there kept.
  func write(into members: inout [ByteString: JSONTree]) {
    members[.keyids] = .array(keyIDs.map { .string(ByteString($0.description)) })
    members[.threshold] = .integer(Int64(threshold))
  }
}
