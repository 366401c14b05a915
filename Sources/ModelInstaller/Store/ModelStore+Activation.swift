internal import FileIO
package import ModelCatalog
internal import TUFMetadata

extension ModelStore {
  /// Makes a version that stands in its place the active one. Only then does anything that an app sees change.
  /// - Parameters:
  ///   - makingActive: whether it does; a version that was repaired stays what it was.
  ///   - unrecorded: what else was found here.
  func activate(
    _ entry: ModelRecord.Entry, of model: ModelName, makingActive: Bool = true, unrecorded: [ModelRecord.Entry] = []
  ) throws(InstallationError) {
    var record = try record(of: model)
    // It is the one that is installed last, unless it was on record before.
    record.add(unrecorded: unrecorded.filter { $0.key != entry.key })
    record[entry.key] = entry
    if makingActive { try makeActive(entry.key, in: &record) }
    try write(record)
  }

  /// The version that was active becomes the way back, unless nobody could go back to it and the way back so far still leads somewhere.
  private func makeActive(_ key: StoreKey, in record: inout ModelRecord) throws(InstallationError) {
    guard record.active != key else { return }
    let ways = [record.active, record.previous].compactMap { $0 == key ? nil : $0.flatMap { record[$0] } }
    var wayBack = ways.first
    for entry in ways where entry.withdrawal == nil {
      guard try isIntact(entry, of: record.model, isCancelled: { false }) else { continue }
      wayBack = entry
      break
    }
    record.active = key
    record.previous = wayBack?.key
  }

  /// The version that going back leads to: the one that was active before, or where that was withdrawn, or files of it are gone, the latest other one
  /// of the own variant.
  /// No file is read.
  package func wayBack(of record: ModelRecord) -> StoreKey? {
    record.wayBack(on: device) { missingPath(of: $0, record.model) == nil }
  }

  /// The way back to tell people of: nil where it is damaged. Its files are read, unless they are the very ones that were verified.
  package func intactWayBack(of record: ModelRecord, isCancelled: () -> Bool) throws(InstallationError) -> StoreKey? {
    guard let key = wayBack(of: record), let entry = record[key], try isIntact(entry, of: record.model, isCancelled: isCancelled) else {
      return nil
    }
    return key
  }

  /// What serves where the way back does not: the next best version that is as signed.
  package func alternativeToWayBack(of model: ModelName, isCancelled: () -> Bool) throws(InstallationError) -> StoreKey? {
    let record = try record(of: model)
    let wayBack = wayBack(of: record)
    for entry in record.alternatives(on: device) where entry.key != wayBack {
      if try isIntact(entry, of: model, isCancelled: isCancelled) { return entry.key }
    }
    return nil
  }

  /// Tells what else stands above a version's folder, where nothing could be put in place: before anything is fetched.
  func requireWay(to key: StoreKey, of model: ModelName) throws(InstallationError) {
    _ = try openFolder(key.segments(of: model).dropLast())
  }

  /// Moves a version that was put together in staging to its place, whole, in one step.
  func place(_ key: StoreKey, of model: ModelName) throws(InstallationError) {
    let segments = key.segments(of: model)
    let staged = key.stagingName(of: model)
    let versions = try makeStaging([StoreName.versions])
    // Of a crash in the midst of what follows; what it was to give way to is whole in staging, or in its place by now.
    let left = [StoreName.staging, StoreName.versions, StoreName.replaced]
    if try openFolder(left) != nil { try discard(left) }
    let parent = try makeFolder(Array(segments.dropLast()))
    do throws(Errno) {
      do throws(Errno) {
        try versions.renameExclusively(staged, to: key.variant.bytes, in: parent)
      } catch .exists {
        // A version that is repaired, or what a crash left there. It changes places with the new one, so that there is none at no time.
        do throws(Errno) { try versions.exchange(staged, with: key.variant.bytes, in: parent) } catch .invalidArgument {
          try parent.rename(key.variant.bytes, to: StoreName.replaced, in: versions)
          try versions.rename(staged, to: key.variant.bytes, in: parent)
          try versions.rename(StoreName.replaced, to: staged, in: versions)
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

  /// Goes back to the version that was active before, or another one that serves (see `wayBack`), once all of it is verified anew.
  /// - Returns: the version that is active now, and the one that was.
  package func rollBack(
    _ model: ModelName, isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
  ) throws(InstallationError) -> (active: StoreKey, former: StoreKey?) {
    var record = try record(of: model)
    guard !record.entries.isEmpty else { throw .model(.notInstalled(model: model.description, version: nil)) }
    guard let key = wayBack(of: record), let entry = record[key] else {
      guard let previous = record.previous, previous != record.active, let entry = record[previous] else {
        throw .model(.noPrevious(model: model.description))
      }
      if let withdrawn = entry.withdrawalError(of: model) { throw withdrawn }
      throw missing(entry, model)
    }
    record[key] = try verify(entry, of: model, isCancelled: isCancelled, progress: progress)
    let former = record.active
    try makeActive(key, in: &record)
    try write(record)
    return (key, former)
  }
}
