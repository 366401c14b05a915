public import Digests
package import FileIO
public import TUFMetadata

/// Holds local files against the manifest: one open descriptor a file, constant memory, the same buffers for all files.
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

  /// A file of so many bytes is done before other threads have begun.
  static let leastByteCountToShare: Int64 = 4 << 20

  var buffer = [UInt8](repeating: 0, count: 1 << 20)
  /// Two pieces of a long file, one of which is hashed while the other one is read; none before there is such a file.
  var pieces: (current: [UInt8], next: [UInt8]) = ([], [])
  private let method: Method
  let jobs: Int

  /// - Parameter jobs: the most threads that work on one file; nil for as many as there are cores.
  public init(method: Method = .tree, jobs: Int? = nil) {
    self.method = method
    self.jobs = Cores.count(jobs)
  }

  /// Verifies one file.
  /// - Parameters:
  ///   - path: the local path.
  ///   - file: what the manifest says of it.
  ///   - segments: what the file's `.verity` holds, where it is at hand: then the first bad segment is named and ends the reading.
  ///   - isCancelled: asked before each piece of at most 1 MiB, or 16 MiB for each thread that works on a long file; true stops with `cancelled`.
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
    let deciding = DecidingDigests(of: file, method)
    let work = FileWork(path: path, file: file, segments: deciding.usesTree ? segments : nil)
    let mismatch: VerificationError?
    if jobs == 1 || file.byteCount <= Self.leastByteCountToShare {
      mismatch = try readAlone(descriptor, work, deciding, isCancelled, progress)
    } else if deciding.usesWhole {
      mismatch = try readAhead(descriptor, work, deciding, isCancelled, progress)
    } else {
      mismatch = try readSideBySide(descriptor, work, isCancelled, progress)
    }
    let after = try Self.status(of: descriptor, path)
    guard before == after else { throw .changedWhileRead(path: path) }
    if let mismatch { throw mismatch }
    return VerifiedFile(path: path, file: file, status: after, descriptor: descriptor)
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
