/// The fs-verity digest of a stream of bytes, in constant memory.
///
/// Linux, Documentation/filesystems/fsverity.rst: each block of 4096 bytes is hashed with SHA-256; the digests, 128 to a block, are
/// blocks of the level above, up to a single digest, the root. The last block of each level is padded with zeros.
public struct FSVerityHasher: ~Copyable, Sendable {
  private var levels: HashLevels
  private var length: UInt64 = 0
  /// The data of the block that is not full yet: less than one block.
  private var pending: [UInt8] = []

  /// The hash of an empty file so far.
  public init() { self.init(recordingSegments: false) }

  /// The hash of an empty file so far.
  /// - Parameters:
  ///   - records: whether the digest of each segment is kept for `finalizeWithSegments`: 32 bytes for each 512 KiB.
  ///   - lanes: one that this machine supports.
  package init(recordingSegments records: Bool, lanes: HashLanes = .best) {
    levels = HashLevels(lanes, recordingSecondLevel: records)
    pending.reserveCapacity(BlockHasher.blockSize)
  }

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
      levels.append(digestsOf: bytes.extracting(offset..<end))
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
  public consuming func finalize() -> FSVerityDigest { finish() }

  /// The digest of all bytes added, and what `<name>.verity` holds for them; nil for a file that needs none, or where it was not recorded.
  package consuming func finalizeWithSegments() -> (digest: FSVerityDigest, segments: SegmentDigests?) {
    let digest = finish()
    let length = Int64(clamping: length)
    // The hasher's own tree needs no second check.
    guard SegmentDigests.byteCount(fileLength: length) == levels.secondLevel.count else { return (digest, nil) }
    return (digest, SegmentDigests(trusted: levels.secondLevel, fileLength: length))
  }

  private mutating func finish() -> FSVerityDigest {
    if !pending.isEmpty {
      BlockHasher.pad(&pending)
      hashPending()
    }
    return levels.finish(length: length)
  }

  private mutating func keep(_ bytes: RawSpan) {
    // Copies the bytes while the span holds them.
    unsafe bytes.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
  }

  private mutating func hashPending() {
    // Taken out while its digest is written, and put back for its capacity.
    var block: [UInt8] = []
    swap(&block, &pending)
    // UInt8 has no padding, so that every byte is initialised.
    unsafe levels.append(digestsOf: block.span.bytes)
    block.removeAll(keepingCapacity: true)
    swap(&block, &pending)
  }
}
