/// An open file, closed when the value ends.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The system's number for it, for calls made elsewhere; never closed by them.
  package let descriptor: CInt

  package init(opening path: String, _ access: OpenAccess) throws(Errno) {
    descriptor = try SystemCalls.openFile(
      CPath(path), below: SystemCalls.currentFolder, flags: access.flags, permissions: access.permissions)
  }

  /// Takes an open file over.
  package init(owning descriptor: CInt) { self.descriptor = descriptor }

  deinit { SystemCalls.closeFile(descriptor) }

  /// Opens something below this directory. No symbolic link is followed at any component, and none may be empty, "." or "..".
  package func open(_ relativePath: [UInt8], _ access: OpenAccess) throws(Errno) -> FileDescriptor {
    let components = relativePath.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for component in components where component.isEmpty || component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) {
      throw .invalidArgument
    }
    guard let last = components.last else { throw .invalidArgument }
    var folder: CInt = descriptor
    // Keeps the folder on the way open until the next one is.
    var holder: FileDescriptor?
    for component in components.dropLast() {
      let next = FileDescriptor(owning: try Self.openComponent(component, below: folder, .directoryNoFollow))
      folder = next.descriptor
      holder = consume next
    }
    let result = FileDescriptor(owning: try Self.openComponent(last, below: folder, access))
    _ = consume holder
    return result
  }

  package func open(_ relativePath: String, _ access: OpenAccess) throws(Errno) -> FileDescriptor {
    try open(Array(relativePath.utf8), access)
  }

  /// Opens a directory below this one, and makes it and those on the way where they are missing, each on the disk itself before this
  /// returns. No symbolic link is followed.
  /// - Parameters:
  ///   - segments: the names on the way; none for another open file of this directory itself.
  ///   - permissions: of what is made; the process's umask applies.
  package func openFolder(creating segments: [[UInt8]], permissions: UInt16) throws(Errno) -> FileDescriptor {
    var folder = FileDescriptor(
      owning: try SystemCalls.openFile(CPath("."), below: descriptor, flags: OpenAccess.directory.flags, permissions: 0))
    for segment in segments {
      do throws(Errno) {
        folder = try folder.open(segment, .directoryNoFollow)
      } catch .notFound {
        do throws(Errno) {
          try SystemCalls.createDirectory(CPath(segment), below: folder.descriptor, permissions: permissions)
          try FileSystem.synchronize(directory: folder)
        } catch .exists {
          // Somebody else was faster.
        }
        folder = try folder.open(segment, .directoryNoFollow)
      }
    }
    return folder
  }

  private static func openComponent(_ name: ArraySlice<UInt8>, below folder: CInt, _ access: OpenAccess) throws(Errno) -> CInt {
    try SystemCalls.openFile(
      CPath(name), below: folder, flags: access.flags | OpenAccess.noFollowFlag, permissions: access.permissions)
  }

  package func status() throws(Errno) -> FileStatus { try SystemCalls.fileStatus(descriptor) }

  /// Of a name in this directory; a symbolic link is described, not followed.
  package func status(of name: [UInt8]) throws(Errno) -> FileStatus {
    try SystemCalls.fileStatus(CPath(name), below: descriptor, followingLinks: false)
  }

  /// The names in this directory, sorted by their bytes.
  package func names() throws(Errno) -> [[UInt8]] {
    // Another open file of the same directory, so that listing twice starts at the beginning twice.
    let again = try SystemCalls.openFile(CPath("."), below: descriptor, flags: OpenAccess.directory.flags, permissions: 0)
    return try SystemCalls.names(closing: again).sorted { $0.lexicographicallyPrecedes($1) }
  }

  // MARK: Content

  /// Reads what is there, at most the buffer's size.
  /// - Returns: the number of bytes read; 0 at the end of the file.
  package func read(into buffer: inout MutableSpan<UInt8>) throws(Errno) -> Int {
    try SystemCalls.readBytes(descriptor, into: &buffer, behind: 0, at: nil)
  }

  package func read(into buffer: inout [UInt8]) throws(Errno) -> Int { try read(into: &buffer, behind: 0) }

  /// Reads at most what the buffer holds behind its first `filled` bytes.
  func read(into buffer: inout [UInt8], behind filled: Int) throws(Errno) -> Int {
    var span = buffer.mutableSpan
    return try SystemCalls.readBytes(descriptor, into: &span, behind: filled, at: nil)
  }

  /// Reads at an offset in bytes until the buffer is full or the file ends, without moving the file's position; threads may do so
  /// side by side.
  /// - Parameter enough: how many bytes there should be from the offset to the end: once they came, no further call looks for the end.
  ///   Where there should be none, one call makes sure.
  /// - Returns: the number of bytes read; fewer than the buffer holds and than are enough only where the file ends.
  package func fill(_ buffer: inout MutableSpan<UInt8>, at offset: Int64, enough: Int64 = .max) throws(Errno) -> Int {
    var filled = 0
    while filled < buffer.count, Int64(filled) < max(enough, 1) {
      let (position, overflow) = offset.addingReportingOverflow(Int64(filled))
      guard !overflow else { throw .invalidArgument }
      let count = try SystemCalls.readBytes(descriptor, into: &buffer, behind: filled, at: position)
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  package func fill(_ buffer: inout [UInt8], at offset: Int64, enough: Int64 = .max) throws(Errno) -> Int {
    var span = buffer.mutableSpan
    return try fill(&span, at: offset, enough: enough)
  }

  /// Writes every byte, or throws; some may then have been written.
  package func write(all bytes: Span<UInt8>) throws(Errno) {
    var written = 0
    while written < bytes.count {
      let count = try SystemCalls.writeBytes(descriptor, bytes, behind: written)
      // No file takes nothing without an error; trying for ever would hang.
      guard count > 0 else { throw .inputOutput }
      written += count
    }
  }

  package func truncate(to byteCount: Int64) throws(Errno) { try SystemCalls.truncate(descriptor, to: byteCount) }

  package func setPermissions(_ permissions: UInt16) throws(Errno) { try SystemCalls.setPermissions(descriptor, permissions) }

  /// Returns once the content is on the disk itself.
  package func synchronize() throws(Errno) { try SystemCalls.synchronize(descriptor) }
}
