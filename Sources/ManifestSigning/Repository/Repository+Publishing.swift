internal import Digests
internal import FileIO
public import ManifestVerifier
internal import ModelCatalog
public import ModelFormats
public import TUFMetadata

/// What to do where a publication would change what is published already.
public struct PublishingOptions: Equatable, Sendable {
  /// Whether the models themselves are put into `targets` too.
  public var stages = false
  /// Whether a file of a published version may get another content.
  public var allowsReplacing = false
  /// Whether a file that is published may be missing.
  public var allowsRemoving = false
  /// Whether a source on the Hugging Face Hub may be a branch or a tag, which can come to lead to another file.
  public var allowsMovingSources = false
  /// Whether every file is read, those too that earlier publications have read and that have not changed since.
  public var rehashes = false
  /// Over how many bins the files are spread from now on: 1 for none, nil for as many as before.
  public var binCount: Int?
  /// The most threads that hash; nil for as many as there are cores.
  public var jobs: Int?

  public init() {}
}

/// Where the files of a publication are.
public enum PublishingSource: Equatable, Sendable {
  /// A folder: `<org>/<name>/<version>/files…`, with `<org>/<name>/model.json` where people wrote one.
  case folder(String)
  /// What `hash` wrote on the machines where the files lie. None of them is read.
  case fragments([String])
}

/// What a publication did.
public struct PublishingReport: Sendable {
  /// What is published now; nil where nothing is yet.
  public let manifest: TrustedManifest?
  /// How that differs from what was published before.
  public let changes: ManifestChanges
  /// Whether it was signed again without a change, because the last third of a role's lifetime has begun.
  public let isRenewed: Bool
  /// Whether, without a change, the files were spread over another number of bins, or these signed by other keys.
  public let isSpreadAnew: Bool
  /// The roles that the files are spread over, and how many of them were signed; nil where the top-level targets list all files.
  public let bins: (count: Int, signedCount: Int)?
  /// The files that are neither GGUF nor safetensors, and what their first bytes look like.
  public let unknownFiles: [(path: TargetPath, content: FileContent)]
  /// The number of models and of their files, and the bytes of those files.
  public let modelCount: Int
  public let fileCount: Int
  public let byteCount: Int64
  /// The files that were put into `targets`; those that lay there already do not count.
  public let stagedCount: Int
  /// The files that had to be read: the others were known from earlier publications.
  public let hashedCount: Int
  /// What is wrong with what is remembered of earlier publications.
  public let cacheWarnings: [String]
  /// What a person should look at.
  public let warnings: [String]
  /// What waits in `pending` because fewer keys are at hand than have to sign; then devices see nothing of it yet.
  public let waiting: [WaitingFile]
}

extension Repository {
  /// Hashes a folder of models, signs the whole catalog, and makes it visible at once, the timestamp last.
  ///
  /// Where fewer keys are at hand than have to sign, but one of the role at least, the result waits in `pending`.
  /// - Parameters:
  ///   - source: the files, or what other machines say of them.
  ///   - team: the role that lists the files; nil for the top-level targets, which list all that no team is trusted with.
  ///   - now: the time of signing, from which the expiries are counted.
  ///   - observer: told of keys without a passphrase and of the progress, and asked whether to stop.
  /// - Throws: `SigningError`; then nothing of the publication is visible.
  public func publish(
    _ source: PublishingSource, _ options: PublishingOptions, as team: ByteString? = nil, passphrases: PassphraseSource, now: UTCTime,
    observer: some PublishingObserver
  ) throws(SigningError) -> PublishingReport {
    let reading = SideWork { [layout] in Result { () throws(SigningError) in try PublishedState(layout) } }
    let scanned = scan(source, options)
    // What is wrong with the repository is told first.
    let state = try reading.value.get()
    try TrustedRoot.requireKept(state, layout)
    let (policy, isNewPolicy) = try policy(options)
    try removeLeftovers(of: state)
    let share = try CatalogShare(state, team: team, layout)
    let hashed =
      switch scanned {
      case .folder(let folder):
        try HashedCatalog(
          folder.get(), servedIn: layout, allowsMovingSources: options.allowsMovingSources, jobs: options.jobs, observer)
      case .fragments(let paths):
        try HashedCatalog(merge(paths, RetiredKeys(state), policy, now), allowsMovingSources: options.allowsMovingSources)
      }
    var content = try CatalogContent(hashed, others: share.othersModels) { [layout] (model) throws(SigningError) in
      try share.publishedDescription(of: model.name, layout)
    }
    try share.take(from: &content.manifest)
    let spread = team == nil ? policy.bins.map { SpreadManifest(content.manifest, over: $0, since: state.bins) } : nil
    let changes = share.changes(to: content.manifest, spread)
    try Self.requireAllowed(changes, content, options)
    let renews = changes.isEmpty && share.isDue(policy, at: now)
    let spreadsAnew = team == nil && changes.isEmpty && !renews && !state.isSpread(as: policy)
    var (manifest, waiting, signedBinCount) = (state.manifest, [WaitingFile](), 0)
    let stagedCount: Int
    if changes.isEmpty && !renews && !spreadsAnew {
      stagedCount = try writeTargets(content, options, observer)
    } else if team == nil, try KeyRing(layout).canSign([.targets, .snapshot, .timestamp], state.root.payload) {
      let ceremony = try PendingFolder.isEmpty(layout) ? nil : ceremonyToPublishOver(.targets)
      let signed = try sign(content.manifest, spread, state, policy, now, passphrases, observer)
      stagedCount = try writeTargets(content, options, observer)
      guard !observer.isCancelled() else { throw .cancelled }
      // Before what it tells is visible, so that no publication goes back to what it told before.
      if isNewPolicy { try onDisk { () throws(FileError) in try replaceFile(at: layout.policy, with: policy.bytes) } }
      (manifest, signedBinCount) = (try show(signed, after: state), signed.bins.count)
      if let ceremony { try forget(.targets, of: ceremony) }
    } else {
      let keys = try SigningKeys(layout, passphrases, notice: observer.notice)
      var ceremony = try ceremonyToPublishOver(share.role)
      if isNewPolicy { ceremony.proposedPolicy = policy }
      ceremony = try share.propose(content.manifest, ceremony, keys, now)
      stagedCount = try writeTargets(content, options, observer)
      guard !observer.isCancelled() else { throw .cancelled }
      let report = try finish(ceremony, with: keys, now: now)
      manifest = report.publication?.manifest ?? manifest
      if report.publication == nil { waiting = report.waiting }
    }
    let report = PublishingReport(
      manifest: manifest, changes: changes, isRenewed: renews, isSpreadAnew: spreadsAnew,
      bins: team == nil ? policy.bins.map { ($0.count, signedBinCount) } : nil, unknownFiles: content.unknownFiles,
      modelCount: content.hashed.scan.models.count, fileCount: content.hashed.files.count, byteCount: content.byteCount,
      stagedCount: stagedCount, hashedCount: hashed.hashedCount, cacheWarnings: hashed.cacheWarnings,
      warnings: content.warnings.map(\.description), waiting: waiting)
    Cores.release((consume content, consume spread, consume hashed, consume scanned))
    return report
  }

  /// What can be found out about a source without the published state.
  private enum Scanned: Sendable {
    case folder(Result<ScannedFolder, SigningError>)
    case fragments([String])
  }

  private func scan(_ source: PublishingSource, _ options: PublishingOptions) -> Scanned {
    switch source {
    case .folder(let folder):
      .folder(
        Result { () throws(SigningError) in try ScannedFolder(folder, rehashes: options.rehashes, jobs: options.jobs, layout) })
    case .fragments(let paths): .fragments(paths)
    }
  }

  /// Merges what other machines have hashed.
  private func merge(_ paths: [String], _ retired: RetiredKeys, _ policy: Policy, _ now: UTCTime) throws(SigningError) -> FragmentMerge {
    let ring = try KeyRing(layout)
    var machines: [String: Ed25519PublicKey] = [:]
    for (id, name) in ring.names where policy.machines.contains(name) { machines[name] = ring.publicKeys[id] }
    var fragments: [Fragment] = []
    for path in paths {
      fragments.append(
        try Fragment(path, machines: machines, now: now) { (id) throws(SigningError) in
          guard !ExampleKeys.contains(id) else { throw .exampleKey(id: id.description) }
          try retired.refuse(id)
        })
    }
    try SecretSearch(layout).refuse(in: fragments)
    return try FragmentMerge(fragments)
  }

  /// How this publication is made, and whether that differs from what the repository remembers.
  private func policy(_ options: PublishingOptions) throws(SigningError) -> (Policy, isNew: Bool) {
    var policy = try Policy.read(layout.policy)
    guard let count = options.binCount else { return (policy, false) }
    let old = policy.bins
    policy.bins = HashBins(count: count)
    guard policy.bins != nil || count == 1 else { throw .binCount(count) }
    return (policy, policy.bins != old)
  }

  /// A file of a version never changes silently: devices that have it would keep calling it intact.
  private static func requireAllowed(
    _ changes: ManifestChanges, _ content: CatalogContent, _ options: PublishingOptions
  ) throws(SigningError) {
    let replaced = changes.replaced.filter { content.documents[$0] == nil }
    guard replaced.isEmpty || options.allowsReplacing else { throw .replaced(replaced) }
    guard changes.removed.isEmpty || options.allowsRemoving else { throw .removed(changes.removed) }
    guard changes.notTakenOver.isEmpty || options.allowsRemoving else { throw .ceremony(.notTakenOver(changes.notTakenOver)) }
  }

  private func sign(
    _ manifest: Manifest, _ spread: SpreadManifest?, _ state: PublishedState, _ policy: Policy, _ now: UTCTime,
    _ passphrases: PassphraseSource, _ observer: some PublishingObserver
  ) throws(SigningError) -> PublishedSet {
    let ring = try KeyRing(layout)
    return try PublishedSet(manifest, spread, after: state, policy: policy, now: now) { (role) throws(SigningError) in
      try ring.signers(for: role, state.root.payload[role], passphrases, notice: observer.notice)
    }
  }

  /// Puts files into `targets` under names that carry their digests: nothing refers to them until the metadata does.
  private func writeTargets(
    _ content: CatalogContent, _ options: PublishingOptions, _ observer: some PublishingObserver
  ) throws(SigningError) -> Int {
    var count = 0
    for (path, bytes) in content.documents.sorted(by: { $0.key < $1.key }) {
      guard let file = content.manifest[path] else { continue }
      if try write(bytes, to: layout.target(path, file)) { count += 1 }
    }
    for file in content.hashed.files {
      guard let segments = file.segments, let place = layout.segments(file.file.path, file.target) else { continue }
      if try write(segments.bytes, to: place) { count += 1 }
    }
    guard options.stages else { return count }
    for file in content.hashed.files where content.manifest[file.file.path] != nil {
      let place = layout.target(file.file.path, file.target)
      // To read all of them again would double the work: `verify` does.
      guard try byteCount(of: place) != file.target.byteCount else { continue }
      try stage(file, from: content.hashed.scan.folder, to: place, options.jobs, observer)
      count += 1
    }
    return count
  }

  /// - Returns: false where the file was there already.
  private func write(_ bytes: [UInt8], to place: String) throws(SigningError) -> Bool {
    // Compared, for what was damaged since would be served as it is.
    guard try !holds(place, bytes) else { return false }
    try onDisk { () throws(FileError) in
      try FileSystem.createDirectories(folder(of: place))
      try replaceFile(at: place, with: bytes)
    }
    return true
  }

  /// Copies a model to where it will be served, and holds the copy against what was hashed before it gets its name: the source may have
  /// changed since.
  private func stage(
    _ hashed: HashedFile, from folder: String, to place: String, _ jobs: Int?, _ observer: some PublishingObserver
  ) throws(SigningError) {
    let served = self.folder(of: place)
    // One name is enough, for one process at a time changes the repository; what it stands for is never complete.
    let copy = served + "/" + Self.unfinishedCopy
    try onDisk { () throws(FileError) in
      try FileSystem.createDirectories(served)
      try Self.removeIfPresent(copy)
      try FileSystem.cloneOrCopy(from: "\(folder)/\(hashed.file.path)", to: copy, permissions: 0o644)
    }
    var verifier = FileVerifier(method: .tree, jobs: jobs)
    do { _ = try verifier.verify(copy, against: hashed.target, isCancelled: observer.isCancelled) } catch {
      try onDisk { () throws(FileError) in try Self.removeIfPresent(copy) }
      throw error == .cancelled ? .cancelled : .changedWhileHashed(path: hashed.file.path)
    }
    try onDisk { () throws(FileError) in
      try FileError.describing(.replace, place) { () throws(Errno) in
        try FileSystem.rename(copy, to: place)
        try FileSystem.synchronizeDirectory(served)
      }
    }
  }

  private static let unfinishedCopy = ".unfinished-copy"

  private static func removeIfPresent(_ path: String) throws(FileError) {
    try FileError.describing(.remove, path) { () throws(Errno) in
      do throws(Errno) { try FileSystem.remove(path) } catch { if error != .notFound { throw error } }
    }
  }

  private func holds(_ path: String, _ bytes: [UInt8]) throws(SigningError) -> Bool {
    guard try byteCount(of: path) == Int64(bytes.count) else { return false }
    return try onDisk { () throws(FileError) in try readFile(path, limit: bytes.count, followingLinks: false) } == bytes
  }

  /// Nil where there is no regular file.
  private func byteCount(of path: String) throws(SigningError) -> Int64? {
    let status = try onDisk { () throws(FileError) in try FileSystem.statusIfPresent(of: path) }
    return status?.kind == .regular ? status?.byteCount : nil
  }

  private func folder(of path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// Writes the metadata while it is verified as a device would. Devices see it when the timestamp, which names all of it, replaces the old one
  /// at the very end; what a crash leaves before that, or what fails to verify, is named by nothing, and is replaced by the next publication.
  private func show(_ signed: PublishedSet, after state: PublishedState) throws(SigningError) -> TrustedManifest {
    let verifying = SideWork { Result { () throws(SigningError) in try signed.verified(after: state) } }
    func write(_ file: PublishedSet.File) throws(FileError) {
      try replaceFile(at: layout.file(of: file.role, file.version), with: file.bytes)
    }
    try onDisk { () throws(FileError) in for file in signed.unseen { try write(file) } }
    let manifest = try verifying.value.get()
    try onDisk { () throws(FileError) in try write(signed.timestampFile) }
    return manifest
  }
}

/// Who follows a publication.
public protocol PublishingObserver {
  /// Whether the person wants to stop; asked often.
  func isCancelled() -> Bool
  /// A key without a passphrase is used.
  func notice(_ notice: KeyNotice)
  /// Hashing begins.
  func willHash(fileCount: Int, byteCount: Int64)
  /// One more file is being hashed.
  func willHash(_ path: TargetPath)
  /// Bytes were hashed.
  func didHash(byteCount: Int)
}
