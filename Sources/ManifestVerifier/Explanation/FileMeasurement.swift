public import Digests
package import FileIO

/// What a file is, whatever it should be.
public struct FileMeasurement: Equatable, Sendable {
  /// The length in bytes.
  public let byteCount: Int64
  public let sha256: SHA256Digest

  /// Reads a whole file from its beginning.
  package init(of descriptor: borrowing FileDescriptor, path: String) throws(FileError) {
    let kind = try FileError.describing(.inspect, path) { () throws(Errno) in try descriptor.status().kind }
    guard kind == .regular else { throw .notRegular(path: path, kind) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var digest = SHA256()
    var length: Int64 = 0
    while true {
      let count: Int
      do { count = try descriptor.fill(&buffer, at: length) } catch { throw .system(.read, path: path, error) }
      digest.update(buffer.span.extracting(first: count))
      // A file is never longer than its 63 bits of offsets.
      length += Int64(count)
      if count < buffer.count { break }
    }
    byteCount = length
    sha256 = digest.finalize()
  }
}
