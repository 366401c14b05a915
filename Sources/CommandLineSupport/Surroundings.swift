#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a command learns from its surroundings besides its words.
package enum Surroundings {
  /// The clock, in seconds since 1970-01-01T00:00:00Z.
  package static var secondsSince1970: Int64 {
    var now = timespec()
    // Fills the structure; the real-time clock always exists.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec)
  }

  /// An environment variable; nil where it is not set.
  package static func variable(_ name: String) -> String? { SystemCalls.environment(name) }
}
