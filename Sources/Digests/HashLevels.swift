/// The levels of an fs-verity tree above the data, or above any one of its levels, in constant memory: digests come in at the bottom, and
/// each block of 128 that is full is hashed into the level above, up to a single digest, the root.
///
/// Linux, Documentation/filesystems/fsverity.rst. The last block of each level is padded with zeros.
struct HashLevels: ~Copyable, Sendable {
  private var hasher: BlockHasher
  /// For each level, the digests that do not fill a block yet.
  private var levels: [[UInt8]] = [[]]
  private let recordsSecondLevel: Bool
  /// Every digest that ever came to the second level, if they are recorded.
  private(set) var secondLevel: [UInt8] = []

  init(_ lanes: HashLanes = .best, recordingSecondLevel records: Bool = false) {
    hasher = BlockHasher(lanes)
    recordsSecondLevel = records
  }

  /// Adds the digests of whole blocks to the bottom.
  mutating func append(digestsOf blocks: RawSpan) {
    hasher.append(digestsOf: blocks, to: &levels[0])
    hashFullBlocks()
  }

  /// Adds digests to the bottom.
  mutating func append(_ digests: Span<UInt8>) {
    // Copies the bytes while the span holds them.
    unsafe digests.withUnsafeBytes { unsafe levels[0].append(contentsOf: $0) }
    hashFullBlocks()
  }

  /// Pads and hashes what is left on each level, and returns the digest of the tree; it can be asked for once.
  /// - Parameter length: of the file, in bytes.
  mutating func finish(length: UInt64) -> FSVerityDigest {
    let descriptor = FSVerityDigest.descriptor(root: root(), length: length)
    return FSVerityDigest(sha256: hasher.digest(of: descriptor.span))
  }

  /// 32 bytes; nothing where no digest ever came.
  private mutating func root() -> [UInt8] {
    // A level that ever filled a block made the level above, so the top one holds all of its digests; where it is a single one, that is
    // the root. Each further level has at most 1/128 of the digests, so this ends.
    var level = 0
    while level + 1 < levels.count || levels[level].count > SHA256Digest.byteCount {
      if !levels[level].isEmpty {
        BlockHasher.pad(&levels[level])
        hashFullBlocks(from: level)
      }
      level += 1
    }
    return levels[level]
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
  private mutating func hashLevel(_ level: Int, first byteCount: Int) {
    if level + 1 == levels.count { levels.append([]) }
    // Taken out of the array while the level above is written; the array itself is not copied.
    var digests: [UInt8] = []
    swap(&digests, &levels[level])
    let above = levels[level + 1].count
    // UInt8 has no padding, so that every byte is initialised.
    unsafe hasher.append(digestsOf: digests.span.extracting(..<byteCount).bytes, to: &levels[level + 1])
    if level == 0, recordsSecondLevel { secondLevel += levels[1][above...] }
    digests.removeFirst(byteCount)
    swap(&digests, &levels[level])
  }
}
