public import Digests
package import FileIO
public import TUFMetadata

/// Holds local files against the manifest: one open descriptor a file, constant memory, one buffer for all files.
public struct FileVerifier: ~Copyable {
  /// Which digest decides.
  public enum Method: Sendable {
    /// The fs-verity digest where the manifest has one, otherwise the digests of the whole file.
    case tree
    /// The digests of the whole file: SHA-256, and SHA-512 where the manifest has it.
    case whole
    /// Every digest that the manifest has: what a publisher checks, so that devices which use either agree.
    case every
  }

  private var buffer = [UInt8](repeating: 0, count: 1 << 20)
  private let method: Method

  public init(method: Method = .tree) { self.method = method }

  /// Verifies one file.
  /// - Parameters:
  ///   - path: the local path.
  ///   - file: what the manifest says of it.
  ///   - segments: what the file's `.verity` holds, where it is at hand: then the first bad segment is named and ends the reading.
  ///   - isCancelled: asked before each piece of at most 1 MiB; true stops with `cancelled`.
  ///   - progress: told the number of bytes of each piece that was hashed.
  /// - Returns: the open file that was verified. Use it rather than the path, which may lead elsewhere by then.
  /// - Throws: `wrongLength`, before anything is read where the file system tells it, else at the first byte too many; `wrongDigest`; `wrongSegment`; `changedWhileRead`; `file`; `cancelled`.
  public mutating func verify(
    _ path: String, against file: TargetFile, segments: SegmentDigests? = nil, isCancelled: () -> Bool = { false },
    progress: (Int) -> Void = { _ in }
  ) throws(VerificationError) -> VerifiedFile {
    let descriptor: FileDescriptor
    do { descriptor = try openRegularFile(path, followingLinks: true) } catch { throw .file(error) }
    return try verify(descriptor, path: path, against: file, segments: segments, isCancelled: isCancelled, progress: progress)
  }

  /// Verifies a file that is open already, read from its beginning.
  /// - Parameter path: for messages only.
  /// - Throws: as `verify` by path.
  package mutating func verify(
    _ descriptor: consuming FileDescriptor, path: String, against file: TargetFile, segments: SegmentDigests? = nil,
    isCancelled: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
  ) throws(VerificationError) -> VerifiedFile {
    let before = try Self.status(of: descriptor, path)
    guard before.kind == .regular else { throw .file(.notRegular(path: path, before.kind)) }
    // Known to be too long or too short: nothing of it needs to be read.
    guard before.byteCount == file.byteCount else {
      throw .wrongLength(path: path, expected: file.byteCount, actual: before.byteCount)
    }
    // Of another file, they say nothing of this one.
    let segments = file.fsverity == segments?.root && file.byteCount == segments?.fileLength ? segments : nil
    var digests = FileDigests(of: file, method, segments: segments)
    var length: Int64 = 0
    while true {
      guard !isCancelled() else { throw .cancelled }
      let count: Int
      do { count = try descriptor.fill(&buffer, at: length, enough: file.byteCount - length) } catch {
        throw .file(.system(.read, path: path, error))
      }
      if count == 0 { break }
      // A file that grows while it is read stops here.
      guard Int64(count) <= file.byteCount - length else {
        throw .wrongLength(path: path, expected: file.byteCount, actual: length + Int64(count))
      }
      if let segments { try Self.verify(buffer.span.extracting(first: count), at: length, segments, path) }
      length += Int64(count)
      digests.update(buffer.span.extracting(first: count))
      progress(count)
      if count < buffer.count { break }
    }
    let after = try Self.status(of: descriptor, path)
    guard before == after else { throw .changedWhileRead(path: path) }
    guard length == file.byteCount else { throw .wrongLength(path: path, expected: file.byteCount, actual: length) }
    if let (expected, actual) = digests.mismatch(with: file) { throw .wrongDigest(path: path, expected: expected, actual: actual) }
    return VerifiedFile(path: path, file: file, status: after, descriptor: descriptor)
  }

  /// Verifies the segments in a piece that begins with one.
  private static func verify(
    _ piece: Span<UInt8>, at offset: Int64, _ segments: SegmentDigests, _ path: String
  ) throws(VerificationError) {
    var start = 0
    while start < piece.count {
      let end = min(start + SegmentDigests.segmentByteCount, piece.count)
      let segment = segments.segment(at: offset + Int64(start))
      do throws(DigestError) { try segments.verify(piece.extracting(start..<end), segment: segment) } catch {
        guard case .segmentDigest(_, let expected, let actual) = error else { return }  // It is shorter: the file was cut.
        throw .wrongSegment(path: path, range: segments.range(of: segment), expected: "sha256:\(expected)", actual: "sha256:\(actual)")
      }
      start = end
    }
  }

  private static func status(of descriptor: borrowing FileDescriptor, _ path: String) throws(VerificationError) -> FileStatus {
    do { return try descriptor.status() } catch { throw .file(.system(.inspect, path: path, error)) }
  }
}

/// A file whose content is what the manifest signs, held open. Only the verifier makes values of this type.
public struct VerifiedFile: ~Copyable, Sendable {
  /// The path that was opened, for messages.
  public let path: String
  /// What the manifest says of the file.
  public let file: TargetFile
  /// What the file system said of it when it had been read.
  package let status: FileStatus
  /// The open file, at no particular position.
  package let descriptor: FileDescriptor

  /// The open file, for whoever keeps it.
  package consuming func intoDescriptor() -> FileDescriptor { descriptor }

  /// The number of the open file, valid as long as this value lives; to map or to read at offsets.
  public var fileDescriptor: CInt { descriptor.descriptor }

  init(path: String, file: TargetFile, status: FileStatus, descriptor: consuming FileDescriptor) {
    self.path = path
    self.file = file
    self.status = status
    self.descriptor = descriptor
  }
}
