/// What is done to names in an open directory: no path is looked up again, so that nothing can be put in its place in between. A name is one
/// component, never empty, "." or "..".
extension FileDescriptor {
  /// Another open file of this directory itself.
  package func reopened() throws(Errno) -> FileDescriptor { try openFolder(creating: [], permissions: 0) }

  /// Makes a directory; the process's umask applies.
  package func createFolder(_ name: [UInt8], permissions: UInt16) throws(Errno) {
    try SystemCalls.createDirectory(Self.component(name), below: descriptor, permissions: permissions)
  }

  /// Of a file or directory, whether or not it may be opened as it is. No symbolic link is followed.
  package func setPermissions(of name: [UInt8], _ permissions: UInt16) throws(Errno) {
    try SystemCalls.setPermissions(Self.component(name), below: descriptor, permissions)
  }

  /// Moves something to a name in another directory of the same file system, in place of what has that name.
  package func rename(_ name: [UInt8], to newName: [UInt8], in folder: borrowing FileDescriptor) throws(Errno) {
    try SystemCalls.rename(Self.component(name), below: descriptor, to: Self.component(newName), below: folder.descriptor)
  }

  /// As above, and never in place of anything: throws `exists` instead.
  package func renameExclusively(_ name: [UInt8], to newName: [UInt8], in folder: borrowing FileDescriptor) throws(Errno) {
    try FileSystem.renameExclusively(Self.component(name), below: descriptor, to: Self.component(newName), below: folder.descriptor)
  }

  /// Lets two names change places at once; throws `invalidArgument` where the file system can't.
  package func exchange(_ name: [UInt8], with other: [UInt8], in folder: borrowing FileDescriptor) throws(Errno) {
    try SystemCalls.rename(Self.component(name), below: descriptor, to: Self.component(other), below: folder.descriptor, .exchange)
  }

  /// A second name for one file.
  package func hardLink(_ name: [UInt8], to newName: [UInt8], in folder: borrowing FileDescriptor) throws(Errno) {
    try SystemCalls.hardLink(Self.component(name), below: descriptor, to: Self.component(newName), below: folder.descriptor)
  }

  /// Removes a file, or a symbolic link itself.
  package func remove(_ name: [UInt8]) throws(Errno) {
    try SystemCalls.remove(Self.component(name), below: descriptor, directory: false)
  }

  /// Removes an empty directory.
  package func removeFolder(_ name: [UInt8]) throws(Errno) {
    try SystemCalls.remove(Self.component(name), below: descriptor, directory: true)
  }

  /// Removes a file, or a directory with all that is in it. Symbolic links are removed, never followed.
  package func removeTree(_ name: [UInt8]) throws(Errno) {
    guard try status(of: name).kind == .directory else { return try remove(name) }
    // One that is read-only could not be emptied, and one that nobody may read not be opened.
    try? setPermissions(of: name, 0o700)
    let folder = try open(name, .directoryNoFollow)
    for child in try folder.names() { try folder.removeTree(child) }
    try removeFolder(name)
  }

  /// Returns once the names in this directory are on the disk itself.
  package func synchronizeNames() throws(Errno) { try FileSystem.synchronize(directory: self) }

  /// Lets this file, which is empty, share the storage of another; throws where the file system can't.
  package func clone(from source: borrowing FileDescriptor) throws(Errno) { try SystemCalls.clone(source.descriptor, into: descriptor) }

  /// Writes every byte at an offset, or throws; some may then have been written. Threads may do so side by side.
  package func write(all bytes: Span<UInt8>, at offset: Int64) throws(Errno) {
    var written = 0
    while written < bytes.count {
      let (position, overflow) = offset.addingReportingOverflow(Int64(written))
      guard !overflow else { throw .invalidArgument }
      let count = try SystemCalls.writeBytes(descriptor, bytes, behind: written, at: position)
      // No file takes nothing without an error; trying for ever would hang.
      guard count > 0 else { throw .inputOutput }
      written += count
    }
  }

  /// What can still be written to the file system that this file lies in, by this process.
  package func space() throws(Errno) -> VolumeSpace { try SystemCalls.space(descriptor) }

  /// How many bytes of the content of a file in this directory lie on the disk: fewer than its length where it has holes.
  package func allocatedByteCount(of name: [UInt8]) throws(Errno) -> Int64 {
    try SystemCalls.allocatedByteCount(Self.component(name), below: descriptor)
  }

  private static func component(_ name: [UInt8]) throws(Errno) -> CPath {
    guard !PathParts.isSpecial(name), !name.contains(UInt8(ascii: "/")) else { throw .invalidArgument }
    return try CPath(name)
  }
}
