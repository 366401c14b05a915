internal import Digests
internal import FileIO
internal import TUFMetadata

/// One file that is being verified.
struct FileWork {
  /// For messages.
  let path: String
  let file: TargetFile
  /// The digests of its segments, where they are at hand and the tree decides.
  let segments: SegmentDigests?

  func wrongSegment(_ segment: Int, _ actual: SHA256Digest) -> VerificationError? {
    guard let segments else { return nil }
    return .wrongSegment(
      path: path, range: segments.range(of: segment), expected: "sha256:\(segments.digest(of: segment))", actual: "sha256:\(actual)")
  }

  /// It has another number of bytes than its status told before.
  func wrongLength(_ actual: Int64) -> VerificationError { .wrongLength(path: path, expected: file.byteCount, actual: actual) }

  func mismatch(_ outcome: DigestPass.Outcome) -> VerificationError? {
    outcome.mismatch(with: file).map { .wrongDigest(path: path, expected: $0.expected, actual: $0.actual) }
  }

  func failure(_ error: Errno) -> VerificationError { .file(.system(.read, path: path, error)) }
}

/// The ways to read a file: each returns what is wrong with it, to be told only if it did not change meanwhile, and throws what ends
/// everything. None takes more of it than its signed length and what one read brings beyond.
extension FileVerifier {
  /// On this thread, one piece after another.
  mutating func readAlone(
    _ descriptor: borrowing FileDescriptor, _ work: FileWork, _ deciding: DecidingDigests, _ isCancelled: () -> Bool,
    _ progress: (Int) -> Void
  ) throws(VerificationError) -> VerificationError? {
    let digests = deciding.pass(verifyingSegments: work.segments != nil)
    let byteCount = work.file.byteCount
    var length: Int64 = 0
    while true {
      guard !isCancelled() else { throw .cancelled }
      let count: Int
      do { count = try descriptor.fill(&buffer, at: length, enough: byteCount - length) } catch { throw work.failure(error) }
      if count == 0 { break }
      // A file that grows while it is read stops here.
      guard Int64(count) <= byteCount - length else { throw work.wrongLength(length + Int64(count)) }
      if let segments = work.segments, let wrong = Self.firstWrong(segments, buffer.span.extracting(first: count), at: length) {
        return work.wrongSegment(wrong.segment, wrong.actual)
      }
      length += Int64(count)
      digests.hash(buffer.span.extracting(first: count))
      progress(count)
      if count < buffer.count { break }
    }
    return length == byteCount ? work.mismatch(digests.finalize()) : work.wrongLength(length)
  }

  /// On two threads: one hashes the stream, the other one the tree, and reads the next piece.
  mutating func readAhead(
    _ descriptor: borrowing FileDescriptor, _ work: FileWork, _ deciding: DecidingDigests, _ isCancelled: () -> Bool,
    _ progress: (Int) -> Void
  ) throws(VerificationError) -> VerificationError? {
    if pieces.next.isEmpty {
      let piece = [UInt8](repeating: 0, count: 2 << 20)
      pieces = (piece, piece)
    }
    let digests = deciding.pass(verifyingSegments: work.segments != nil)
    let byteCount = work.file.byteCount
    var length: Int64 = 0
    var count: Int
    do { count = try descriptor.fill(&pieces.current, at: 0, enough: byteCount) } catch { throw work.failure(error) }
    while count > 0 {
      guard !isCancelled() else { throw .cancelled }
      guard Int64(count) <= byteCount - length else { throw work.wrongLength(length + Int64(count)) }
      if let segments = work.segments, let wrong = Self.firstWrong(segments, pieces.current.span.extracting(first: count), at: length) {
        return work.wrongSegment(wrong.segment, wrong.actual)
      }
      length += Int64(count)
      progress(count)
      if count < pieces.current.count {
        digests.hash(pieces.current.span.extracting(first: count))
        break
      }
      do {
        count = try digests.hash(pieces.current, readingInto: &pieces.next, from: descriptor, at: length, enough: byteCount - length)
      } catch { throw work.failure(error) }
      swap(&pieces.current, &pieces.next)
    }
    return length == byteCount ? work.mismatch(digests.finalize()) : work.wrongLength(length)
  }

  /// On all threads, each with segments of its own, which it reads and hashes.
  mutating func readSideBySide(
    _ descriptor: borrowing FileDescriptor, _ work: FileWork, _ isCancelled: () -> Bool, _ progress: (Int) -> Void
  ) throws(VerificationError) -> VerificationError? {
    let byteCount = work.file.byteCount
    var tree = ParallelTree<Errno>(length: byteCount, known: work.segments, jobs: jobs)
    while true {
      guard !isCancelled() else { throw .cancelled }
      let round = tree.next { buffer, offset, enough throws(Errno) in
        try descriptor.fill(&buffer, at: offset, enough: Int64(enough))
      }
      switch round {
      case .hashed(0):
        // Its status told the length before; a file that tells a wrong one ends elsewhere.
        let excess: Int
        do { excess = try descriptor.fill(&buffer, at: byteCount, enough: 0) } catch { throw work.failure(error) }
        guard excess == 0 else { throw work.wrongLength(byteCount + Int64(excess)) }
        guard work.segments == nil, let expected = work.file.fsverity else { return nil }
        let actual = tree.finalize()
        return actual == expected
          ? nil : .wrongDigest(path: work.path, expected: "fs-verity \(expected)", actual: "fs-verity \(actual)")
      case .hashed(let count): progress(count)
      case .differs(let segment, let actual): return work.wrongSegment(segment, actual)
      case .ended(let length): return work.wrongLength(length)
      case .failed(let error): throw work.failure(error)
      }
    }
  }

  /// The first segment that differs in a piece that begins with one.
  private static func firstWrong(
    _ segments: SegmentDigests, _ piece: Span<UInt8>, at offset: Int64
  ) -> (segment: Int, actual: SHA256Digest)? {
    var start = 0
    while start < piece.count {
      let end = min(start + SegmentDigests.segmentByteCount, piece.count)
      let segment = segments.segment(at: offset + Int64(start))
      do throws(DigestError) { try segments.verify(piece.extracting(start..<end), segment: segment) } catch {
        // One that is shorter belongs to a file that was cut, which its status will tell.
        if case .segmentDigest(_, _, let actual) = error { return (segment, actual) }
      }
      start = end
    }
    return nil
  }
}
