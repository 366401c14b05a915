internal import FileIO
package import ModelCatalog
internal import TUFMetadata

/// What can be removed from a store, or was.
package struct Prunable: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Neither active nor the way back.
    case version(ModelName, StoreKey)
    /// A folder that no record names, left by a crash.
    case unrecorded(ModelName, StoreKey)
    /// What was fetched of versions that were never finished.
    case staging
  }

  package let kind: Kind
  /// What the files take, storage that is shared with others included.
  package let byteCount: Int64
}

extension ModelStore {
  /// Removes what is neither active nor the way back: never more than that.
  /// - Parameter isRehearsal: whether it only tells.
  package func prune(isRehearsal: Bool) throws(InstallationError) -> [Prunable] {
    var pruned: [Prunable] = []
    for former in try readableRecords() {
      let model = former.model
      var record = former
      let removed = record.entries.filter { $0.key != record.active && $0.key != record.previous }
      pruned += removed.map { Prunable(kind: .version(model, $0.key), byteCount: $0.byteCount) }
      guard !isRehearsal, !removed.isEmpty else { continue }
      // The record first: it never names what is on its way out.
      for entry in removed { record[entry.key] = nil }
      try write(record)
      for entry in removed { try discard(entry.key.segments(of: model)) }
    }
    for (model, key) in try foldersWithoutRecord() {
      pruned.append(Prunable(kind: .unrecorded(model, key), byteCount: try byteCount(of: key.segments(of: model))))
      if !isRehearsal { try discard(key.segments(of: model)) }
    }
    var staged: Int64 = 0
    for name in [StoreName.versions, StoreName.parts] {
      staged = staged &+ (try byteCount(of: [StoreName.staging, name]))
      if !isRehearsal { try discard([StoreName.staging, name]) }
    }
    staged = staged &+ (try pruneStagingElsewhere(isRehearsal: isRehearsal))
    if staged > 0 { pruned.append(Prunable(kind: .staging, byteCount: staged)) }
    if !isRehearsal { try emptyTrash() }
    return pruned
  }

  /// Unfinished files in a folder outside the store: those that are named as this software names them, and nothing else that may be there.
  private func pruneStagingElsewhere(isRehearsal: Bool) throws(InstallationError) -> Int64 {
    guard let stagingPath else { return 0 }
    let path = "\(stagingPath)/parts"
    return try at(.remove, path) { () throws(Errno) in
      let parts: FileDescriptor
      do throws(Errno) { parts = try FileDescriptor(opening: path, .directoryNoFollow) } catch {
        guard error == .notFound else { throw error }
        return 0
      }
      var sum: Int64 = 0
      for name in try parts.names() where PartFile.isName(name) {
        let status = try parts.status(of: name)
        guard status.kind == .regular else { continue }
        sum = sum &+ status.byteCount
        if !isRehearsal { try parts.remove(name) }
      }
      return sum
    }
  }

  private func foldersWithoutRecord() throws(InstallationError) -> [(ModelName, StoreKey)] {
    var found: [(ModelName, StoreKey)] = []
    for organisation in try folders(in: [StoreName.models]) {
      for name in try folders(in: [StoreName.models, organisation]) {
        guard let model = try? ModelName(organisation: ByteString(organisation), name: ByteString(name)) else { continue }
        // What a record names that can't be read nobody knows, so that nothing of its model is removed.
        guard let record = try? record(of: model) else { continue }
        for version in try folders(in: [StoreName.models, organisation, name]) {
          for variant in try folders(in: [StoreName.models, organisation, name, version]) {
            guard let key = try? StoreKey(version: ByteString(version), variant: ByteString(variant), of: model) else { continue }
            if record[key] == nil { found.append((model, key)) }
          }
        }
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
    for name in try names() {
      let status = try status(of: name)
      switch status.kind {
      case .directory: sum = sum &+ (try open(name, .directoryNoFollow).treeByteCount())
      case .regular: sum = sum &+ status.byteCount
      default: break
      }
    }
    return sum
  }
}
