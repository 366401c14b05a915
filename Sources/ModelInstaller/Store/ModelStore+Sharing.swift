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
  /// Of a crash in between comes only that a file is read once more before it is used.
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
    try body()
    for former in records {
      var record = former
      try forEachShared(former, numbers) { file, status in
        guard let before = known[file.identity], before.isSameFile(as: status), before.byteCount == status.byteCount,
          before.modifiedNanoseconds == status.modifiedNanoseconds
        else { return }
        record.note(FileIdentity(status), insteadOf: file.identity)
      }
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
  fileprivate mutating func note(_ identity: FileIdentity, insteadOf former: FileIdentity) {
    for (entryIndex, entry) in entries.enumerated() {
      for (index, file) in entry.files.enumerated() where file.identity == former { entries[entryIndex].files[index].identity = identity }
    }
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
