internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

extension FileDescriptor {
  /// Brings the folder of a version back to what this software makes of it, whatever else was done to it: no names but those of its files, folders
  /// that only their owner changes, and files that nobody does. What the files hold is another matter.
  /// - Parameter names: of the files, below this directory.
  func restoreVersion(of names: [[ByteString]]) throws(Errno) {
    let files = Set(names.map { $0.map(\.bytes) })
    var folders: Set<[[UInt8]]> = []
    for file in files {
      for count in 1..<max(file.count, 1) { folders.insert(Array(file.prefix(count))) }
    }
    try restore(files, folders, below: [])
  }

  private static let folderPermissions: UInt16 = 0o755
  private static let filePermissions: UInt16 = 0o444

  private func restore(_ files: Set<[[UInt8]]>, _ folders: Set<[[UInt8]]>, below way: [[UInt8]]) throws(Errno) {
    // Where a folder above has the bit for it, a new one takes over the group and this bit with it.
    if try status().permissions & 0o5777 != Self.folderPermissions { try setPermissions(Self.folderPermissions) }
    for name in try names() {
      let own = way + [name]
      let status = try status(of: name)
      let isFolder = status.kind == .directory
      if !isFolder, files.contains(own) {
        if status.kind == .regular, status.permissions != Self.filePermissions { try setPermissions(of: name, Self.filePermissions) }
        continue
      }
      if isFolder, folders.contains(own) {
        try? setPermissions(of: name, Self.folderPermissions)
        try open(name, .directoryNoFollow).restore(files, folders, below: own)
      } else {
        try removeTree(name)
      }
    }
  }
}

extension ModelStore {
  /// Sees to an installed version that a check was shown, as to one that was put together: see `restoreVersion`.
  /// - Returns: the entry, with the files' identities as they are now.
  /// - Throws: `damaged` or `missing` where a file is not what is signed any more.
  func restore(
    _ entry: ModelRecord.Entry, of model: ModelName, isCancelled: () -> Bool
  ) throws(InstallationError) -> ModelRecord.Entry {
    let segments = entry.key.segments(of: model)
    guard let folder = try openFolder(segments) else { throw missing(entry, model) }
    try at(.list, shown(segments)) { () throws(Errno) in try folder.restoreVersion(of: entry.files.map(\.name)) }
    var result = entry
    for (index, file) in entry.files.enumerated() {
      if case .unchanged = try state(of: file, in: entry.key, of: model) { continue }
      guard let usable = try use(file, of: entry, model, isThorough: true, isCancelled: isCancelled) else {
        throw missing(entry, model)
      }
      let path = usable.path
      let intact = usable.intoDescriptor()
      result.files[index].identity = try at(.synchronize, path) { () throws(Errno) in
        try intact.synchronize()
        return FileIdentity(try intact.status())
      }
    }
    return result
  }
}
