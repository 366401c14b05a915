internal import FileIO
internal import ManifestVerifier
public import TUFMetadata

/// What a person sees before signing.
public struct CeremonyReview: Sendable {
  public internal(set) var ceremony: Ceremony
  /// What the files from other machines have brought.
  public let added: [AddedSignatures]
  /// How the published root differs from the one that the signer trusts, in words; empty where it is that one.
  public let sinceTrusted: [String]
  /// What each waiting file changes of what is published, in words.
  public let changes: [(role: MetadataRole, words: [String])]
  public let warnings: [StructureWarning]
}

/// What a step of a ceremony did.
public struct CeremonyReport: Sendable {
  /// Who has signed what now.
  public let signed: [(role: MetadataRole, signers: [KeyID])]
  /// What became visible to devices; nil where signatures are missing.
  public let publication: Publication?
  /// What waits for signatures still.
  public let waiting: [WaitingFile]
}

extension Repository {
  /// Reads what is published and what waits, and takes away what a publication has left that broke off once all of it was visible.
  public func ceremony() throws(SigningError) -> Ceremony {
    let ceremony = try Self.ceremony(layout)
    if !ceremony.finished.isEmpty { try PendingFolder.write(ceremony, layout) }
    try removeNextMetadata()
    return ceremony
  }

  /// Reads what is published and what waits, of a repository that others may be changing.
  public static func ceremony(_ layout: RepositoryLayout) throws(SigningError) -> Ceremony {
    let state = try PublishedState(layout)
    let pending = try PendingFolder.read(layout)
    let policy = try Policy.read(layout.policy)
    var ceremony = Ceremony(
      state: state, delegated: try PublishedDelegations(state, layout), policy: policy,
      proposedPolicy: pending.policy == policy ? nil : pending.policy, pending: pending.files)
    // What a publication that broke off after the swap has left.
    for (role, file) in pending.files where ceremony.published(role)?.message == file.message {
      ceremony.pending[role] = nil
      ceremony.finished.append((role, file.version))
    }
    ceremony.finished.sort { Ceremony.order($0.role) < Ceremony.order($1.role) }
    return ceremony
  }

  // MARK: Proposing

  /// Proposes the next root or the next delegations; see `Ceremony.propose`.
  public func propose(
    _ edits: [ProposedEdit], allowsShared: Bool = false, now: UTCTime
  ) throws(SigningError) -> CeremonyReview {
    let name = try keyNames()
    var ceremony = try ceremony()
    let warnings = try ceremony.propose(edits, allowsShared: allowsShared, now: now, name: name)
    try PendingFolder.write(ceremony, layout)
    return CeremonyReview(ceremony: ceremony, added: [], sinceTrusted: [], changes: ceremony.changes(name: name), warnings: warnings)
  }

  /// Drops what waits for signatures.
  /// - Returns: the names of its files, which need not even be readable.
  public func abandon() throws(SigningError) -> [String] {
    let dropped = try PendingFolder.clear(layout)
    try removeNextMetadata()
    return dropped
  }

  // MARK: Signing

  /// Takes signatures from files, and tells what is to be signed against the signer's own root.
  /// - Parameter files: paths of metadata files from other machines, in any order.
  /// - Throws: `ceremony` and others; then nothing of the files is taken.
  public func review(files: [String] = [], trusting root: TrustedRoot, now: UTCTime) throws(SigningError) -> CeremonyReview {
    let name = try keyNames()
    var ceremony = try ceremony()
    try root.require(ceremony.state)
    var added: [AddedSignatures] = []
    // A root comes first: its keys decide whose signatures of the others count.
    var contents: [(path: String, bytes: [UInt8], isRoot: Bool)] = []
    for path in files {
      let bytes = try onDisk { () throws(FileError) in try readFile(path, limit: VerificationLimits().metadataByteCount) }
      contents.append((path, bytes, (try? MetadataEnvelope(parsing: bytes))?.type == .root))
    }
    for file in contents.filter(\.isRoot) + contents.filter({ !$0.isRoot }) {
      added.append(try ceremony.add(file.bytes, named: file.path, name: name))
    }
    guard !ceremony.pending.isEmpty else { throw .ceremony(.nothingPending) }
    let warnings = try ceremony.review(now: now, name: name)
    let newest = ceremony.published(.root)
    let sinceTrusted =
      newest.map { $0.message == root.file.message ? [] : MetadataChanges.words(from: root.file, to: $0, name: name) } ?? []
    return CeremonyReview(
      ceremony: ceremony, added: added, sinceTrusted: sinceTrusted, changes: ceremony.changes(name: name), warnings: warnings)
  }

  /// Signs what was reviewed with the keys at hand, and publishes it where all thresholds are met.
  public func sign(_ review: CeremonyReview, with keys: SigningKeys, now: UTCTime) throws(SigningError) -> CeremonyReport {
    try finish(review.ceremony, with: keys, now: now)
  }

  /// Signs all that waits with the keys at hand, keeps it, and publishes it where all thresholds are met.
  func finish(
    _ ceremony: Ceremony, with keys: SigningKeys, resigning: Set<TopLevelRole> = [], now: UTCTime
  ) throws(SigningError) -> CeremonyReport {
    try ceremony.rehearse(with: keys, resigning: resigning, now: now)
    var signing = ceremony
    let signed = try signing.sign(with: keys)
    var next = signing
    let step = try next.publication(with: keys, resigning: resigning, now: now)
    guard case .ready(let publication) = step else {
      try PendingFolder.write(next, layout)
      TrustedRoot.keep(ceremony.state.root.bytes, after: ceremony.state, layout)
      return CeremonyReport(signed: signed, publication: nil, waiting: next.waiting)
    }
    // No signature is lost where the publication breaks off.
    try PendingFolder.write(signing, layout)
    try removeLeftovers(of: ceremony.state)
    try show(publication, after: ceremony.state)
    try PendingFolder.write(next, layout)
    return CeremonyReport(signed: signed, publication: publication, waiting: next.waiting)
  }

  /// What people call keys, by `keys`.
  func keyNames() throws(SigningError) -> (KeyID) -> String {
    let ring = try KeyRing(layout)
    let holders = try Policy.read(layout.policy).holders
    return { id in
      let name = ring.name(of: id)
      return holders[name].map { "\(name) (\($0))" } ?? name
    }
  }
}

extension Ceremony {
  /// What each waiting file changes of what is published, in words.
  public func changes(name: (KeyID) -> String) -> [(role: MetadataRole, words: [String])] {
    pending.sorted { Self.order($0.key) < Self.order($1.key) }.enumerated().map { index, entry in
      var words = MetadataChanges.words(from: published(entry.key), to: entry.value, name: name)
      if entry.key == .targets { words += movesInWords }
      return (entry.key, index == 0 ? words + policyChanges : words)
    }
  }

  private var policyChanges: [String] {
    guard let proposedPolicy else { return [] }
    var words: [String] = []
    for role in TopLevelRole.allCases where proposedPolicy.lifetime(of: role) != policy.lifetime(of: role) {
      let days = proposedPolicy.lifetime(of: role)
      words.append("\(role) metadata will be valid for \(days) \(days == 1 ? "day" : "days") instead of \(policy.lifetime(of: role))")
    }
    for key in Set(policy.holders.keys).union(proposedPolicy.holders.keys).sorted() where policy.holders[key] != proposedPolicy.holders[key]
    {
      words.append("the key \(key) is held by \(proposedPolicy.holders[key] ?? "nobody named")")
    }
    return words
  }
}
