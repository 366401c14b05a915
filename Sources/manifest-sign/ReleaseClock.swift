internal import CommandFailures
internal import CommandLineSupport
internal import TUFMetadata

/// The time of signing.
enum ReleaseClock {
  static let variable = "SOURCE_DATE_EPOCH"

  /// The time from which expiries are counted: that of SOURCE_DATE_EPOCH where it is set, so that a publication can be rebuilt
  /// byte for byte, else the clock's.
  static func signingTime() throws(Failure) -> UTCTime {
    guard let text = Surroundings.variable(variable) else { return try ReportTime.now() }
    let isDecimal = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isDecimal, let seconds = Int64(text), let time = UTCTime(secondsSince1970: seconds) else {
      throw Failure(
        .usage, "\(variable) is not a time", expected: "seconds since 1970, as a decimal number", found: "\"\(text)\"",
        hint: "unset \(variable), or set it as in \(variable)=$(date +%s)")
    }
    return time
  }
}
