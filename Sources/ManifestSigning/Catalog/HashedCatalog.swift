internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog

/// The files of a publication, hashed, and the descriptions that people wrote of them.
struct HashedCatalog {
  let scan: CatalogScan
  let written: [ModelName: ModelDescription]
  /// In the order of the scan.
  let files: [HashedFile]
  /// How many of them were read: the others were known.
  let hashedCount: Int
  private let cacheWarning: String?
  /// What was found out is written down beside what follows.
  private let remembering: SideWork<String?>?

  /// What is wrong with what is remembered of earlier publications, or can't be remembered for later ones.
  var cacheWarnings: [String] { [cacheWarning, remembering?.value].compactMap(\.self) }

  /// Takes what other machines have hashed.
  init(_ merge: FragmentMerge, allowsMovingSources: Bool) throws(SigningError) {
    (scan, files, hashedCount) = (merge.scan, merge.files, 0)
    written = try scan.readDescriptions(allowsMovingSources: allowsMovingSources)
    (cacheWarning, remembering) = (nil, nil)
  }

  /// Hashes what is not known to be as it was at an earlier publication, and remembers it, even where a later file fails.
  /// - Parameters:
  ///   - layout: where the `.verity` of what is known is served.
  ///   - jobs: the most threads that hash; nil for as many as there are cores.
  init(
    _ folder: ScannedFolder, servedIn layout: RepositoryLayout, allowsMovingSources: Bool, jobs: Int?, _ observer: some PublishingObserver
  ) throws(SigningError) {
    scan = folder.scan
    // What people wrote is held against the files before gigabytes are read.
    written = try scan.readDescriptions(allowsMovingSources: allowsMovingSources)
    var cache = folder.cache
    let hashed = Result { () throws(SigningError) in try Self.hash(folder.scan, &cache, layout, jobs, observer) }
    remembering = cache.isChanged ? folder.cacheFile.map { file in SideWork { [cache] in file.write(cache) } } : nil
    cacheWarning = folder.cacheWarning
    (files, hashedCount) = try hashed.get()
  }

  private static func hash(
    _ scan: CatalogScan, _ cache: inout DigestCache, _ layout: RepositoryLayout, _ jobs: Int?, _ observer: some PublishingObserver
  ) throws(SigningError) -> ([HashedFile], hashedCount: Int) {
    let files = scan.files
    var hashed = Cores.map(files, jobs: Cores.count(jobs), fewest: 4096) { file in
      file.known.flatMap { HashedFile(file: file, $0, servedIn: layout) }
    }
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

/// A folder of models, looked through with the help of what earlier publications have found out about it.
struct ScannedFolder: Sendable {
  let scan: CatalogScan
  /// What is known of the files that are still there.
  fileprivate let cache: DigestCache
  /// Where what is found out is remembered; nil where that is nowhere.
  fileprivate let cacheFile: DigestCacheFile?
  fileprivate let cacheWarning: String?

  /// - Parameter rehashes: whether nothing is believed of earlier publications.
  init(_ folder: String, rehashes: Bool, jobs: Int?, _ layout: RepositoryLayout) throws(SigningError) {
    cacheFile = DigestCacheFile(layout, models: folder)
    let kept = rehashes ? nil : cacheFile?.read()
    var cache = kept?.cache ?? DigestCache()
    cacheWarning = kept?.warning
    let secrets = SecretSearch(layout)
    scan = try CatalogScanner.scan(folder, secrets, known: cache, jobs: jobs)
    cache.keepOnly(scan, searchedFor: secrets.keys)
    self.cache = cache
  }
}

extension CatalogScan {
  /// Reads what people wrote of the models, and holds it against the files.
  /// - Parameter allowsMovingSources: whether a file's source may be what somebody else can change: a branch of a repository, say.
  fileprivate func readDescriptions(allowsMovingSources: Bool) throws(SigningError) -> [ModelName: ModelDescription] {
    var descriptions: [ModelName: ModelDescription] = [:]
    for model in models { descriptions[model.name] = try model.readDescription(allowsMovingSources: allowsMovingSources) }
    return descriptions
  }
}
