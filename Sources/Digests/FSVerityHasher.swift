/// The fs-verity digest of a stream of bytes, in constant memory.
///
/// Linux, Documentation/filesystems/fsverity.rst: each block of 4096 bytes is hashed with SHA-256; the digests, 128 to a block, are
/// blocks of the level above, up to a single digest, the root. The last block of each level is padded with zeros.
public struct FSVerityHasher: ~Copyable, Sendable {
  private var hasher = BlockHasher()
  private var length: UInt64 = 0
  /// The data of the block that is not full yet: less than one block.
  private var pending: [UInt8] = []
  /// For each level, the digests that do not fill a block yet; level 0 holds the digests of data blocks.
  private var levels: [[UInt8]] = [[]]

  /// The hash of an empty file so far.
  public init() { pending.reserveCapacity(BlockHasher.blockSize) }

  /// Adds bytes; how a stream is cut into calls does not matter. Whole blocks are hashed where they lie.
  public mutating func update(_ bytes: RawSpan) {
    length += UInt64(bytes.byteCount)  // 2^64 bytes would take centuries.
    var offset = 0
    if !pending.isEmpty {
      offset = min(BlockHasher.blockSize - pending.count, bytes.byteCount)
      keep(bytes.extracting(..<offset))
      guard pending.count == BlockHasher.blockSize else { return }
      hashPending()
    }
    var wholeBlocks = (bytes.byteCount - offset) / BlockHasher.blockSize
    while wholeBlocks > 0 {
      let blocks = min(wholeBlocks, BlockHasher.batch)
      let end = offset + blocks * BlockHasher.blockSize
      hasher.append(digestsOf: bytes.extracting(offset..<end), to: &levels[0])
      hashFullBlocks()
      offset = end
      wholeBlocks -= blocks
    }
    keep(bytes.extracting(offset...))
  }

  /// Adds bytes; how a stream is cut into calls does not matter.
  public mutating func update(_ bytes: Span<UInt8>) {
    unsafe update(bytes.bytes)  // UInt8 has no padding, so that every byte is initialised.
  }

  /// The digest of all bytes added.
  public consuming func finalize() -> FSVerityDigest {
    let root = finishTree()
    let descriptor = Self.descriptor(root: root, length: length)
    return FSVerityDigest(sha256: SHA256.hash(of: descriptor))
  }

  private mutating func keep(_ bytes: RawSpan) {
    // Copies the bytes while the span holds them.
    unsafe bytes.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
  }

  private mutating func hashPending() {
    // Taken out while the digests are written, and put back for its capacity.
    var block: [UInt8] = []
    swap(&block, &pending)
    // UInt8 has no padding, so that every byte is initialised.
    unsafe hasher.append(digestsOf: block.span.bytes, to: &levels[0])
    block.removeAll(keepingCapacity: true)
    swap(&block, &pending)
    hashFullBlocks()
  }

  /// Moves the digests of full blocks up, from level to level as far as they fill blocks there, so that less than a block of each stays.
  private mutating func hashFullBlocks(from first: Int = 0) {
    var level = first
    while levels[level].count >= BlockHasher.blockSize {
      let full = levels[level].count / BlockHasher.blockSize * BlockHasher.blockSize
      hashLevel(level, first: full)
      level += 1
    }
  }

  /// Hashes the first bytes of a level, whole blocks, into the level above, and drops them.
  ///
  /// Every digest of a level-0 hash block, one for each segment of 512 KiB, comes by here.
  private mutating func hashLevel(_ level: Int, first byteCount: Int) {
    if level + 1 == levels.count { levels.append([]) }
    // Taken out of the array while the level above is written; the array itself is not copied.
    var digests: [UInt8] = []
    swap(&digests, &levels[level])
    // UInt8 has no padding, so that every byte is initialised.
    unsafe hasher.append(digestsOf: digests.span.extracting(..<byteCount).bytes, to: &levels[level + 1])
    digests.removeFirst(byteCount)
    swap(&digests, &levels[level])
  }

  /// Pads and hashes what is left on each level, and returns the 32 bytes of the root: zeros for an empty file.
  private mutating func finishTree() -> [UInt8] {
    guard length > 0 else { return [UInt8](repeating: 0, count: SHA256Digest.byteCount) }
    if !pending.isEmpty {
      Self.pad(&pending)
      hashPending()
    }
    // A level that ever filled a block made the level above, so the top one holds all of its digests; where it is a single one, that is
    // the root. Each further level has at most 1/128 of the digests, so this ends.
    var level = 0
    while level + 1 < levels.count || levels[level].count > SHA256Digest.byteCount {
      if !levels[level].isEmpty {
        Self.pad(&levels[level])
        hashFullBlocks(from: level)
      }
      level += 1
    }
    return levels[level]
  }

  private static func pad(_ block: inout [UInt8]) {
    block.append(contentsOf: repeatElement(0, count: BlockHasher.blockSize - block.count))
  }

  /// `struct fsverity_descriptor`: 256 bytes, little-endian. No signature, no salt.
  private static func descriptor(root: [UInt8], length: UInt64) -> [UInt8] {
    var result: [UInt8] = [
      1,  // version
      1,  // FS_VERITY_HASH_ALG_SHA256
      12,  // log2 of the block size
      0,  // salt_size
      0, 0, 0, 0,  // sig_size
    ]
    for shift in stride(from: 0, to: 64, by: 8) { result.append(UInt8(truncatingIfNeeded: length >> UInt64(shift))) }
    result += root
    // The rest of root_hash (64 bytes), salt (32) and what is reserved (144).
    result.append(contentsOf: repeatElement(0, count: 256 - result.count))
    return result
  }
}
