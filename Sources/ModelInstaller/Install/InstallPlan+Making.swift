internal import Digests
internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

extension InstallPlan {
  /// What is going to happen, once it is known what is missing.
  init(_ lookup: ModelLookup, in store: ModelStore, missing: [ModelLookup.File]) throws(InstallationError) {
    let missing = Set(missing.map(\.path))
    try self.init(lookup, in: store) { missing.contains($0.path) ? nil : $0.target.byteCount }
  }

  /// What would happen, as far as it can be told from names and sizes, without reading anything.
  package init(rehearsing lookup: ModelLookup, in store: ModelStore?) throws(InstallationError) {
    let stored = try store.map { store throws(InstallationError) in try StoredFiles(in: store) }
    try self.init(lookup, in: store) { file in stored?.places(of: file.target).isEmpty == false ? file.target.byteCount : nil }
  }

  private init(
    _ lookup: ModelLookup, in store: ModelStore?, present: (ModelLookup.File) -> Int64?
  ) throws(InstallationError) {
    var files: [File] = []
    var (download, disk, all): (Int64, Int64, Int64) = (0, 0, 0)
    var seen: Set<SHA256Digest> = []
    for file in lookup.files {
      let part = try store?.partByteCount(of: file.target) ?? 0
      let here = present(file) ?? min(part, file.target.byteCount)
      files.append(File(path: file.path.description, byteCount: file.target.byteCount, present: here))
      let rest = max(0, file.target.byteCount - here)
      all = all &+ file.target.byteCount
      // A second file of the same content is copied.
      if seen.insert(file.target.hashes.sha256).inserted { download = download &+ rest }
      disk = disk &+ rest
    }
    let record = try store?.record(of: lookup.request.model)
    model = lookup.request.model.description
    version = lookup.key.version.description
    variant = lookup.key.variant.description
    quantisation = lookup.quantisation
    format = lookup.format
    licence = lookup.licence
    self.files = files
    isInstalled = record?[lookup.key] != nil
    isActive = record?.active == lookup.key
    downloadByteCount = download
    diskByteCount = disk
    byteCount = all
  }
}

extension ModelStore {
  /// How much of a file an earlier attempt left.
  fileprivate func partByteCount(of target: TargetFile) throws(InstallationError) -> Int64 {
    guard let parts = try openFolder([StoreName.staging, StoreName.parts]) else { return 0 }
    return (try? parts.status(of: target.hashes.sha256.hexadecimal))?.byteCount ?? 0
  }
}
