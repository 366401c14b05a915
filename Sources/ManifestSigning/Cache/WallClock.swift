#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The clock that file systems take their times from.
enum WallClock {
  /// Nanoseconds since 1970; nil for a clock beyond what 64 bits hold.
  static var nanosecondsSince1970: Int64? {
    var now = timespec()
    // Fills the structure; the real-time clock always exists.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    let (seconds, tooLarge) = Int64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow) = seconds.addingReportingOverflow(Int64(now.tv_nsec))
    return tooLarge || overflow ? nil : sum
  }
}
