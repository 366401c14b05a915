public import TUFMetadata

/// What is wrong with a ceremony: a proposal that would strand devices, or signatures that don't belong to it.
public enum CeremonyFault: Equatable, Sendable {
  /// Something is proposed already, and waits for signatures.
  case alreadyPending(roles: [String])
  /// Nothing waits for signatures.
  case nothingPending
  /// Nothing is changed by the proposal.
  case noChange
  /// The structure would strand devices.
  case refused([StructureProblem])
  /// There is no role of this name.
  case noSuchRole(String)
  /// A team can't bear this name.
  case teamName(String)
  /// There is a team of this name already.
  case teamExists(String)
  /// The role does not list the key.
  case keyNotInRole(key: String, role: String)
  /// The role lists the key already.
  case keyInRole(key: String, role: String)
  /// A team is not trusted with this path, or is already.
  case path(String, team: String, isListed: Bool)
  /// A signature by a key that may not sign the role: for a root, one that stands in neither the old nor the new.
  case foreignSignature(file: String, role: String, key: String)
  /// A signature that does not hold: it was made over other bytes, or is damaged.
  case invalidSignature(file: String, role: String, key: String)
  /// The file is another proposal than the one that waits here.
  case otherProposal(file: String, role: String, differences: [String])
  /// The file proposes a version that is published, or passed over, already.
  case superseded(file: String, role: String, offered: Version, published: Version)
  /// The proposal does not follow what is published here.
  case notNext(role: String, offered: Version, published: Version)
  /// The proposal has waited for too long.
  case expired(role: String, since: UTCTime)
  /// A file that is neither root nor targets nor a delegated role's.
  case unexpectedFile(file: String, role: String)
  /// There is no root that the signer trusts.
  case noTrustedRoot(path: String)
  /// What is published is older than the root that the signer trusts.
  case olderThanTrusted(trusted: Version, published: Version)
  /// What is published as a version is not the root that the signer trusts in this version.
  case otherThanTrusted(Version)
  /// Files that the team is not trusted with.
  case notDelegated(team: String, paths: [TargetPath])
  /// Published files that were handed to teams which do not list them.
  case notTakenOver([TargetPath])
  /// Metadata that waits for signatures would be published over.
  case waiting(roles: [String])
  /// The file system can't swap two folders at once.
  case cannotSwap(path: String)
}

extension CeremonyFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .alreadyPending(let roles): "a proposal waits for signatures already: \(roles.joined(separator: ", "))"
    case .nothingPending: "nothing waits for signatures"
    case .noChange: "the proposal changes nothing"
    case .refused(let problems): "the proposal is refused: \(problems.map(\.description).joined(separator: "; "))"
    case .noSuchRole(let name): "there is no role \(name): expected root, targets, snapshot, timestamp or a team that targets delegates to"
    case .teamName(let name):
      "\(name) can't be the name of a team: expected 1 to 100 letters, digits, \"-\", \"_\", \".\" or \"/\", beginning with a letter or digit, "
        + "and no top-level role's name"
    case .teamExists(let name): "there is a team \(name) already"
    case .keyNotInRole(let key, let role): "\(role) does not list the key \(key)"
    case .keyInRole(let key, let role): "\(role) lists the key \(key) already"
    case .path(let path, let team, let isListed): "\(team) is \(isListed ? "already" : "not") trusted with \(path)"
    case .foreignSignature(let file, let role, let key):
      "\(file) carries a signature by the key \(key), which may not sign this \(role): "
        + (role == "root" ? "expected a key of the old root or of the new one" : "expected one of the role's keys")
    case .invalidSignature(let file, let role, let key):
      "\(file) carries a signature by the key \(key) that does not hold: it was made over other bytes than this \(role), or is damaged"
    case .otherProposal(let file, let role, let differences):
      "\(file) is another \(role) than the one that waits here: \(differences.joined(separator: "; "))"
    case .superseded(let file, let role, let offered, let published):
      "\(file) is \(role) version \(offered), and version \(published) is published: its signatures are of no use any more"
    case .notNext(let role, let offered, let published):
      "\(role) version \(offered) does not follow version \(published), the newest that is published here"
    case .expired(let role, let since): "the proposed \(role) was valid until \(since): nobody could use it"
    case .unexpectedFile(let file, let role): "\(file) is \(role) metadata that nothing here delegates to or waits for"
    case .noTrustedRoot(let path): "there is no root to compare with: expected the root that you trust in \(path)"
    case .olderThanTrusted(let trusted, let published):
      "what is published was rolled back: expected root version \(trusted), which you trust, or newer; found version \(published)"
    case .otherThanTrusted(let version): "root version \(version) as it is published is not the root version \(version) that you trust"
    case .notDelegated(let team, let paths):
      "\(team) is not trusted with \(paths.prefix(20).map(\.description).joined(separator: ", "))"
        + (paths.count > 20 ? " and \(paths.count - 20) more" : "")
    case .notTakenOver(let paths):
      "no team lists what was handed over: \(paths.prefix(20).map(\.description).joined(separator: ", "))"
        + (paths.count > 20 ? " and \(paths.count - 20) more" : "")
    case .waiting(let roles): "what waits for signatures would be lost: \(roles.joined(separator: ", "))"
    case .cannotSwap(let path): "the file system of \(path) can't swap two folders at once, which the change of a root with its roles needs"
    }
  }
}

/// Why a structure of keys and thresholds would strand devices, or hand a role to somebody it is not meant for.
public enum StructureProblem: Equatable, Sendable {
  case noKeys(role: String)
  /// More keys would have to sign than there are, or none at all.
  case threshold(role: String, Int, keyCount: Int)
  case sharedKey(key: String, roles: [String])
  case noPaths(team: String)
  /// A team that this version of the repository has to have metadata for, and has not.
  case missingMetadata(team: String)
}

extension StructureProblem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noKeys(let role): "\(role) would have no key, so that nothing could ever be signed for it"
    case .threshold(let role, ..<1, _): "\(role) would need no signature, so that anybody could write it"
    case .threshold(let role, let threshold, let keyCount):
      "\(role) would need \(threshold) signatures and have \(keyCount) \(keyCount == 1 ? "key" : "keys"), so that devices would trust nothing of it"
    case .sharedKey(let key, let roles): "the key \(key) would stand in \(roles.joined(separator: " and "))"
    case .noPaths(let team): "\(team) would be trusted with no path"
    case .missingMetadata(let team): "\(team) would have no metadata, so that devices could not search what it is trusted with"
    }
  }
}

/// What a structure of keys and thresholds makes fragile.
public enum StructureWarning: Equatable, Sendable {
  /// All keys have to sign: with the first lost one the role can't be signed any more.
  case thresholdIsKeyCount(role: String, keyCount: Int)
  /// Whoever steals one key can sign.
  case oneKeySigns(role: String)
  /// The metadata would be due for renewal at once.
  case expiresInRenewalWindow(role: String, expires: UTCTime)
  /// The metadata would be valid for longer than `keys/policy.json` says.
  case outlivesLifetime(role: String, expires: UTCTime, days: Int)
  /// The last change of the role's keys looks like an overlap that nobody has ended.
  case overlapIsRunning(role: String, since: Version)
  /// Files that are published would be found no longer.
  case filesGo(count: Int, first: TargetPath)
  /// A key stands in several roles, as was allowed.
  case sharedKey(key: String, roles: [String])
}

extension StructureWarning: CustomStringConvertible {
  public var description: String {
    switch self {
    case .thresholdIsKeyCount(let role, 1): "\(role) has a single key: if it is lost, nobody can sign for \(role)"
    case .thresholdIsKeyCount(let role, let count): "all \(count) keys of \(role) have to sign: if one is lost, nobody can sign for \(role)"
    case .oneKeySigns(let role): "one key alone can sign for \(role): whoever steals it can, too"
    case .expiresInRenewalWindow(let role, let expires):
      "\(role) expires \(expires), within its renewal window: it is to be renewed at once"
    case .outlivesLifetime(let role, let expires, let days): "\(role) would be valid until \(expires), for longer than its \(days) days"
    case .overlapIsRunning(let role, let since):
      "root version \(since) put keys of \(role) beside the older ones, which are still there: if that was an overlap, end it with "
        + "rotate \(role) --drop-old"
    case .filesGo(let count, let first):
      "devices would no longer find \(count == 1 ? "\(first)" : "\(count) published files, \(first) among them"); publish the models again "
        + "afterwards, so that the list of models names nothing that is gone"
    case .sharedKey(let key, let roles): "the key \(key) stands in \(roles.joined(separator: " and "))"
    }
  }
}
