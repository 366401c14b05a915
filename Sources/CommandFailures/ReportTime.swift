package import CommandLineSupport
package import TUFMetadata

/// The time that expiry is held against.
package enum ReportTime {
  /// `--at`, of verbs that only report.
  package static let option = Option.value("--at", "TIME", "Judge expiry at this time, YYYY-MM-DDTHH:MM:SSZ, not earlier than now.")

  /// The clock's time.
  package static func now() throws(Failure) -> UTCTime {
    guard let time = UTCTime(secondsSince1970: Surroundings.secondsSince1970) else {
      throw Failure(.failure, "the clock of this machine is out of range", hint: "set the clock")
    }
    return time
  }

  /// The time that a report is for: that of `--at`, never earlier than now, else now.
  package static func of(_ invocation: Invocation) throws(Failure) -> UTCTime {
    let now = try now()
    guard let text = invocation.value(option.name) else { return now }
    let time: UTCTime
    do { time = try UTCTime(text: Array(text.utf8).span) } catch {
      throw Failure(.usage, "\(option.name) is not a time", expected: "YYYY-MM-DDTHH:MM:SSZ", found: "\"\(text)\"")
    }
    guard time >= now else {
      throw Failure(
        .usage, "\(option.name) lies in the past", expected: "\(now) or later", found: time.description,
        hint: "metadata that has expired must not be made to look valid")
    }
    return time
  }
}
