internal import FileIO
internal import ModelCatalog

extension ModelStore {
  /// Brings records and files together, at each start: what was being removed goes, what a killed process was writing goes, and a record
  /// names nothing that somebody else removed, but for the active version and the one before it: what was signed of them stays on record, so that a
  /// repair brings them back, and that they are missing is told as long as it is so. What this software removes it takes from the record first. A loss
  /// of its own doing has only who is killed while a version gives way on a disk where two can't change places: then the new one is whole in staging.
  func reconcile() throws(InstallationError) {
    try emptyTrash()
    try onDisk { () throws(FileError) in _ = try TemporaryFile.removeLeftovers(inDirectory: path) }
    for top in [StoreName.records, StoreName.descriptions] {
      guard let folder = try openFolder([top]) else { continue }
      let organisations = try at(.list, shown([top])) { () throws(Errno) in try folder.folderNames() }
      for organisation in organisations where try openFolder([top, organisation]) != nil {
        try onDisk { () throws(FileError) in _ = try TemporaryFile.removeLeftovers(inDirectory: shown([top, organisation])) }
      }
    }
    for former in try readableRecords() {
      let model = former.model
      // Where it is not known which one was active, it may be any.
      guard former.activeEntry != nil else { continue }
      var record = former
      for entry in former.entries where entry.key != former.active && entry.key != former.previous {
        // What stands in its place, a link say, is told where the version is used.
        do throws(InstallationError) {
          if try openFolder(entry.key.segments(of: model)) == nil { record[entry.key] = nil }
        } catch {
          guard case .model = error else { throw error }
        }
      }
      if record != former { try write(record) }
    }
  }

  /// Removes what was taken out of sight, and what is empty of staging by then.
  func emptyTrash() throws(InstallationError) {
    defer { removeEmptyStaging() }
    guard let staging = try openFolder([StoreName.staging]) else { return }
    let trash = [StoreName.staging, StoreName.trash]
    try keepingIdentities(of: sharedFiles(below: trash)) { () throws(InstallationError) in
      do throws(Errno) { try staging.removeTree(StoreName.trash) } catch {
        guard error == .notFound else { throw .file(.system(.remove, path: shown(trash), error)) }
      }
    }
  }

  /// Takes a folder of the store out of sight at once, to be removed then.
  func discard(_ segments: [[UInt8]]) throws(InstallationError) {
    guard let name = segments.last, let parent = try openFolder(Array(segments.dropLast())) else { return }
    let trash = try makeStaging([StoreName.trash])
    let number = UInt64.random(in: .min ... .max)
    do throws(Errno) {
      try parent.rename(name, to: Array(String(number, radix: 16).utf8), in: trash)
      try parent.synchronizeNames()
    } catch {
      guard error == .notFound else { throw .file(.system(.remove, path: shown(segments), error)) }
    }
  }
}
