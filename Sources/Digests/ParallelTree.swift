internal import Synchronization

/// The fs-verity tree of something that can be read at any offset, such as a file: its segments are read and hashed side by side on several
/// cores, in rounds, so that each core has one segment in memory however long the whole is.
package struct ParallelTree<Failure: Error & Sendable>: ~Copyable, Sendable {
  /// Reads from an offset on, until so many bytes as are enough are in the buffer.
  /// - Returns: the number of bytes read; fewer than are enough only where the content ends.
  package typealias Reader = @Sendable (_ buffer: inout [UInt8], _ offset: Int64, _ enough: Int) throws(Failure) -> Int

  /// What became of one segment.
  private enum Outcome {
    case pending
    case hashed(SHA256Digest)
    case ended(at: Int64)
    case failed(Failure)
  }

  /// What came of a round.
  package enum Round: Sendable {
    /// So many bytes were hashed, and no more are there where this is 0.
    case hashed(byteCount: Int)
    /// This segment is the first that differs from what is known of it.
    case differs(segment: Int, actual: SHA256Digest)
    /// The content is shorter than expected, at most this long.
    case ended(at: Int64)
    case failed(Failure)
  }

  /// How many segments a round has for each thread: enough that waiting for the slowest costs little, few enough to ask for a stop often.
  private static var segmentsPerThread: Int { 32 }

  private let length: Int64
  private let known: SegmentDigests?
  private let jobs: Int
  private let lanes: HashLanes
  private let buffers: Mutex<[[UInt8]]>
  private var levels: HashLevels
  private var offset: Int64 = 0

  /// - Parameters:
  ///   - length: the number of bytes; more than 512 KiB.
  ///   - known: the digests of the segments, of content of this length, where they are at hand.
  ///   - jobs: the number of threads, at least 1.
  package init(length: Int64, known: SegmentDigests? = nil, jobs: Int, lanes: HashLanes = .best) {
    self.length = length
    self.known = known
    self.jobs = jobs
    self.lanes = lanes
    buffers = Mutex([])
    levels = HashLevels(lanes)
  }

  /// Reads and hashes what comes next.
  package mutating func next(_ read: Reader) -> Round {
    let size = Int64(SegmentDigests.segmentByteCount)
    guard offset < length else { return .hashed(byteCount: 0) }
    let count = Int(min((length - offset - 1) / size + 1, Int64(jobs * Self.segmentsPerThread)))
    return conclude(outcomes(ofNext: count, read))
  }

  private func outcomes(ofNext count: Int, _ read: Reader) -> [Outcome] {
    let size = Int64(SegmentDigests.segmentByteCount)
    let begin = offset
    let outcomes = Mutex([Outcome](repeating: .pending, count: count))
    // Segments are begun in their order, so that of several bad ones the first is always among those that were hashed.
    let nextSegment = Atomic<Int>(0)
    let isStopped = Atomic<Bool>(false)
    Cores.run(min(jobs, count)) { _ in
      var hasher = SegmentHasher(lanes)
      var buffer = buffers.withLock { $0.popLast() } ?? [UInt8](repeating: 0, count: SegmentDigests.segmentByteCount)
      while !isStopped.load(ordering: .relaxed) {
        let index = nextSegment.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < count else { break }
        let start = begin + Int64(index) * size
        let outcome = Self.hash(&hasher, &buffer, start, Int(min(size, length - start)), read)
        outcomes.withLock { $0[index] = outcome }
        guard case .hashed(let digest) = outcome, known.map({ $0.digest(of: Int(start / size)) == digest }) ?? true else {
          isStopped.store(true, ordering: .relaxed)
          break
        }
      }
      buffers.withLock { $0.append(buffer) }
    }
    return outcomes.withLock { $0 }
  }

  /// The digest of all that was read.
  package consuming func finalize() -> FSVerityDigest { levels.finish(length: UInt64(length)) }

  private static func hash(
    _ hasher: inout SegmentHasher, _ buffer: inout [UInt8], _ start: Int64, _ count: Int, _ read: Reader
  ) -> Outcome {
    do throws(Failure) {
      let found = try read(&buffer, start, count)
      // More than there should be is the caller's to notice, at the end.
      guard found >= count else { return .ended(at: start + Int64(found)) }
    } catch { return .failed(error) }
    hasher.update(buffer.span.extracting(first: count))
    return .hashed(hasher.finalize())
  }

  private mutating func conclude(_ outcomes: [Outcome]) -> Round {
    let begin = offset
    var digests: [UInt8] = []
    for outcome in outcomes {
      switch outcome {
      case .hashed(let digest):
        let segment = Int(offset / Int64(SegmentDigests.segmentByteCount))
        if let known, known.digest(of: segment) != digest { return .differs(segment: segment, actual: digest) }
        digests += digest.bytes
        offset = min(offset + Int64(SegmentDigests.segmentByteCount), length)
      case .ended(let end): return .ended(at: end)
      case .failed(let error): return .failed(error)
      case .pending: return .ended(at: offset)  // Unreachable: only one that ended the round leaves others behind it.
      }
    }
    levels.append(digests.span)
    return .hashed(byteCount: Int(offset - begin))
  }
}
