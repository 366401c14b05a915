internal import Digests
internal import FileIO
public import ManifestVerifier
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
  /// The most threads that hash; nil for as many as there are cores.
  public var jobs: Int?

  public init() {}
}

/// What a publication did.
public struct PublishingReport: Sendable {
  /// What is published now.
  public let manifest: TrustedManifest
  /// How that differs from what was published before.
  public let changes: ManifestChanges
  /// Whether it was signed again without a change, because the last third of a role's lifetime has begun.
  public let isRenewed: Bool
  /// The files that are neither GGUF nor safetensors, and what their first bytes look like.
  public let unknownFiles: [(path: TargetPath, content: FileContent)]
  /// The number of models and of their files, and the bytes of those files.
  public let modelCount: Int
  public let fileCount: Int
  public let byteCount: Int64
  /// The files that were put into `targets`; those that lay there already do not count.
  public let stagedCount: Int
  /// What a person should look at.
  public let warnings: [String]
}

extension Repository {
  /// Hashes a folder of models, signs the whole catalog, and makes it visible at once, the timestamp last.
  /// - Parameters:
  ///   - folder: `<org>/<name>/<version>/files…`, with `<org>/<name>/model.json` where people wrote one.
  ///   - now: the time of signing, from which the expiries are counted.
  ///   - observer: told of keys without a passphrase and of the progress, and asked whether to stop.
  /// - Throws: `SigningError`; then nothing of the publication is visible.
  public func publish(
    _ folder: String, _ options: PublishingOptions, passphrases: PassphraseSource, now: UTCTime, observer: some PublishingObserver
  ) throws(SigningError) -> PublishingReport {
    try PublishedSecrets.refuse(in: layout)
    let state = try PublishedState(layout)
    let policy = try Policy.read(layout.policy)
    // What a killed publication left would be served with the rest.
    try onDisk { () throws(FileError) in _ = try TemporaryFile.removeLeftovers(inDirectory: layout.metadata) }
    let content = try CatalogContent(folder, jobs: options.jobs, observer: observer) { (model) throws(SigningError) in
      try publishedDescription(of: model, state)
    }
    let published = state.manifest.map { Manifest($0.targets.payload) } ?? Manifest()
    let changes = content.manifest.changes(since: published)
    try Self.requireAllowed(changes, content, options)
    let isDue = state.manifest.map { manifest in
      manifest.roles.contains { $0.role != .root && policy.isDue($0.role, expires: $0.expires, at: now) }
    }
    let renews = changes.isEmpty && isDue == true
    let signed = changes.isEmpty && !renews ? nil : try sign(content.manifest, state, policy, now, passphrases, observer)
    let stagedCount = try writeTargets(content, options, observer)
    guard !observer.isCancelled() else { throw .cancelled }
    if let signed { try show(signed) }
    guard let manifest = signed?.manifest ?? state.manifest else { throw .noRepository(path: layout.folder) }
    return PublishingReport(
      manifest: manifest, changes: changes, isRenewed: renews, unknownFiles: content.unknownFiles, modelCount: content.scan.models.count,
      fileCount: content.files.count,
      byteCount: content.byteCount, stagedCount: stagedCount, warnings: content.warnings.map(\.description))
  }

  /// The description of a model that is published now.
  private func publishedDescription(of model: ScannedModel, _ state: PublishedState) throws(SigningError) -> ModelDescription? {
    let path = try model.descriptionPath()
    guard let file = state.manifest?.targets.payload[path] else { return nil }
    let bytes = try onDisk { () throws(FileError) in try readFile(layout.target(path, file), limit: ModelDescription.byteLimit) }
    guard TargetFile(of: bytes) == file else { throw .damagedTarget(path: layout.target(path, file)) }
    do { return try ModelDescription(parsing: bytes, of: model.name) } catch { throw .description(path: path, error) }
  }

  /// A file of a version never changes silently: devices that have it would keep calling it intact.
  private static func requireAllowed(
    _ changes: ManifestChanges, _ content: CatalogContent, _ options: PublishingOptions
  ) throws(SigningError) {
    let replaced = changes.replaced.filter { content.documents[$0] == nil }
    guard replaced.isEmpty || options.allowsReplacing else { throw .replaced(replaced) }
    guard changes.removed.isEmpty || options.allowsRemoving else { throw .removed(changes.removed) }
  }

  private func sign(
    _ manifest: Manifest, _ state: PublishedState, _ policy: Policy, _ now: UTCTime, _ passphrases: PassphraseSource,
    _ observer: some PublishingObserver
  ) throws(SigningError) -> PublishedSet {
    let ring = try KeyRing(layout)
    return try PublishedSet(manifest, after: state, policy: policy, now: now) { (role) throws(SigningError) in
      try ring.signers(for: role, state.root.payload[role], passphrases, notice: observer.notice)
    }
  }

  /// Puts files into `targets` under names that carry their digests: nothing refers to them until the metadata does.
  private func writeTargets(
    _ content: CatalogContent, _ options: PublishingOptions, _ observer: some PublishingObserver
  ) throws(SigningError) -> Int {
    var count = 0
    for (path, bytes) in content.documents.sorted(by: { $0.key < $1.key }) {
      guard let file = content.manifest.files[path] else { continue }
      if try write(bytes, to: layout.target(path, file)) { count += 1 }
    }
    for file in content.files {
      guard let segments = file.segments, let place = layout.segments(file.file.path, file.target) else { continue }
      if try write(segments.bytes, to: place) { count += 1 }
    }
    guard options.stages else { return count }
    for file in content.files {
      let place = layout.target(file.file.path, file.target)
      // To read all of them again would double the work: `verify` does.
      guard try byteCount(of: place) != file.target.byteCount else { continue }
      try stage(file, from: content.scan.folder, to: place, options.jobs, observer)
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
    do throws(Errno) {
      let status = try FileSystem.status(of: path, followingLinks: false)
      return status.kind == .regular ? status.byteCount : nil
    } catch {
      guard error == .notFound else { throw .file(.system(.inspect, path: path, error)) }
      return nil
    }
  }

  private func folder(of path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// Writes the metadata. Devices see it when the timestamp, which names all of it, replaces the old one at the very end; what a
  /// crash leaves before that is named by nothing, and is replaced by the next publication.
  private func show(_ signed: PublishedSet) throws(SigningError) {
    let manifest = signed.manifest
    try onDisk { () throws(FileError) in
      try replaceFile(at: layout.metadata(.targets, manifest.targets.payload.version), with: signed.targets.bytes)
      try replaceFile(at: layout.metadata(.snapshot, manifest.snapshot.payload.version), with: signed.snapshot.bytes)
      try replaceFile(at: layout.metadata(.timestamp, manifest.timestamp.payload.version), with: signed.timestamp.bytes)
    }
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
