/// What a file system has left for this process, and in what units it gives it out.
package struct VolumeSpace: Equatable, Sendable {
  /// Bytes that can still be written.
  package let freeByteCount: Int64
  /// Files and folders that can still be made; nil where the file system sets no number.
  package let freeFileCount: Int64?
  /// The bytes of one block: content takes whole ones. At least 1.
  package let blockByteCount: Int64

  /// What so many bytes of content take.
  package func rounded(_ byteCount: Int64) -> Int64 {
    let blocks = byteCount / blockByteCount + (byteCount % blockByteCount > 0 ? 1 : 0)
    let (bytes, overflow) = blocks.multipliedReportingOverflow(by: blockByteCount)
    return overflow ? .max : bytes
  }
}

extension VolumeSpace {
  /// The largest block that is believed, that of exFAT on a large card: what a network file system states is the size of its requests.
  private static let largestBlock: Int64 = 128 << 10

  init(freeBlocks: UInt64, fragment: UInt64, freeFiles: UInt64, files: UInt64) {
    let (bytes, overflow) = freeBlocks.multipliedReportingOverflow(by: fragment)
    freeByteCount = overflow ? .max : Int64(clamping: bytes)
    freeFileCount = files == 0 ? nil : Int64(clamping: freeFiles)
    blockByteCount = min(max(Int64(clamping: fragment), 1), Self.largestBlock)
  }
}
