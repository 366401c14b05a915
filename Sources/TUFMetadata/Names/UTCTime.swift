/// A point in time as TUF metadata writes it: UTC, whole seconds, `YYYY-MM-DDTHH:MM:SSZ` and nothing else (TUF 1.0.34 §4.2.1).
public struct UTCTime: Hashable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted; from year 0000 to year 9999.
  public let secondsSince1970: Int64

  /// The times that can be written with four digits for the year.
  static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  /// The first of all times: at it, nothing has expired.
  package static let earliest = UTCTime(clamped: range.lowerBound)

  /// A time from the clock's count of seconds.
  /// - Returns: nil where the year is not in 0000…9999.
  public init?(secondsSince1970: Int64) {
    guard Self.range.contains(secondsSince1970) else { return nil }
    self.secondsSince1970 = secondsSince1970
  }

  /// A time from its text.
  /// - Parameter text: exactly 20 characters, `YYYY-MM-DDTHH:MM:SSZ`, naming a day and a time that exist.
  /// - Throws: `MetadataError.invalidValue` with an empty path.
  package init(text: Span<UInt8>) throws(MetadataError) {
    guard text.count == 20 else { throw Self.malformed(text) }
    for (index, separator) in Self.separators where text[index] != separator { throw Self.malformed(text) }
    let year = try Self.number(text, 0..<4)
    let month = try Self.number(text, 5..<7)
    let day = try Self.number(text, 8..<10)
    let hour = try Self.number(text, 11..<13)
    let minute = try Self.number(text, 14..<16)
    let second = try Self.number(text, 17..<19)
    guard (1...12).contains(month), (1...Self.dayCount(month: month, year: year)).contains(day), hour < 24, minute < 60, second < 60 else {
      throw Self.malformed(text)
    }
    secondsSince1970 = Self.daysSince1970(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// The time this many days later, at most the last one of year 9999.
  public func adding(days: Int) -> UTCTime {
    let (offset, tooLarge) = Int64(days).multipliedReportingOverflow(by: 86_400)
    let (sum, overflow) = secondsSince1970.addingReportingOverflow(offset)
    let clamped = tooLarge || overflow ? (days < 0 ? Self.range.lowerBound : Self.range.upperBound) : sum
    return UTCTime(clamped: clamped)
  }

  private init(clamped seconds: Int64) { secondsSince1970 = min(max(seconds, Self.range.lowerBound), Self.range.upperBound) }

  private static let separators: [(Int, UInt8)] = [
    (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")), (16, UInt8(ascii: ":")),
    (19, UInt8(ascii: "Z")),
  ]

  private static func malformed(_ text: Span<UInt8>) -> MetadataError {
    .invalidValue(path: "", expected: "a time as YYYY-MM-DDTHH:MM:SSZ", found: MetadataError.quoted(text))
  }

  private static func number(_ text: Span<UInt8>, _ digits: Range<Int>) throws(MetadataError) -> Int64 {
    var value: Int64 = 0
    for index in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) else { throw malformed(text) }
      value = value * 10 + Int64(text[index] - UInt8(ascii: "0"))
    }
    return value
  }

  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func dayCount(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Days are counted in years that begin in March, so that the leap day comes last; 400 years have 146,097 days.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private var civil: (year: Int64, month: Int64, day: Int64, second: Int64) {
    let second = ((secondsSince1970 % 86_400) + 86_400) % 86_400
    let days = (secondsSince1970 - second) / 86_400 + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, second)
  }
}

extension UTCTime: Comparable {
  public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}

extension UTCTime: CustomStringConvertible {
  /// `YYYY-MM-DDTHH:MM:SSZ`.
  public var description: String {
    let (year, month, day, second) = civil
    func padded(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):"
      + "\(padded(second % 60, 2))Z"
  }
}
