internal import FileIO
package import ModelCatalog
internal import TUFMetadata

extension ModelStore {
  /// Makes a version that stands in its place the active one. Only then does anything that an app sees change.
  /// - Parameter makingActive: whether it does; a version that was repaired stays what it was.
  func activate(_ entry: ModelRecord.Entry, of model: ModelName, makingActive: Bool = true) throws(InstallationError) {
    var record = try record(of: model)
    record[entry.key] = entry
    if makingActive { record.activate(entry.key) }
    try write(record)
  }

  /// Moves a version that was put together in staging to its place, whole, in one step.
  func place(_ key: StoreKey, of model: ModelName) throws(InstallationError) {
    let segments = key.segments(of: model)
    let staged = key.stagingName(of: model)
    let versions = try makeStaging([StoreName.versions])
    let parent = try makeFolder(Array(segments.dropLast()))
    do throws(Errno) {
      do throws(Errno) {
        try versions.renameExclusively(staged, to: key.variant.bytes, in: parent)
      } catch .exists {
        // A version that is repaired, or what a crash left there. It changes places with the new one, so that there is none at no time.
        do throws(Errno) { try versions.exchange(staged, with: key.variant.bytes, in: parent) } catch .invalidArgument {
          let trash = Array("replaced".utf8)
          try parent.rename(key.variant.bytes, to: trash, in: versions)
          try versions.rename(staged, to: key.variant.bytes, in: parent)
          try versions.rename(trash, to: staged, in: versions)
        }
      }
      try parent.synchronizeNames()
      try versions.synchronizeNames()
    } catch { throw .file(.system(.rename, path: shown(segments), error)) }
    try discard([StoreName.staging, StoreName.versions, staged])
  }

  /// Removes what was being put together of a version that stands whole in its place: what a crash left when the two had changed places.
  func discardStaging(of key: StoreKey, of model: ModelName) throws(InstallationError) {
    let staged = [StoreName.staging, StoreName.versions, key.stagingName(of: model)]
    guard try openFolder(staged) != nil else { return }
    try discard(staged)
    try emptyTrash()
  }

  /// Goes back to the version that was active before, once all of it is verified anew.
  /// - Returns: the version that is active now, and the one that was.
  package func rollBack(
    _ model: ModelName, isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
  ) throws(InstallationError) -> (active: StoreKey, former: StoreKey?) {
    var record = try record(of: model)
    guard !record.entries.isEmpty else { throw .model(.notInstalled(model: model.description, version: nil)) }
    guard let key = record.previous, let entry = record[key] else { throw .model(.noPrevious(model: model.description)) }
    if let reason = entry.withdrawal {
      throw .model(.withdrawn(model: model.description, version: key.version.description, reason: reason))
    }
    record[key] = try verify(entry, of: model, isCancelled: isCancelled, progress: progress)
    let former = record.active
    record.active = key
    record.previous = former
    try write(record)
    return (key, former)
  }
}
