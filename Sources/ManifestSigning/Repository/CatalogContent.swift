internal import Digests
internal import ManifestVerifier
internal import ModelCatalog
internal import ModelFormats
internal import TUFMetadata

/// All that one publication signs: the files of a folder, hashed, and the documents that describe them.
struct CatalogContent {
  let hashed: HashedCatalog
  /// `catalog.json` and each `model.json`, as they will be served.
  let documents: [TargetPath: [UInt8]]
  var manifest: Manifest
  let warnings: [DescriptionWarning]

  /// Derives the descriptions that nobody wrote, and puts all together.
  /// - Parameters:
  ///   - others: models that are published by others, for the list of models.
  ///   - published: reads a description that is published now, from which a derived one goes on.
  init(
    _ hashed: HashedCatalog, others: [ModelName: ModelDescription] = [:],
    published: @Sendable (ScannedModel) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8])?
  ) throws(SigningError) {
    self.hashed = hashed
    let (scan, files) = (hashed.scan, hashed.files)
    var descriptions = hashed.written
    var summaries: [TargetPath: ModelSummary] = [:]
    for file in files where file.summary.format != .unknown { summaries[file.file.path] = file.summary }
    let described = Cores.map(scan.models, fewest: 1) { [descriptions, summaries] model in
      Result { () throws(SigningError) in try DescribedModel(model, written: descriptions[model.name], summaries, published) }
    }
    var documents: [TargetPath: [UInt8]] = [:]
    var warnings: [DescriptionWarning] = []
    for (model, result) in zip(scan.models, described) {
      let described = try result.get()
      documents[described.path] = described.bytes
      descriptions[model.name] = described.description
      warnings += described.warnings
    }
    do { documents[try TargetPath(Catalog.fileName)] = try Catalog(descriptions.merging(others) { own, _ in own }).bytes } catch {
      throw .metadata(path: Catalog.fileName.description, error)
    }
    self.documents = documents
    self.warnings = warnings
    manifest = Manifest(
      files.map { Manifest.File(path: $0.file.path, target: $0.target) }
        + Cores.map(Array(documents)) { Manifest.File(path: $0.key, target: TargetFile(of: $0.value)) })
  }

  /// Whether a target is `catalog.json` or a `model.json`, which are always served from `targets`.
  static func isDocument(_ path: TargetPath) -> Bool {
    let segments = path.segments
    return segments == [Catalog.fileName] || segments.count == 3 && segments[2] == ModelDescription.fileName
  }

  var unknownFiles: [(path: TargetPath, content: FileContent)] {
    hashed.files.lazy.filter { $0.summary.format == .unknown }.map { ($0.file.path, $0.summary.content) }
  }

  var byteCount: Int64 { hashed.files.reduce(0) { $0 + $1.target.byteCount } }
}

/// A model with its description, as people wrote it or else derived from its files.
private struct DescribedModel: Sendable {
  let path: TargetPath
  let description: ModelDescription
  /// As it will be served.
  let bytes: [UInt8]
  var warnings: [DescriptionWarning] = []

  init(
    _ model: ScannedModel, written: ModelDescription?, _ summaries: [TargetPath: ModelSummary],
    _ published: (ScannedModel) throws(SigningError) -> (description: ModelDescription, bytes: [UInt8])?
  ) throws(SigningError) {
    path = try model.descriptionPath()
    if let written, let bytes = model.description {
      (description, self.bytes) = (written, bytes)
      return
    }
    let previous = try published(model)
    (description, warnings) = ModelDescription.derived(from: model, summaries: summaries, previous: previous?.description)
    if let previous, description == previous.description {
      bytes = previous.bytes
    } else {
      bytes = description.bytes
      // What nobody could read again is not published.
      do { _ = try ModelDescription(parsing: bytes, of: model.name) } catch { throw .description(path: path, error) }
    }
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
