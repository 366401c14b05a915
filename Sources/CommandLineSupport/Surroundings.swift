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

  /// Nanoseconds of a clock that only goes forward.
  package static var monotonicNanoseconds: UInt64 { SystemCalls.monotonicNanoseconds() }

  /// An environment variable; nil where it is not set.
  package static func variable(_ name: String) -> String? { SystemCalls.environment(name) }

  /// The folder for data that a program keeps for its user, where the platform has such things lie; nothing where the home folder is not known.
  package static func applicationData(_ name: String) -> String? {
    #if canImport(Darwin)
      return variable("HOME").map { "\($0)/Library/Application Support/\(name)" }
    #else
      // XDG Base Directory Specification: a relative path is to be ignored.
      if let folder = variable("XDG_DATA_HOME"), folder.hasPrefix("/") { return "\(folder)/\(name)" }
      return variable("HOME").map { "\($0)/.local/share/\(name)" }
    #endif
  }
}
