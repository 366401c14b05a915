package import Digests
package import FileIO
internal import Synchronization

/// The digests of one file that is read once from end to end: those of the whole stream on one core, the tree on another, from the same bytes
/// in memory. The core of the tree, which is the faster one, also reads ahead.
package struct DigestPass: ~Copyable, Sendable {
  // The locks are never waited for: each half of the work has its own. They prove to the compiler that no two threads share one.
  private let stream: Mutex<Stream>
  private let tree: Mutex<Tree>

  /// What has to see every byte in order. (Were these types private, Swift 6.3.1 could not compile their users.)
  struct Stream: ~Copyable {
    var sha256: SHA256?
    var sha512: SHA512?

    mutating func update(_ bytes: Span<UInt8>) {
      sha256?.update(bytes)
      sha512?.update(bytes)
    }
  }

  struct Tree: ~Copyable {
    var hasher: FSVerityHasher?
    var buffer: [UInt8] = []
    var outcome: Result<Int, Errno> = .success(0)

    mutating func read(_ file: borrowing FileDescriptor, at offset: Int64, enough: Int64) {
      do throws(Errno) { outcome = .success(try file.fill(&buffer, at: offset, enough: enough)) } catch { outcome = .failure(error) }
    }
  }

  /// What came of it; nil for what was not asked for.
  package struct Outcome: Sendable {
    package let sha256: SHA256Digest?
    package let sha512: SHA512Digest?
    package let fsverity: FSVerityDigest?
    /// What `<name>.verity` is to hold; nil for a file that has none, too.
    package let segments: SegmentDigests?
  }

  package init(sha256: Bool, sha512: Bool, fsverity: Bool, recordingSegments: Bool = false) {
    stream = Mutex(Stream(sha256: sha256 ? SHA256() : nil, sha512: sha512 ? SHA512() : nil))
    tree = Mutex(Tree(hasher: fsverity ? FSVerityHasher(recordingSegments: recordingSegments) : nil))
  }

  /// Adds bytes to all digests, on this thread.
  package func hash(_ bytes: Span<UInt8>) {
    stream.withLock { $0.update(bytes) }
    tree.withLock { $0.hasher?.update(bytes) }
  }

  /// Adds a piece to all digests, on two threads, and reads another one meanwhile.
  /// - Parameter enough: how many bytes there should be from the offset to the end of the file.
  /// - Returns: the number of bytes read into `next`; fewer than it holds only where the file ends.
  package func hash(
    _ piece: [UInt8], readingInto next: inout [UInt8], from file: borrowing FileDescriptor, at offset: Int64, enough: Int64 = .max
  ) throws(Errno) -> Int {
    tree.withLock { swap(&$0.buffer, &next) }
    Cores.run(2) { half in
      if half == 0 {
        stream.withLock { $0.update(piece.span) }
      } else {
        tree.withLock { tree in
          tree.read(file, at: offset, enough: enough)
          tree.hasher?.update(piece.span)
        }
      }
    }
    let outcome = tree.withLock { tree in
      swap(&tree.buffer, &next)
      return tree.outcome
    }
    return try outcome.get()
  }

  /// The digests of all bytes added; they can be asked for once.
  package func finalize() -> Outcome {
    let (sha256, sha512) = stream.withLock { stream in
      (stream.sha256.take()?.finalize(), stream.sha512.take()?.finalize())
    }
    let tree = tree.withLock { $0.hasher.take()?.finalizeWithSegments() }
    return Outcome(sha256: sha256, sha512: sha512, fsverity: tree?.digest, segments: tree?.segments)
  }
}
