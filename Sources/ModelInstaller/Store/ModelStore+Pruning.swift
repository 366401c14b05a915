internal import Digests
internal import FileIO
package import ModelCatalog
internal import TUFMetadata

/// What can be removed from a store, or was.
package struct Prunable: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Neither active nor the way back.
    case version(ModelName, StoreKey)
    /// A folder that its model's record does not name, left by a crash.
    case unrecorded(ModelName, StoreKey)
    /// What was fetched of versions that were never finished.
    case staging
  }

  package let kind: Kind
  /// What the files take, storage that is shared with others included.
  package let byteCount: Int64
}

extension ModelStore {
  /// Removes what is neither active nor the way back: never more than that. Where the active version is not as signed, any other may be the last one
  /// that works, and what lies in staging may be what a repair goes on with: nothing of that model is removed; nor of one of which there is no record,
  /// since what was installed of it nobody knows.
  /// - Parameters:
  ///   - isRehearsal: whether it only tells.
  ///   - leaveAlone: is told of each such model, and why.
  package func prune(
    isRehearsal: Bool, isCancelled: () -> Bool = { false }, leaveAlone: (ModelName, InstallationError) -> Void = { _, _ in }
  ) throws(InstallationError) -> [Prunable] {
    // Nothing is left in a folder that is not ours, a lock neither.
    let hasStagingElsewhere = stagingPath.map(Self.isStaging) ?? false
    if !isRehearsal, hasStagingElsewhere { try holdStaging() }
    var pruned: [Prunable] = []
    var known: [ModelName: Set<StoreKey>] = [:]
    var staying: Set<[UInt8]> = []
    for found in try readableRecords() {
      let model = found.model
      guard let active = found.active else {
        leaveAlone(model, found.withoutActive)
        continue
      }
      if let fault = try fault(of: active, in: found, isCancelled: isCancelled) {
        leaveAlone(model, fault)
        staying.formUnion([StoreName.replaced, active.stagingName(of: model)])
        staying.formUnion(found[active]?.files.map(\.target.hashes.sha256.hexadecimal) ?? [])
        continue
      }
      let former = try record(of: model)
      known[model] = Set(former.entries.map(\.key))
      var record = former
      let kept = try keysToKeep(of: record, isCancelled: isCancelled)
      let removed = record.entries.filter { !kept.contains($0.key) }
      for entry in removed {
        pruned.append(Prunable(kind: .version(model, entry.key), byteCount: try byteCount(of: entry.key.segments(of: model))))
        record[entry.key] = nil
      }
      if let previous = record.previous, !kept.contains(previous) || previous == record.active { record.previous = nil }
      guard !isRehearsal, record != former else { continue }
      // The record first: it never names what is on its way out.
      try write(record)
      for entry in removed { try discard(entry.key.segments(of: model)) }
    }
    let folders = try versionFolders()
    for (model, keys) in folders {
      guard let known = known[model] else { continue }
      for key in keys where !known.contains(key) {
        pruned.append(Prunable(kind: .unrecorded(model, key), byteCount: try byteCount(of: key.segments(of: model))))
        if !isRehearsal { try discard(key.segments(of: model)) }
      }
    }
    for model in try modelsWithoutRecord(among: folders) { leaveAlone(model, .model(.noRecord(model: model.description))) }
    var staged: Int64 = 0
    for name in [StoreName.versions, StoreName.parts] {
      staged = staged &+ (try pruneStaging(name, but: staying, isRehearsal: isRehearsal))
    }
    if hasStagingElsewhere { staged = staged &+ (try pruneStagingElsewhere(but: staying, isRehearsal: isRehearsal)) }
    if staged > 0 { pruned.append(Prunable(kind: .staging, byteCount: staged)) }
    if !isRehearsal { try emptyTrash() }
    return pruned
  }

  /// The active version, the one before it as far as a repair might mend it, the way back, and where that is damaged the next one that is as signed.
  private func keysToKeep(of record: ModelRecord, isCancelled: () -> Bool) throws(InstallationError) -> Set<StoreKey> {
    var kept = Set([record.active, wayBack(of: record)].compactMap { $0 })
    if let former = record.previous.flatMap({ record[$0] }), former.withdrawal == nil,
      try openFolder(former.key.segments(of: record.model)) != nil
    {
      kept.insert(former.key)
    }
    for entry in record.alternatives(on: device) where try isIntact(entry, of: record.model, isCancelled: isCancelled) {
      kept.insert(entry.key)
      break
    }
    return kept
  }

  private func pruneStaging(_ name: [UInt8], but staying: Set<[UInt8]>, isRehearsal: Bool) throws(InstallationError) -> Int64 {
    let segments = [StoreName.staging, name]
    guard let folder = try openFolder(segments) else { return 0 }
    var sum: Int64 = 0
    for child in try at(.list, shown(segments), { () throws(Errno) in try folder.names() }) where !staying.contains(child) {
      sum = sum &+ (try at(.list, shown(segments + [child])) { () throws(Errno) in try folder.treeByteCount(of: child) })
      if !isRehearsal { try discard(segments + [child]) }
    }
    return sum
  }

  /// Unfinished files in a folder outside the store: those that are named as this software names them, and nothing else that may be there.
  private func pruneStagingElsewhere(but staying: Set<[UInt8]>, isRehearsal: Bool) throws(InstallationError) -> Int64 {
    guard let stagingPath else { return 0 }
    let path = "\(stagingPath)/parts"
    return try at(.remove, path) { () throws(Errno) in
      let parts: FileDescriptor
      do throws(Errno) { parts = try FileDescriptor(opening: path, .directoryNoFollow) } catch {
        guard error == .notFound else { throw error }
        return 0
      }
      var sum: Int64 = 0
      for name in try parts.names() where PartFile.isName(name) && !staying.contains(name) {
        let status = try parts.status(of: name)
        guard status.kind == .regular else { continue }
        sum = sum &+ status.byteCount
        if !isRehearsal { try parts.remove(name) }
      }
      return sum
    }
  }

  /// Models of which there are versions, and no record, in the order of their names: it was lost, or a first installation was killed before it was
  /// written. The next installation takes over what is there.
  package func modelsWithoutRecord() throws(InstallationError) -> [ModelName] { try modelsWithoutRecord(among: versionFolders()) }

  private func modelsWithoutRecord(among folders: [(model: ModelName, keys: [StoreKey])]) throws(InstallationError) -> [ModelName] {
    let recorded = Set(try models())
    return folders.map(\.model).filter { !recorded.contains($0) }.sorted()
  }

  /// The models of which there are folders of versions.
  private func versionFolders() throws(InstallationError) -> [(model: ModelName, keys: [StoreKey])] {
    var found: [(model: ModelName, keys: [StoreKey])] = []
    for organisation in try folders(in: [StoreName.models]) {
      for name in try folders(in: [StoreName.models, organisation]) {
        guard let model = try? ModelName(organisation: ByteString(organisation), name: ByteString(name)) else { continue }
        var keys: [StoreKey] = []
        for version in try folders(in: [StoreName.models, organisation, name]) {
          for variant in try folders(in: [StoreName.models, organisation, name, version]) {
            guard let key = try? StoreKey(version: ByteString(version), variant: ByteString(variant), of: model) else { continue }
            keys.append(key)
          }
        }
        if !keys.isEmpty { found.append((model, keys)) }
      }
    }
    return found
  }

  private func folders(in segments: [[UInt8]]) throws(InstallationError) -> [[UInt8]] {
    guard let folder = try openFolder(segments) else { return [] }
    return try at(.list, shown(segments)) { () throws(Errno) in
      var names: [[UInt8]] = []
      for name in try folder.names() where try folder.status(of: name).kind == .directory { names.append(name) }
      return names
    }
  }

  private func byteCount(of segments: [[UInt8]]) throws(InstallationError) -> Int64 {
    guard let folder = try openFolder(segments) else { return 0 }
    return try at(.list, shown(segments)) { () throws(Errno) in try folder.treeByteCount() }
  }
}

extension FileDescriptor {
  /// The lengths of all regular files in this directory and below.
  fileprivate func treeByteCount() throws(Errno) -> Int64 {
    var sum: Int64 = 0
    for name in try names() { sum = sum &+ (try treeByteCount(of: name)) }
    return sum
  }

  /// The same of one name in this directory.
  fileprivate func treeByteCount(of name: [UInt8]) throws(Errno) -> Int64 {
    let status = try status(of: name)
    switch status.kind {
    case .directory: return try open(name, .directoryNoFollow).treeByteCount()
    case .regular: return status.byteCount
    default: return 0
    }
  }
}
