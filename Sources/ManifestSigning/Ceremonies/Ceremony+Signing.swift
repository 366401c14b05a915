internal import ManifestVerifier
public import TUFMetadata

/// What a file from another machine has brought.
public struct AddedSignatures: Equatable, Sendable {
  public let role: MetadataRole
  /// Whose signatures were not here yet.
  public let signers: [KeyID]
  /// Whether nothing waited for this role, so that the file is the proposal from now on.
  public let isAdopted: Bool
}

extension Ceremony {
  /// Takes the signatures out of a file that was signed on another machine, or, where nothing waits for its role, the whole proposal.
  /// - Parameters:
  ///   - bytes: a metadata file.
  ///   - path: for messages.
  ///   - name: what people call a key.
  /// - Throws: `ceremony` with what does not belong here, or `metadata`; then nothing is taken.
  public mutating func add(_ bytes: [UInt8], named path: String, name: (KeyID) -> String) throws(SigningError) -> AddedSignatures {
    let file: MetadataEnvelope
    do { file = try MetadataEnvelope(parsing: bytes) } catch { throw .metadata(path: path, error) }
    let role = try role(of: file, named: path)
    try requireNewer(file, role, named: path)
    var next = self
    let known = pending[role]
    if let known, known.message != file.message {
      throw .ceremony(
        .otherProposal(
          file: path, role: "\(role.name)", differences: MetadataChanges.differences(from: known, to: file, name: name)))
    }
    if known == nil {
      var unsigned = file
      unsigned.removeSignatures()
      next.pending[role] = unsigned
    }
    let requirements = next.requirements(for: role)
    var signers: [KeyID] = []
    for (id, signature) in file.signatures.sorted(by: { $0.key < $1.key }) {
      guard let key = requirements.lazy.compactMap({ $0.publicKey(id) }).first else {
        throw .ceremony(.foreignSignature(file: path, role: "\(role.name)", key: name(id)))
      }
      guard file.isSigned(by: id, key) else {
        throw .ceremony(.invalidSignature(file: path, role: "\(role.name)", key: name(id)))
      }
      guard next.pending[role]?.signatures[id] == nil else { continue }
      next.pending[role]?.add(signature, by: id)
      signers.append(id)
    }
    self = next
    return AddedSignatures(role: role, signers: signers, isAdopted: known == nil)
  }

  /// Which role a file is for. The metadata of delegated roles does not say: what waits with the same content tells, then the file's name.
  private func role(of file: MetadataEnvelope, named path: String) throws(SigningError) -> MetadataRole {
    if let same = pending.first(where: { $0.value.message == file.message }) { return same.key }
    guard file.type == .targets else { return .topLevel(file.type) }
    let fileName = path.split(separator: "/").last.map(String.init) ?? path
    // Versions stand before the names of published files.
    let names = [fileName, String(fileName.drop { $0.isASCII && $0.isNumber }.drop { $0 == "." })]
    if names.contains(TopLevelRole.targets.fileName) { return .targets }
    var teams = Set(delegated.files.keys)
    for case .delegated(let name) in pending.keys { teams.insert(name) }
    for role in nextDelegations?.roles ?? [] { teams.insert(role.name) }
    for team in teams where names.contains(MetadataRole.delegated(team).fileName) { return .delegated(team) }
    throw .ceremony(.unexpectedFile(file: path, role: fileName))
  }

  private func requireNewer(_ file: MetadataEnvelope, _ role: MetadataRole, named path: String) throws(SigningError) {
    guard let published = published(role)?.version, file.version <= published else { return }
    throw .ceremony(.superseded(file: path, role: "\(role.name)", offered: file.version, published: published))
  }

  /// Refuses to sign what would strand devices or comes too late, whoever proposed it.
  /// - Returns: what is fragile.
  public func review(now: UTCTime, name: @escaping (KeyID) -> String) throws(SigningError) -> [StructureWarning] {
    for role in proposedRoles {
      guard let file = pending[role] else { continue }
      try requireNewer(file, role, named: "pending/\(role.fileName)")
      // A publication that broke off has used a version or two; a leap would use up the numbers that are left.
      guard try file.version.number - state.nextVersion(of: role).number <= Self.longestLeap else {
        throw .ceremony(.notNext(role: "\(role.name)", offered: file.version, published: published(role)?.version ?? .first))
      }
      guard file.expires > now else { throw .ceremony(.expired(role: "\(role.name)", since: file.expires)) }
    }
    if let next = pending[.root]?.root {
      guard next.version == root.version.next else {
        throw .ceremony(.notNext(role: "root", offered: next.version, published: root.version))
      }
      let old = Set(TopLevelRole.allCases.flatMap { root[$0].keyIDs })
      try requireFresh(TopLevelRole.allCases.flatMap { next[$0].keyIDs }.filter { !old.contains($0) })
      guard next.consistentSnapshot == root.consistentSnapshot else {
        throw .ceremony(
          .otherProposal(file: "pending/root.json", role: "root", differences: ["it changes the names of all files (consistent_snapshot)"]))
      }
    }
    let check = check(name: name)
    // A shared key was allowed by whoever proposed it; here it is told.
    let problems = check.problems(allowsShared: true)
    guard problems.isEmpty else { throw .ceremony(.refused(problems)) }
    return check.warnings + fileWarnings + expiryWarnings(at: now)
  }

  private static let longestLeap: Int64 = 1000

  /// What people propose and sign, root first.
  var proposedRoles: [MetadataRole] {
    pending.keys.filter { $0 != .snapshot && $0 != .timestamp }.sorted { Self.order($0) < Self.order($1) }
  }

  /// Adds the signatures of the keys at hand to all that is proposed. Snapshot and timestamp follow from that: `publication` signs them.
  /// - Returns: who has signed what now.
  public mutating func sign(with keys: SigningKeys) throws(SigningError) -> [(role: MetadataRole, signers: [KeyID])] {
    var signed: [(MetadataRole, [KeyID])] = []
    for role in proposedRoles {
      guard var file = pending[role] else { continue }
      let signers = try keys.sign(&file, for: requirements(for: role))
      pending[role] = file
      if !signers.isEmpty { signed.append((role, signers)) }
    }
    return signed
  }
}

extension Ceremony {
  /// What the keys at hand would sign.
  public func signable(with keys: SigningKeys) -> [MetadataRole] {
    proposedRoles.filter { role in
      guard let file = pending[role] else { return false }
      return requirements(for: role).contains { requirement in
        requirement.keys.keyIDs.contains { id in
          guard keys.isAtHand(id), let key = requirement.publicKey(id) else { return false }
          return !file.isSigned(by: id, key)
        }
      }
    }
  }

  /// - Throws: `ceremony(.alreadyPending)`.
  public func requireNothingPending() throws(SigningError) {
    guard pending.isEmpty else { throw .ceremony(.alreadyPending(roles: waiting.map { "\($0.role.name)" })) }
  }

  /// Every key that the root or the delegations of targets list.
  public var keyIDs: [KeyID] { Set(root.keys.keys).union(nextDelegations.map { Set($0.keys.keys) } ?? []).sorted() }

  /// The id under which a key is listed, else the one that it would be listed under.
  public func keyID(of key: Ed25519PublicKey) -> KeyID {
    for known in [root.keys, nextDelegations?.keys ?? [:]] {
      if let id = known.first(where: { $0.value.ed25519 == key })?.key { return id }
    }
    return Key(key).id
  }
}
