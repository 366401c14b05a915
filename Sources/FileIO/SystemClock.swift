#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

package enum SystemClock {
  /// Seconds since 1970-01-01T00:00:00Z.
  package static var secondsSince1970: Int64 {
    var now = timespec()
    // Fills the structure; the real-time clock always exists.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec)
  }

  /// Nanoseconds since then, by the clock that file systems take their times from; nil for a clock beyond what 64 bits hold.
  package static var nanosecondsSince1970: Int64? {
    var now = timespec()
    // Fills the structure; the real-time clock always exists.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    let (seconds, tooLarge) = Int64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow) = seconds.addingReportingOverflow(Int64(now.tv_nsec))
    return tooLarge || overflow ? nil : sum
  }
}

package enum StandardFolder {
  /// The folder for data that a program keeps for its user, where the platform has such things lie; nil where the home folder is not known.
  package static func applicationData(_ name: String) -> String? {
    #if canImport(Darwin)
      return variable("HOME").map { "\($0)/Library/Application Support/\(name)" }
    #else
      // XDG Base Directory Specification: a relative path is to be ignored.
      if let folder = variable("XDG_DATA_HOME"), folder.hasPrefix("/") { return "\(folder)/\(name)" }
      return variable("HOME").map { "\($0)/.local/share/\(name)" }
    #endif
  }

  private static func variable(_ name: String) -> String? {
    // The text is copied before anything could change the environment.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
