internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
internal import ModelFormats
internal import TUFMetadata

/// All that one publication signs: the files of a folder, hashed, and the documents that describe them.
struct CatalogContent {
  let scan: CatalogScan
  /// The files of the models.
  let files: [HashedFile]
  /// How many of them were read: the others were known.
  let hashedCount: Int
  /// `catalog.json` and each `model.json`, as they will be served.
  let documents: [TargetPath: [UInt8]]
  var manifest: Manifest
  let warnings: [DescriptionWarning]

  /// Scans a folder, reads or derives the descriptions, and hashes every file once.
  /// - Parameters:
  ///   - secrets: finds secret keys among the files.
  ///   - cache: what earlier publications have found out, so that only what has changed since is read.
  ///   - others: models that are published by others, for the list of models.
  ///   - allowsMovingSources: whether a file's source may be what somebody else can change: a branch of a repository, say.
  ///   - jobs: the most threads that hash; nil for as many as there are cores.
  ///   - published: reads a description that is published now, from which a derived one goes on.
  init(
    _ folder: String, _ secrets: SecretSearch, cache: inout DigestCache, servedIn layout: RepositoryLayout,
    others: [ModelName: ModelDescription] = [:], allowsMovingSources: Bool, jobs: Int?, observer: some PublishingObserver,
    published: (ScannedModel) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8])?
  ) throws(SigningError) {
    let scan = try CatalogScanner.scan(folder, secrets, known: cache, jobs: jobs)
    cache.keepOnly(scan, searchedFor: secrets.keys)
    try self.init(scan, others: others, allowsMovingSources: allowsMovingSources, published: published) { () throws(SigningError) in
      try Self.hash(scan, &cache, layout, jobs, observer)
    }
  }

  /// Merges what other machines have hashed.
  init(
    _ merge: FragmentMerge, others: [ModelName: ModelDescription] = [:], allowsMovingSources: Bool,
    published: (ScannedModel) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8])?
  ) throws(SigningError) {
    try self.init(merge.scan, others: others, allowsMovingSources: allowsMovingSources, published: published) { (merge.files, 0) }
  }

  private init(
    _ scan: CatalogScan, others: [ModelName: ModelDescription], allowsMovingSources: Bool,
    published: (ScannedModel) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8])?,
    hash: () throws(SigningError) -> ([HashedFile], hashedCount: Int)
  ) throws(SigningError) {
    self.scan = scan
    // What people wrote is held against the files before gigabytes are read.
    var descriptions: [ModelName: ModelDescription] = [:]
    for model in scan.models { descriptions[model.name] = try model.readDescription(allowsMovingSources: allowsMovingSources) }
    (files, hashedCount) = try hash()
    var summaries: [TargetPath: ModelSummary] = [:]
    for file in files where file.summary.format != .unknown { summaries[file.file.path] = file.summary }
    var documents: [TargetPath: [UInt8]] = [:]
    var warnings: [DescriptionWarning] = []
    for model in scan.models {
      if let written = model.description, descriptions[model.name] != nil {
        documents[try model.descriptionPath()] = written
      } else {
        let previous = try published(model)
        let derived = ModelDescription.derived(from: model, summaries: summaries, previous: previous?.description)
        let path = try model.descriptionPath()
        if let previous, derived.description == previous.description {
          documents[path] = previous.bytes
        } else {
          let bytes = derived.description.bytes
          // What nobody could read again is not published.
          do { _ = try ModelDescription(parsing: bytes, of: model.name) } catch { throw .description(path: path, error) }
          documents[path] = bytes
        }
        descriptions[model.name] = derived.description
        warnings += derived.warnings
      }
    }
    do { documents[try TargetPath(Catalog.fileName)] = try Catalog(descriptions.merging(others) { own, _ in own }).bytes } catch {
      throw .metadata(path: Catalog.fileName.description, error)
    }
    self.documents = documents
    self.warnings = warnings
    manifest = Manifest(
      files.map { Manifest.File(path: $0.file.path, target: $0.target) }
        + documents.map { Manifest.File(path: $0.key, target: TargetFile(of: $0.value)) })
  }

  /// Whether a target is `catalog.json` or a `model.json`, which are always served from `targets`.
  static func isDocument(_ path: TargetPath) -> Bool {
    let segments = path.segments
    return segments == [Catalog.fileName] || segments.count == 3 && segments[2] == ModelDescription.fileName
  }

  var unknownFiles: [(path: TargetPath, content: FileContent)] {
    files.lazy.filter { $0.summary.format == .unknown }.map { ($0.file.path, $0.summary.content) }
  }

  var byteCount: Int64 { files.reduce(0) { $0 + $1.target.byteCount } }

  private static func hash(
    _ scan: CatalogScan, _ cache: inout DigestCache, _ layout: RepositoryLayout, _ jobs: Int?, _ observer: some PublishingObserver
  ) throws(SigningError) -> ([HashedFile], hashedCount: Int) {
    let files = scan.files
    var hashed = files.map { file in file.known.flatMap { HashedFile(file: file, $0, servedIn: layout) } }
    let unknown = files.indices.filter { hashed[$0] == nil }
    observer.willHash(fileCount: unknown.count, byteCount: unknown.reduce(0) { $0 + files[$1].status.byteCount })
    guard !unknown.isEmpty else { return (hashed.compactMap(\.self), 0) }
    let start = SystemClock.nanosecondsSince1970
    // Those too that came before one that fails.
    defer { cache.remember(unknown.lazy.compactMap { hashed[$0] }, readAfter: start) }
    try CatalogHasher(folder: scan.folder, jobs: jobs).hash(unknown.map { files[$0] }, observer) { hashed[unknown[$0]] = $1 }
    return (hashed.compactMap(\.self), unknown.count)
  }
}

extension TargetFile {
  /// What is signed of a document.
  init(of bytes: [UInt8]) {
    var tree = FSVerityHasher()
    tree.update(bytes.span)
    self.init(byteCount: Int64(bytes.count), hashes: FileHashes(sha256: SHA256.hash(of: bytes)), fsverity: tree.finalize())
  }
}
