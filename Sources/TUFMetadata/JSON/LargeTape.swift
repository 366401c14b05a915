#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension [JSONNode] {
  private static let leastByteCount = 4 << 20

  /// Asks the system for large pages, as far as memory is reserved: of a manifest of 100,000 files half the time of reading went into the pages
  /// that it hands out as they are first touched. Advice only: whether it is taken, or refused, changes nothing but the time.
  mutating func preferLargePages() {
    #if canImport(Glibc)
      let (page, byteCount) = (4096, capacity * MemoryLayout<JSONNode>.stride)
      guard byteCount >= Self.leastByteCount else { return }
      // The address of what is reserved; nothing there is read or written.
      unsafe withUnsafeMutableBufferPointer { nodes in
        guard let base = unsafe nodes.baseAddress.map({ UnsafeMutableRawPointer($0) }) else { return }
        let skipped = (page - Int(bitPattern: base) % page) % page
        // Within what is reserved, from its first whole page on.
        _ = unsafe madvise(base + skipped, byteCount - skipped, MADV_HUGEPAGE)
      }
    #endif
  }
}
