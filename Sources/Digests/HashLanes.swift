internal import CHashLanes

/// How blocks of 4096 bytes are hashed, many at once. All give the same digests.
package enum HashLanes: String, CaseIterable, Sendable {
  /// One after another, by the platform's library: always there.
  case plain
  /// Eight side by side in AVX2 registers.
  case avx2
  /// Three in turn through the processor's SHA-256 instructions, each of which would wait for the one before in a single stream.
  case shaNI
  /// Sixteen side by side in AVX-512 registers.
  case avx512

  /// What this machine does fastest. `plain` in a debug build, where the others are slow.
  package static let best = allCases.first { $0.number == hashLanesBest() } ?? .plain

  /// What this machine can do.
  package static var supported: [Self] { allCases.filter { $0 == .plain || hashLanesSupports($0.number) != 0 } }

  private var number: CInt {
    switch self {
    case .plain: CInt(HASH_LANES_NONE)
    case .avx2: CInt(HASH_LANES_AVX2)
    case .shaNI: CInt(HASH_LANES_SHA_NI)
    case .avx512: CInt(HASH_LANES_AVX512)
    }
  }

  /// How many blocks are hashed at once.
  var width: Int { self == .plain ? 1 : Int(hashLanesWidth(number)) }

  /// Hashes the first blocks, as many as this way takes together; what is left over is the caller's.
  /// - Parameters:
  ///   - blocks: whole blocks.
  ///   - digests: 32 bytes for each block.
  /// - Returns: the number of blocks hashed.
  func hash(_ blocks: RawSpan, into digests: UnsafeMutableRawBufferPointer) -> Int {
    guard self != .plain else { return 0 }
    let count = blocks.byteCount / BlockHasher.blockSize / width * width
    precondition(digests.count >= count * SHA256Digest.byteCount)
    // Reads `count` blocks of the span and writes as many digests, compared above, all during the call.
    unsafe blocks.withUnsafeBytes { source in
      guard count > 0, let source = source.baseAddress, let target = digests.baseAddress else { return }
      unsafe hashLanesBlocks(
        number, source.assumingMemoryBound(to: UInt8.self), count, target.assumingMemoryBound(to: UInt8.self))
    }
    return count
  }
}
