/// SHA-256 of blocks of 4096 bytes: the only place where the fs-verity tree hashes its blocks, be they data or digests.
///
/// Blocks do not depend on one another, so that how a batch is shared out among SIMD lanes and cores is decided here alone.
struct BlockHasher: ~Copyable, Sendable {
  /// The number of bytes in a block.
  static let blockSize = 4096

  /// The most blocks that a caller should hand over at once: 4 MiB, enough to keep lanes and cores busy, with 32 KiB of digests.
  static let batch = 1024

  private var state = HashState<SHA256Algorithm>()
  private let lanes: HashLanes

  init(_ lanes: HashLanes) { self.lanes = lanes }

  /// Appends the digest of each block, in order.
  /// - Parameters:
  ///   - blocks: whole blocks, one after another.
  ///   - digests: gains 32 bytes for each block.
  mutating func append(digestsOf blocks: RawSpan, to digests: inout [UInt8]) {
    precondition(blocks.byteCount.isMultiple(of: Self.blockSize))
    let start = digests.count
    let count = blocks.byteCount / Self.blockSize
    digests.append(contentsOf: repeatElement(0, count: count * SHA256Digest.byteCount))
    // Each block's digest goes into the 32 bytes that were appended for it: the slices are checked against the array.
    unsafe digests.withUnsafeMutableBytes { bytes in
      let first = unsafe lanes.hash(blocks, into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
      for block in first..<count {
        state.update(blocks.extracting(block * Self.blockSize..<(block + 1) * Self.blockSize))
        let target = start + block * SHA256Digest.byteCount
        unsafe state.finish(into: UnsafeMutableRawBufferPointer(rebasing: bytes[target..<target + SHA256Digest.byteCount]))
      }
    }
  }

  /// The digest of some bytes, of any number.
  mutating func digest(of bytes: Span<UInt8>) -> SHA256Digest {
    unsafe state.update(bytes.bytes)  // UInt8 has no padding, so that every byte is initialised.
    return SHA256Digest(words: DigestWords(finishing: &state))
  }

  /// Fills a block that is not full, or the last block of several, with zeros.
  static func pad(_ block: inout [UInt8]) {
    let count = (block.count + blockSize - 1) / blockSize * blockSize
    block.append(contentsOf: repeatElement(0, count: count - block.count))
  }
}
