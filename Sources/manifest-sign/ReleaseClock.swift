internal import CommandLineSupport
internal import TUFMetadata

/// The time of signing and of judging.
enum ReleaseClock {
  static let variable = "SOURCE_DATE_EPOCH"

  /// The time from which expiries are counted: that of SOURCE_DATE_EPOCH where it is set, so that a publication can be rebuilt
  /// byte for byte, else the clock's.
  static func signingTime() throws(Failure) -> UTCTime {
    guard let text = Surroundings.variable(variable) else { return try now() }
    let isDecimal = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isDecimal, let seconds = Int64(text), let time = UTCTime(secondsSince1970: seconds) else {
      throw Failure(
        .usage, "\(variable) is not a time", expected: "seconds since 1970, as a decimal number", found: "\"\(text)\"",
        hint: "unset \(variable), or set it as in \(variable)=$(date +%s)")
    }
    return time
  }

  /// The clock's time.
  static func now() throws(Failure) -> UTCTime {
    guard let time = UTCTime(secondsSince1970: Surroundings.secondsSince1970) else {
      throw Failure(.failure, "the clock of this machine is out of range", hint: "set the clock")
    }
    return time
  }

  /// The time that a report is for: that of `--at`, never earlier than now, else now.
  static func reportTime(_ invocation: Invocation) throws(Failure) -> UTCTime {
    let now = try now()
    guard let text = invocation.value(RepositoryOptions.at.name) else { return now }
    let time: UTCTime
    do { time = try UTCTime(text: Array(text.utf8).span) } catch {
      throw Failure(.usage, "\(RepositoryOptions.at.name) is not a time", expected: "YYYY-MM-DDTHH:MM:SSZ", found: "\"\(text)\"")
    }
    guard time >= now else {
      throw Failure(
        .usage, "\(RepositoryOptions.at.name) lies in the past", expected: "\(now) or later", found: time.description,
        hint: "metadata that has expired must not be made to look valid")
    }
    return time
  }
}
