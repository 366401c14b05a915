internal import FileIO
internal import ModelCatalog

/// A file on a disk, whatever it is called.
struct FileNumber: Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }

  init(_ identity: FileIdentity) { (device, inode) = (identity.device, identity.inode) }
}

extension ModelStore {
  /// Does what gives files of the store a name more or less, which changes their times and nothing else, and notes by what they are known then.
  /// Of a crash in between comes only that files are read once more before they are used.
  func keepingIdentities(of numbers: Set<FileNumber>, _ body: () throws(InstallationError) -> Void) throws(InstallationError) {
    guard !numbers.isEmpty else { return try body() }
    let records = try readableRecords().filter { record in
      record.entries.contains { $0.files.contains { numbers.contains(FileNumber($0.identity)) } }
    }
    // Only what was the verified file right before is so right after.
    var known: [FileIdentity: FileStatus] = [:]
    for record in records {
      try forEachShared(record, numbers) { file, status in
        if FileIdentity(status) == file.identity { known[file.identity] = status }
      }
    }
    do throws(InstallationError) { try body() } catch {
      // What it did before it failed is done; the failure is the one to tell.
      try? note(records, numbers, known)
      throw error
    }
    try note(records, numbers, known)
  }

  private func note(
    _ records: [ModelRecord], _ numbers: Set<FileNumber>, _ known: [FileIdentity: FileStatus]
  ) throws(InstallationError) {
    for former in records {
      var changed: [FileIdentity: FileIdentity] = [:]
      try forEachShared(former, numbers) { file, status in
        guard let before = known[file.identity], before.isSameFile(as: status), before.byteCount == status.byteCount,
          before.modifiedNanoseconds == status.modifiedNanoseconds
        else { return }
        changed[file.identity] = FileIdentity(status)
      }
      let record = former.noting(changed)
      if record != former { try write(record) }
    }
  }

  private func forEachShared(
    _ record: ModelRecord, _ numbers: Set<FileNumber>, _ body: (ModelRecord.File, FileStatus) -> Void
  ) throws(InstallationError) {
    for entry in record.entries {
      for file in entry.files where numbers.contains(FileNumber(file.identity)) {
        let found: FileDescriptor?
        do { found = try openFile(file.name, below: entry.key.segments(of: record.model)) } catch { continue }
        if let open = found, let status = try? open.status() { body(file, status) }
      }
    }
  }

  /// The files below a folder that have other names as well.
  func sharedFiles(below segments: [[UInt8]]) throws(InstallationError) -> Set<FileNumber> {
    guard let folder = try openFolder(segments) else { return [] }
    var numbers: Set<FileNumber> = []
    try at(.list, shown(segments)) { () throws(Errno) in try folder.collectShared(into: &numbers) }
    return numbers
  }
}

extension ModelRecord {
  fileprivate func noting(_ changed: [FileIdentity: FileIdentity]) -> ModelRecord {
    var record = self
    for (entryIndex, entry) in entries.enumerated() {
      for (index, file) in entry.files.enumerated() {
        if let identity = changed[file.identity] { record.entries[entryIndex].files[index].identity = identity }
      }
    }
    return record
  }
}

extension FileDescriptor {
  fileprivate func collectShared(into numbers: inout Set<FileNumber>) throws(Errno) {
    for name in try names() {
      let status = try status(of: name)
      if status.kind == .directory { try open(name, .directoryNoFollow).collectShared(into: &numbers) }
      if status.kind == .regular, status.linkCount > 1 { numbers.insert(FileNumber(status)) }
    }
  }
}
