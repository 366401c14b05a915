internal import TUFMetadata

/// What a proposal changes, in words for people. The words may hold untrusted names as they are: whoever prints them escapes them.
public enum MetadataChanges {
  /// The most paths that are named.
  private static let pathLimit = 200

  /// - Parameters:
  ///   - old: nil where nothing is published of the role.
  ///   - name: what people call a key.
  static func words(from old: MetadataEnvelope?, to new: MetadataEnvelope, name: (KeyID) -> String) -> [String] {
    var lines = [
      old.map { "version \(new.version) instead of \($0.version), valid until \(new.expires) instead of \($0.expires)" }
        ?? "version \(new.version), the first, valid until \(new.expires)"
    ]
    switch (old?.payload, new.payload) {
    case (.root(let before)?, .root(let after)): lines += roots(before, after, name)
    case (let before, .targets(let after)):
      let before: Targets? = if case .targets(let targets)? = before { targets } else { nil }
      lines += files(before, after)
      lines += delegations(before?.delegations, after.delegations, name)
    case (_, .snapshot(let after)):
      let before = old?.snapshot?.files ?? [:]
      for (file, description) in after.files.sorted(by: { $0.key < $1.key }) where before[file] != description {
        lines.append("names version \(description.version) of \(file)")
      }
    case (_, .timestamp(let after)): lines.append("names version \(after.snapshot.version) of snapshot.json")
    default: break
    }
    return lines + otherMembers(old, new)
  }

  /// What makes two proposals for one role different.
  static func differences(from old: MetadataEnvelope, to new: MetadataEnvelope, name: (KeyID) -> String) -> [String] {
    var lines: [String] = []
    if old.version != new.version { lines.append("it is version \(new.version), here version \(old.version) waits") }
    if old.expires != new.expires { lines.append("it is valid until \(new.expires), here until \(old.expires)") }
    let words = words(from: old, to: new, name: name).dropFirst()
    lines += words
    return lines.isEmpty ? ["the bytes differ"] : lines
  }

  // MARK: Roots

  private static func roots(_ old: Root, _ new: Root, _ name: (KeyID) -> String) -> [String] {
    var lines: [String] = []
    for role in TopLevelRole.allCases {
      lines += keys(role.rawValue, old[role], new[role], name)
    }
    if old.consistentSnapshot != new.consistentSnapshot {
      lines.append("file names \(new.consistentSnapshot ? "carry" : "no longer carry") versions and digests (consistent_snapshot)")
    }
    return lines
  }

  /// A key that comes is told with its fingerprint: names are the proposer's word, the key is what is signed.
  private static func keys(_ role: String, _ old: RoleKeys?, _ new: RoleKeys, _ name: (KeyID) -> String) -> [String] {
    var lines: [String] = []
    let before = old?.keyIDs ?? []
    for id in new.keyIDs where !before.contains(id) { lines.append("\(role) gets the key \(name(id)), fingerprint \(KeyFingerprint(id))") }
    for id in before where !new.keyIDs.contains(id) { lines.append("\(role) loses the key \(name(id)), fingerprint \(KeyFingerprint(id))") }
    let rule = "\(new.threshold) of \(new.keyIDs.count) keys of \(role) must sign"
    if let old, old.threshold != new.threshold || old.keyIDs.count != new.keyIDs.count {
      lines.append("\(rule), instead of \(old.threshold) of \(old.keyIDs.count)")
    } else if old == nil {
      lines.append(rule)
    }
    return lines
  }

  // MARK: Targets

  private static func files(_ old: Targets?, _ new: Targets) -> [String] {
    var lines: [String] = []
    var count = 0
    func note(_ line: String) {
      count += 1
      if count <= pathLimit { lines.append(line) }
    }
    for (path, file) in new.all {
      guard let before = old?[path] else {
        note("adds \(path), \(file.byteCount) bytes, SHA-256 \(file.hashes.sha256)")
        continue
      }
      if before != file { note("replaces \(path): \(file.byteCount) bytes, SHA-256 \(file.hashes.sha256)") }
    }
    if let old { for (path, _) in old.all where new[path] == nil { note("takes away \(path)") } }
    if count > pathLimit { lines.append("and \(count - pathLimit) more files") }
    return lines
  }

  private static func delegations(_ old: Delegations?, _ new: Delegations?, _ name: (KeyID) -> String) -> [String] {
    let before = Dictionary((old?.roles ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Set((new?.roles ?? []).map(\.name))
    var lines: [String] = []
    for role in new?.roles ?? [] {
      let known = before[role.name]
      if known == nil { lines.append("delegates to \(role.name)") }
      lines += scope(role, known)
      lines += keys("\(role.name)", known?.keys, role.keys, name)
      if known.map({ $0.isTerminating != role.isTerminating }) ?? role.isTerminating {
        lines.append(
          role.isTerminating
            ? "\(role.name) ends a search: roles after it are not asked for its paths" : "\(role.name) no longer ends a search")
      }
    }
    for role in old?.roles ?? [] where !after.contains(role.name) { lines.append("no longer delegates to \(role.name)") }
    let orders = [old, new].map { ($0?.roles ?? []).map(\.name).filter { before[$0] != nil && after.contains($0) } }
    if orders[0] != orders[1] { lines.append("asks the teams in another order: \(orders[1].map(\.description).joined(separator: ", "))") }
    return lines
  }

  private static func scope(_ new: DelegatedRole, _ old: DelegatedRole?) -> [String] {
    let (before, after) = (patterns(old), patterns(new))
    guard before != after else { return [] }
    return after.filter { !before.contains($0) }.map { "\(new.name) is trusted with \($0)" }
      + before.filter { !after.contains($0) }.map { "\(new.name) is no longer trusted with \($0)" }
  }

  private static func patterns(_ role: DelegatedRole?) -> [String] {
    switch role?.scope {
    case nil: []
    case .paths(let patterns)?: patterns.map { "\($0.text)" }
    case .pathHashPrefixes(let prefixes)?: prefixes.map { "paths whose hash begins with \($0)" }
    }
  }

  // MARK: What has no words

  /// Members that are no part of what was told above, and are signed all the same.
  private static func otherMembers(_ old: MetadataEnvelope?, _ new: MetadataEnvelope) -> [String] {
    let told: Set<ByteString> = [.version, .expires, .keys, .roles, .targets, .delegations, .meta, .consistentSnapshot, .type]
    guard let before = old?.members else { return [] }
    let after = new.members
    return Set(before.keys).union(after.keys).subtracting(told).sorted().filter { before[$0] != after[$0] }
      .map { "changes the member \($0), which has no words here" }
  }
}
