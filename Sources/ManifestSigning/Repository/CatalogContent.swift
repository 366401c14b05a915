internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelFormats
internal import TUFMetadata

/// All that one publication signs: the files of a folder, hashed, and the documents that describe them.
struct CatalogContent {
  let scan: CatalogScan
  /// The files of the models.
  let files: [HashedFile]
  /// `catalog.json` and each `model.json`, as they will be served.
  let documents: [TargetPath: [UInt8]]
  let manifest: Manifest
  let warnings: [DescriptionWarning]

  /// Scans a folder, reads or derives the descriptions, and hashes every file once.
  /// - Parameters:
  ///   - jobs: the most threads that hash; nil for as many as there are cores.
  ///   - published: reads a description that is published now, from which a derived one goes on.
  init(
    _ folder: String, jobs: Int?, observer: some PublishingObserver, published: (ScannedModel) throws(SigningError) -> ModelDescription?
  ) throws(SigningError) {
    scan = try CatalogScanner.scan(folder)
    // What people wrote is held against the files before gigabytes are read.
    var descriptions: [ModelName: ModelDescription] = [:]
    for model in scan.models { descriptions[model.name] = try model.readDescription() }
    files = try Self.hash(scan, jobs, observer)
    var summaries: [TargetPath: ModelSummary] = [:]
    for file in files { summaries[file.file.path] = file.summary }
    var documents: [TargetPath: [UInt8]] = [:]
    var warnings: [DescriptionWarning] = []
    for model in scan.models {
      if let written = model.description, descriptions[model.name] != nil {
        documents[try model.descriptionPath()] = written
      } else {
        let derived = ModelDescription.derived(from: model, summaries: summaries, previous: try published(model))
        descriptions[model.name] = derived.description
        documents[try model.descriptionPath()] = derived.description.bytes
        warnings += derived.warnings
      }
    }
    do { documents[try TargetPath(Catalog.fileName)] = try Catalog(descriptions).bytes } catch {
      throw .metadata(path: Catalog.fileName.description, error)
    }
    self.documents = documents
    self.warnings = warnings
    var manifest = Manifest()
    for file in files { manifest.files[file.file.path] = file.target }
    for (path, bytes) in documents { manifest.files[path] = TargetFile(of: bytes) }
    self.manifest = manifest
  }

  /// Whether a target is `catalog.json` or a `model.json`, which are always served from `targets`.
  static func isDocument(_ path: TargetPath) -> Bool {
    let segments = path.segments
    return segments == [Catalog.fileName] || segments.count == 3 && segments[2] == ModelDescription.fileName
  }

  var unknownFiles: [(path: TargetPath, content: FileContent)] {
    files.filter { $0.summary.format == .unknown }.map { ($0.file.path, $0.summary.content) }
  }

  var byteCount: Int64 { files.reduce(0) { $0 + $1.target.byteCount } }

  private static func hash(_ scan: CatalogScan, _ jobs: Int?, _ observer: some PublishingObserver) throws(SigningError) -> [HashedFile] {
    observer.willHash(fileCount: scan.files.count, byteCount: scan.files.reduce(0) { $0 + $1.status.byteCount })
    var hasher = try FileHasher(folder: scan.folder, jobs: jobs)
    var hashed: [HashedFile] = []
    for file in scan.files {
      observer.willHash(file.path)
      hashed.append(try hasher.hash(file, progress: observer.didHash, isCancelled: observer.isCancelled))
    }
    return hashed
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
