internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

/// The edits of a proposal, as options.
enum EditOptions {
  private static let addTeam = Option.repeated("--add-team", "TEAM", "Delegate paths to a team; give it paths and keys as well.")
  private static let renameTeam = Option.repeated("--rename-team", "OLD=NEW", "Give a team another name.")
  private static let removeTeam = Option.repeated("--remove-team", "TEAM", "Take a team's delegation away.")
  private static let addPath = Option.repeated("--add-path", "TEAM=PATTERN", "Trust a team with the paths that match.")
  private static let removePath = Option.repeated("--remove-path", "TEAM=PATTERN", "No longer trust a team with these paths.")
  private static let terminating = Option.repeated(
    "--terminating", "TEAM=yes|no", "Whether a search for the team's paths ends with it.")
  private static let addKey = Option.repeated("--add-key", "ROLE=KEY", "Let a key sign for a role.")
  private static let replaceKey = Option.repeated("--replace-key", "ROLE=OLD,NEW", "Put a key in the place of another.")
  private static let removeKey = Option.repeated("--remove-key", "ROLE=KEY", "Take a key away from a role.")
  private static let threshold = Option.repeated("--threshold", "ROLE=N", "How many keys of a role have to sign.")
  private static let lifetime = Option.repeated("--lifetime", "ROLE=DAYS", "How long metadata of a role is valid.")
  private static let holder = Option.repeated("--holder", "KEY=NAME", "Who holds a key.")
  private static let renew = Option.flag("--renew", "The same root with a new expiry.")

  static let all = [
    addTeam, renameTeam, removeTeam, addPath, removePath, terminating, addKey, replaceKey, removeKey, threshold, lifetime, holder, renew,
  ]

  static func edits(_ invocation: Invocation, _ layout: RepositoryLayout, _ ceremony: Ceremony) throws -> [ProposedEdit] {
    let store = try KeyStore(layout)
    var edits: [ProposedEdit] = invocation.values(addTeam.name).map { .addTeam(ByteString($0), paths: [], isTerminating: false) }
    for text in invocation.values(renameTeam.name) {
      let (old, new) = try split(text, renameTeam)
      edits.append(.renameTeam(ByteString(old), to: ByteString(new)))
    }
    edits += invocation.values(removeTeam.name).map { .removeTeam(ByteString($0)) }
    for text in invocation.values(addPath.name) {
      let (team, pattern) = try split(text, addPath)
      edits.append(.addPath(PathPattern(ByteString(pattern)), team: ByteString(team)))
    }
    for text in invocation.values(removePath.name) {
      let (team, pattern) = try split(text, removePath)
      edits.append(.removePath(PathPattern(ByteString(pattern)), team: ByteString(team)))
    }
    for text in invocation.values(terminating.name) {
      let (team, answer) = try split(text, terminating)
      guard answer == "yes" || answer == "no" else { throw usage(text, terminating) }
      edits.append(.setTerminating(answer == "yes", team: ByteString(team)))
    }
    for text in invocation.values(addKey.name) {
      let (name, key) = try split(text, addKey)
      edits.append(.addKey(try store.publicKey(named: key), role: role(name)))
    }
    for text in invocation.values(replaceKey.name) {
      let (name, keys) = try split(text, replaceKey)
      let (old, new) = try split(keys, replaceKey, separator: ",")
      edits.append(
        .replaceKey(try keyID(old, store, ceremony), by: try store.publicKey(named: new), role: role(name)))
    }
    for text in invocation.values(removeKey.name) {
      let (name, key) = try split(text, removeKey)
      edits.append(.removeKey(try keyID(key, store, ceremony), role: role(name)))
    }
    for text in invocation.values(threshold.name) {
      let (name, count) = try split(text, threshold)
      guard let count = Int(count), RepositoryCreation.RoleSize.bounds.contains(count) else { throw usage(text, threshold) }
      edits.append(.setThreshold(count, role: role(name)))
    }
    for text in invocation.values(lifetime.name) {
      let (name, days) = try split(text, lifetime)
      guard let role = TopLevelRole(rawValue: name), let days = Int(days), Policy.lifetimeBounds.contains(days) else {
        throw usage(text, lifetime)
      }
      edits.append(.setLifetime(days: days, role: role))
    }
    for text in invocation.values(holder.name) {
      let (key, name) = try split(text, holder)
      _ = try store.publicKey(named: key)
      edits.append(.setHolder(name, key: key))
    }
    if invocation.flag(renew.name) { edits.append(.renewRoot) }
    return edits
  }

  static func role(_ name: String) -> MetadataRole { TopLevelRole(rawValue: name).map { .topLevel($0) } ?? .delegated(ByteString(name)) }

  /// A key by its name in `keys`, or by the beginning of its id.
  static func keyID(_ text: String, _ store: KeyStore, _ ceremony: Ceremony) throws -> KeyID {
    do { return ceremony.keyID(of: try store.publicKey(named: text)) } catch {
      let matching = ceremony.keyIDs.filter { text.utf8.count >= 8 && $0.description.hasPrefix(text) }
      guard matching.count == 1, let id = matching.first else { throw error }
      return id
    }
  }

  static func split(_ text: String, _ option: Option, separator: Character = "=") throws(Failure) -> (String, String) {
    guard let index = text.firstIndex(of: separator), index != text.startIndex, text.index(after: index) != text.endIndex else {
      throw usage(text, option)
    }
    return (String(text[..<index]), String(text[text.index(after: index)...]))
  }

  private static func usage(_ text: String, _ option: Option) -> Failure {
    Failure(.usage, "\(option.name) \(text) can't be understood", expected: option.placeholder, found: "\"\(text)\"")
  }
}
