/// The digest of one segment: of the block of the fs-verity tree that the digests of up to 128 data blocks make.
package struct SegmentHasher: ~Copyable, Sendable {
  private var hasher: BlockHasher
  private var digests: [UInt8] = []
  /// The data of the block that is not full yet.
  private var pending: [UInt8] = []

  /// - Parameter lanes: one that this machine supports.
  package init(_ lanes: HashLanes = .best) {
    hasher = BlockHasher(lanes)
    digests.reserveCapacity(BlockHasher.blockSize)
  }

  /// Adds bytes, at most 512 KiB in all; how they are cut into calls does not matter.
  package mutating func update(_ bytes: Span<UInt8>) {
    var offset = 0
    if !pending.isEmpty {
      offset = min(BlockHasher.blockSize - pending.count, bytes.count)
      keep(bytes.extracting(..<offset))
      guard pending.count == BlockHasher.blockSize else { return }
      hashPending()
    }
    let end = bytes.count - (bytes.count - offset) % BlockHasher.blockSize
    // UInt8 has no padding, so that every byte is initialised.
    unsafe hasher.append(digestsOf: bytes.extracting(offset..<end).bytes, to: &digests)
    keep(bytes.extracting(end...))
  }

  /// The digest of all bytes added; then it begins again.
  package mutating func finalize() -> SHA256Digest {
    if !pending.isEmpty {
      BlockHasher.pad(&pending)
      hashPending()
    }
    BlockHasher.pad(&digests)
    precondition(digests.count <= BlockHasher.blockSize, "a segment has at most 128 blocks")
    var block: [UInt8] = []
    swap(&block, &digests)
    let digest = hasher.digest(of: block.span)
    block.removeAll(keepingCapacity: true)
    swap(&block, &digests)
    return digest
  }

  private mutating func keep(_ bytes: Span<UInt8>) {
    // Copies the bytes while the span holds them.
    unsafe bytes.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
  }

  private mutating func hashPending() {
    // Taken out while its digest is written, and put back for its capacity.
    var block: [UInt8] = []
    swap(&block, &pending)
    // UInt8 has no padding, so that every byte is initialised.
    unsafe hasher.append(digestsOf: block.span.bytes, to: &digests)
    block.removeAll(keepingCapacity: true)
    swap(&block, &pending)
  }
}
