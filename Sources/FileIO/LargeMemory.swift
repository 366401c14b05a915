#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Memory of many megabytes. The system hands it out page by page as it is first touched, which for a large manifest takes longer than to read
/// it; so it is asked for large pages, where it has such.
enum LargeMemory {
  private static let leastByteCount = 4 << 20

  static func zeros(count: Int) -> [UInt8] {
    guard count >= leastByteCount else { return [UInt8](repeating: 0, count: count) }
    // All of it is written before the count says so.
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialised in
      unsafe preferLargePages(UnsafeMutableRawBufferPointer(buffer))
      unsafe buffer.initialize(repeating: 0)
      initialised = count
    }
  }

  /// Advice only: whether it is taken, or refused, changes nothing but the time.
  private static func preferLargePages(_ memory: UnsafeMutableRawBufferPointer) {
    #if canImport(Glibc)
      let page = 4096
      guard let base = memory.baseAddress else { return }
      let skipped = (page - Int(bitPattern: base) % page) % page
      guard skipped < memory.count else { return }
      // Within the buffer, from its first whole page on.
      _ = unsafe madvise(base + skipped, memory.count - skipped, MADV_HUGEPAGE)
    #endif
  }
}
