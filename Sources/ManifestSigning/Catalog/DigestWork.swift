internal import Digests
internal import Dispatch
internal import FileIO
internal import Synchronization

/// The two digests of one file, computed side by side from the same bytes in memory.
struct DigestWork: ~Copyable {
  // The locks are never waited for: each half of the work has its own. They prove to the compiler that no two threads share one.
  private let reader = Mutex(Reader())
  private let tree = Mutex(FSVerityHasher(recordingSegments: true))

  /// SHA-256 is the quicker half on one core, so its thread reads ahead. (Were this type private, Swift 6.3.1 could not compile its users.)
  struct Reader: ~Copyable {
    var sha256 = SHA256()
    var buffer: [UInt8] = []
    var outcome: Result<Int, Errno> = .success(0)

    mutating func read(_ file: borrowing FileDescriptor, at offset: Int64) {
      do throws(Errno) { outcome = .success(try file.fill(&buffer, at: offset)) } catch { outcome = .failure(error) }
    }
  }

  /// Adds bytes to both digests, on this thread.
  func hash(_ bytes: Span<UInt8>) {
    reader.withLock { $0.sha256.update(bytes) }
    tree.withLock { $0.update(bytes) }
  }

  /// Adds a piece to both digests, on two threads, and reads another one meanwhile.
  /// - Returns: the number of bytes read into `next`; fewer than it holds only where the file ends.
  func hash(
    _ piece: [UInt8], readingInto next: inout [UInt8], from file: borrowing FileDescriptor, at offset: Int64
  ) throws(Errno) -> Int {
    reader.withLock { swap(&$0.buffer, &next) }
    DispatchQueue.concurrentPerform(iterations: 2) { half in
      if half == 0 {
        reader.withLock { reader in
          reader.sha256.update(piece.span)
          reader.read(file, at: offset)
        }
      } else {
        tree.withLock { $0.update(piece.span) }
      }
    }
    let outcome = reader.withLock { reader in
      swap(&reader.buffer, &next)
      return reader.outcome
    }
    return try outcome.get()
  }

  /// The digests of all bytes added, and of each segment; all then begin again.
  func finalize() -> (sha256: SHA256Digest, fsverity: FSVerityDigest, segments: SegmentDigests?) {
    let sha256 = reader.withLock { reader in
      var hash = SHA256()
      swap(&hash, &reader.sha256)
      return hash.finalize()
    }
    let (fsverity, segments) = tree.withLock { tree in
      var hasher = FSVerityHasher(recordingSegments: true)
      swap(&hasher, &tree)
      return hasher.finalizeWithSegments()
    }
    return (sha256, fsverity, segments)
  }
}
