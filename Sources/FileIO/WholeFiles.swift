/// Reads a regular file, through one descriptor. A FIFO, socket or device is refused and never waited for.
/// - Parameters:
///   - limit: the most bytes accepted; as soon as there are more, `FileError.tooLarge`.
///   - followingLinks: whether a symbolic link as the last component is followed.
package func readFile(_ path: String, limit: Int, followingLinks: Bool = true) throws(FileError) -> [UInt8] {
  try openForReading(path, followingLinks: followingLinks).contents(limit: limit, named: path)
}

extension FileDescriptor {
  /// Reads all of a regular file from the descriptor's position on, and refuses any other kind.
  /// - Parameters:
  ///   - limit: the most bytes accepted; as soon as there are more, `FileError.tooLarge`.
  ///   - path: for messages.
  package func contents(limit: Int, named path: String) throws(FileError) -> [UInt8] {
    let status: FileStatus
    do { status = try self.status() } catch { throw .system(.inspect, path: path, error) }
    guard status.kind == .regular else { throw .notRegular(path: path, status.kind) }
    guard status.byteCount <= Int64(limit) else { throw .tooLarge(path: path, limit: limit) }
    // One more than the file should have, to see its end; never more memory at a step than what was read justifies.
    let largestStep: Int64 = 64 << 20
    var bytes = LargeMemory.zeros(count: Int(min(max(status.byteCount, 0), largestStep)) + 1)
    var count = 0
    while true {
      let found: Int
      do { found = try read(into: &bytes, behind: count) } catch { throw .system(.read, path: path, error) }
      count += found
      // The size that the file system told may be wrong, or outdated by now.
      if count > limit { throw .tooLarge(path: path, limit: limit) }
      if found == 0 { break }
      if count == bytes.count { bytes.append(contentsOf: repeatElement(0, count: min(max(count, 4096), Int(largestStep)))) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}

/// Opens a regular file for reading, and refuses all else without waiting for it.
package func openRegularFile(_ path: String, followingLinks: Bool) throws(FileError) -> FileDescriptor {
  let file = try openForReading(path, followingLinks: followingLinks)
  let kind = try FileError.describing(.inspect, path) { () throws(Errno) in try file.status().kind }
  guard kind == .regular else { throw .notRegular(path: path, kind) }
  return file
}

private func openForReading(_ path: String, followingLinks: Bool) throws(FileError) -> FileDescriptor {
  do throws(Errno) {
    return try FileDescriptor(opening: path, followingLinks ? .read : .readNoFollow)
  } catch {
    // The system's words for a socket and for a link that is not followed would lead a reader astray.
    if error == .noSuchDeviceOrAddress || error == .tooManySymbolicLinks || error == .notSupported,
      let kind = try? FileSystem.status(of: path, followingLinks: followingLinks).kind, kind != .regular
    {
      throw .notRegular(path: path, kind)
    }
    throw .system(.read, path: path, error)
  }
}

/// Replaces a file, or makes it: at every moment, and after a crash at any, the old content or the new stands there whole.
/// - Parameter permissions: of the new file; the process's umask applies.
package func replaceFile(at path: String, with bytes: Span<UInt8>, permissions: UInt16 = 0o644) throws(FileError) {
  let file = try TemporaryFile(for: path, permissions: permissions)
  try file.write(all: bytes)
  try file.replace()
}

/// Makes a file that must not exist yet (`Errno.exists` otherwise): whole and on the disk, or not there.
/// - Parameter permissions: of the new file; the process's umask applies.
package func createFile(at path: String, with bytes: Span<UInt8>, permissions: UInt16 = 0o644) throws(FileError) {
  let file = try TemporaryFile(for: path, permissions: permissions)
  try file.write(all: bytes)
  try file.create()
}

package func replaceFile(at path: String, with bytes: [UInt8], permissions: UInt16 = 0o644) throws(FileError) {
  try replaceFile(at: path, with: bytes.span, permissions: permissions)
}

package func createFile(at path: String, with bytes: [UInt8], permissions: UInt16 = 0o644) throws(FileError) {
  try createFile(at: path, with: bytes.span, permissions: permissions)
}
