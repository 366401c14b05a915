internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelFormats
internal import TUFMetadata

/// Hashes the files of one scanned folder, each once from end to end, through one descriptor.
///
/// The two digests of a large file are computed on two cores, from the same bytes in memory; that of the tree also reads ahead.
package struct FileHasher: ~Copyable {
  /// Long enough that waking another thread for each piece costs nothing beside hashing it.
  private static let pieceByteCount = 4 << 20

  private let jobs: Int
  private let folder: String
  private let top: FileDescriptor
  /// The folder of the last file: files come in the order of their paths, so that each folder is opened once.
  private var parent: FileDescriptor
  private var parentPath: ArraySlice<UInt8> = []
  /// The piece that is hashed, and the one behind it that is read meanwhile.
  private var piece: [UInt8]
  private var nextPiece: [UInt8]

  /// - Parameters:
  ///   - folder: the one that was scanned.
  ///   - jobs: the most threads that work on one file, of which two are used; nil for as many as there are cores.
  /// - Throws: `SigningError.file` where it can't be opened.
  package init(folder: String, jobs: Int? = nil) throws(SigningError) {
    try self.init(folder, pieceByteCount: Self.pieceByteCount, jobs: Cores.count(jobs))
  }

  /// One that works on one core alone.
  /// - Parameter longest: the length of the longest file that it will be given, in bytes.
  init(folder: String, longest: Int64) throws(SigningError) {
    // One byte more, so that the end is seen in the first piece.
    try self.init(folder, pieceByteCount: Int(min(longest, Int64(Self.pieceByteCount) - 1)) + 1, jobs: 1)
  }

  private init(_ folder: String, pieceByteCount: Int, jobs: Int) throws(SigningError) {
    let top = try Self.openFolder(folder)
    self.init(folder, top, parent: try Self.openFolder(folder), pieceByteCount, jobs)
  }

  private init(
    _ folder: String, _ top: consuming FileDescriptor, parent: consuming FileDescriptor, _ pieceByteCount: Int, _ jobs: Int
  ) {
    self.jobs = jobs
    self.folder = folder
    self.top = top
    self.parent = parent
    piece = [UInt8](repeating: 0, count: pieceByteCount)
    nextPiece = jobs == 1 ? [] : piece
  }

  /// Checks a file's format and computes its digests.
  /// - Parameters:
  ///   - progress: gets the number of bytes hashed since it was last called.
  ///   - isCancelled: is asked between pieces of four mebibytes.
  /// - Throws: `SigningError.format`, `SigningError.changedWhileHashed` where the file is no longer the one that was scanned or does not
  ///   stay so to the end, `SigningError.file`, `SigningError.cancelled`.
  package mutating func hash(
    _ file: ScannedFile, progress: (Int) -> Void = { _ in }, isCancelled: () -> Bool = { false }
  ) throws(SigningError) -> HashedFile {
    let descriptor = try open(file)
    let work = DigestPass(sha256: true, sha512: false, fsverity: true, recordingSegments: true)
    var offset: Int64 = 0
    var count: Int
    do { count = try descriptor.fill(&piece, at: 0, enough: file.status.byteCount) } catch { throw failure(.read, file, error) }
    let summary = try inspect(file, descriptor, beginning: count)
    while count > 0 {
      guard !isCancelled() else { throw .cancelled }
      let (end, overflow) = offset.addingReportingOverflow(Int64(count))
      guard !overflow, end <= file.status.byteCount else { throw .changedWhileHashed(path: file.path) }
      let isLast = count < piece.count
      if isLast || jobs == 1 {
        work.hash(piece.span.extracting(first: count))
        // Where the file has ended and there is more by now, its status will tell.
        do { count = isLast ? 0 : try descriptor.fill(&piece, at: end) } catch { throw failure(.read, file, error) }
      } else {
        do { count = try work.hash(piece, readingInto: &nextPiece, from: descriptor, at: end) } catch { throw failure(.read, file, error) }
        swap(&piece, &nextPiece)
      }
      progress(Int(end - offset))
      offset = end
    }
    guard offset == file.status.byteCount else { throw .changedWhileHashed(path: file.path) }
    try requireUnchanged(file)
    let outcome = work.finalize()
    guard let sha256 = outcome.sha256 else { throw .changedWhileHashed(path: file.path) }  // Unreachable: it was asked for.
    let target = TargetFile(byteCount: offset, hashes: FileHashes(sha256: sha256), fsverity: outcome.fsverity)
    return HashedFile(file: file, target: target, segments: outcome.segments, summary: summary)
  }

  // MARK: Steps

  private static func openFolder(_ path: String) throws(SigningError) -> FileDescriptor {
    do { return try FileDescriptor(opening: path, .directory) } catch { throw .file(.system(.open, path: path, error)) }
  }

  private mutating func open(_ file: ScannedFile) throws(SigningError) -> FileDescriptor {
    do throws(Errno) {
      let path = file.path.name.bytes
      let slash = path.lastIndex(of: UInt8(ascii: "/"))
      let folderPath = path[..<(slash ?? 0)]
      if !folderPath.elementsEqual(parentPath) {
        parent = try top.open(Array(folderPath), .directoryNoFollow)
        parentPath = folderPath
      }
      let descriptor = try parent.open(Array(path[(slash.map { $0 + 1 } ?? 0)...]), .readNoFollow)
      if try descriptor.status() == file.status { return descriptor }
    } catch {
      if !Self.isChange(error) { throw failure(.open, file, error) }
    }
    throw .changedWhileHashed(path: file.path)
  }

  /// What the scan saw as a regular file is gone, or something else.
  private static func isChange(_ error: Errno) -> Bool { [.notFound, .notDirectory, .tooManySymbolicLinks].contains(error) }

  /// - Parameter beginning: how many bytes of the file's beginning are in `piece`: the header of most is there.
  private func inspect(
    _ file: ScannedFile, _ descriptor: borrowing FileDescriptor, beginning: Int
  ) throws(SigningError) -> ModelSummary {
    let byteCount = UInt64(clamping: file.status.byteCount)
    do {
      return try ModelInspection.inspect(name: file.path.description, length: byteCount) { offset, count throws(Errno) in
        if let end = Int(exactly: offset)?.addingReportingOverflow(count), !end.overflow, end.partialValue <= beginning {
          return Array(piece[end.partialValue - count..<end.partialValue])
        }
        var bytes = [UInt8](repeating: 0, count: count)
        let found = try descriptor.fill(&bytes, at: Int64(clamping: offset))
        bytes.removeLast(count - found)
        return bytes
      }
    } catch {
      switch error {
      // The scan saw more bytes than there are now.
      case .format(.shortRead): throw .changedWhileHashed(path: file.path)
      case .format(let error): throw .format(path: file.path, error)
      case .read(let error): throw failure(.read, file, error)
      }
    }
  }

  /// What the path stands for now is what the scan saw, and so is the open file: it had that status when it was opened, and another file
  /// would have another one.
  private func requireUnchanged(_ file: ScannedFile) throws(SigningError) {
    do throws(Errno) {
      // By its whole path, whatever became of the folders in it.
      if try top.status(of: file.path.name.bytes) == file.status { return }
    } catch {
      if !Self.isChange(error) { throw failure(.inspect, file, error) }
    }
    throw .changedWhileHashed(path: file.path)
  }

  private func failure(_ operation: FileOperation, _ file: ScannedFile, _ error: Errno) -> SigningError {
    .file(.system(operation, path: "\(folder)/\(file.path)", error))
  }
}
