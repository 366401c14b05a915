internal import Digests
internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

extension InstallPlan {
  /// What is going to happen, once it is known what is missing.
  init(
    _ lookup: ModelLookup, in store: ModelStore, missing: [ModelLookup.File], _ needs: DiskNeeds, present: (ModelLookup.File) -> Int64
  ) throws(InstallationError) {
    self.init(lookup, try store.record(of: lookup.request.model), missing: missing, needs, present: present)
  }

  /// What would happen, without reading any file: what has the name and the length of a file that is wanted is taken for it, and of what an
  /// earlier attempt left as much as lies on the disk. Installing verifies all of that, and fetches what is not as signed after all. What another
  /// process is fetching into the same staging folder is its own.
  /// - Parameters:
  ///   - path: of the store, which need not be there.
  ///   - staging: where files would be fetched to, if not in the store.
  package init(
    rehearsing lookup: ModelLookup, in store: ModelStore?, at path: String, staging: String?
  ) throws(InstallationError) {
    let partsPath = staging.map { "\($0)/parts" } ?? "\(path)/staging/parts"
    var found: [SHA256Digest: Int64] = [:]
    if staging.map(ModelStore.isFetching) != true, let parts = try? FileDescriptor(opening: partsPath, .directory) {
      for file in lookup.files {
        let digest = file.target.hashes.sha256
        found[digest] = try? parts.allocatedByteCount(of: digest.hexadecimal)
      }
    }
    let fetched = { (target: TargetFile) in min(found[target.hashes.sha256] ?? 0, target.byteCount) }
    var missing = lookup.files
    if let store {
      try store.requireWay(to: lookup.key, of: lookup.request.model)
      let stored = try StoredFiles(in: store)
      missing = lookup.files.filter { file in !store.seemsToHold(file, lookup, stored) }
    }
    let record = try store?.record(of: lookup.request.model) ?? ModelRecord(lookup.request.model)
    let needs = DiskNeeds(
      of: missing, lookup, recordByteCount: Int64(record.bytes.count), reserved: store?.reservedByteCount ?? 0,
      unwritten: store.map { $0.unwritten(of: lookup) } ?? (lookup.descriptionByteCount, ModelStore.folderCount),
      store: try Disk(nearest: path), parts: try Disk(nearest: partsPath), fetched: fetched)
    self.init(lookup, record, missing: missing, needs, present: { fetched($0.target) })
  }

  private init(
    _ lookup: ModelLookup, _ record: ModelRecord, missing: [ModelLookup.File], _ needs: DiskNeeds, present: (ModelLookup.File) -> Int64
  ) {
    let missing = Set(missing.map(\.path))
    var files: [File] = []
    var (download, all): (Int64, Int64) = (0, 0)
    var seen: Set<SHA256Digest> = []
    for file in lookup.files {
      let here = missing.contains(file.path) ? present(file) : file.target.byteCount
      files.append(File(path: file.path.description, byteCount: file.target.byteCount, present: here))
      all = all &+ file.target.byteCount
      // A second file of the same content is copied.
      if seen.insert(file.target.hashes.sha256).inserted { download = download &+ (file.target.byteCount - here) }
    }
    model = lookup.request.model.description
    version = lookup.key.version.description
    variant = lookup.key.variant.description
    quantisation = lookup.quantisation
    format = lookup.format
    licence = lookup.licence
    self.files = files
    isInstalled = record[lookup.key] != nil
    isActive = record.active == lookup.key
    downloadByteCount = download
    diskByteCount = needs.stayingByteCount
    space = needs.spaces
    byteCount = all
  }
}

extension ModelStore {
  /// What an installation makes before it counts: three folders of staging, and the first one the store itself and two for descriptions.
  fileprivate static let folderCount = 6
  private static let stagingFolderCount = 3

  /// What an installation writes before it counts what is free, as far as it is not there.
  fileprivate func unwritten(of lookup: ModelLookup) -> (description: Int64, folders: Int) {
    let kept = (try? keptDescription(of: lookup.request.model))?.count ?? 0
    let hasRecord = (try? record(of: lookup.request.model).entries.isEmpty) == false
    return (max(0, lookup.descriptionByteCount - Int64(kept)), hasRecord ? Self.stagingFolderCount : Self.folderCount)
  }

  /// Whether a file stands where installing looks for it: in what an earlier attempt put together, in the version's own place, or in another
  /// version. Only its length is held against what is signed.
  fileprivate func seemsToHold(_ file: ModelLookup.File, _ lookup: ModelLookup, _ stored: StoredFiles) -> Bool {
    let model = lookup.request.model
    let staged = [StoreName.staging, StoreName.versions, lookup.key.stagingName(of: model)]
    let places =
      [staged, lookup.key.segments(of: model)].map { StoredFiles.Place(folder: $0, name: file.name) } + stored.places(of: file.target)
    return places.contains { place in
      guard let open = try? openFile(place.name, below: place.folder) else { return false }
      return (try? open.status().byteCount) == file.target.byteCount
    }
  }
}
