/// Numbers as people read them.
package enum HumanReadable {
  /// Three digits or fewer and a decimal unit: `999 bytes`, `1.2 GB`, `12 GB`.
  package static func bytes(_ count: some BinaryInteger) -> String {
    let count = UInt64(clamping: count)
    if count < 1000 { return count == 1 ? "1 byte" : "\(count) bytes" }
    var unit: UInt64 = 1000
    for name in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      // Rounded to tenths below 10, else to whole units; what rounds up to 1000 belongs to the next unit.
      let tenths = rounded(count, by: unit / 10)
      if tenths < 100 { return "\(tenths / 10).\(tenths % 10) \(name)" }
      let wholes = rounded(count, by: unit)
      if wholes < 1000 || name == "EB" { return "\(wholes) \(name)" }
      unit *= 1000
    }
    return "\(count) bytes"
  }

  /// All digits, in groups of three: `1,234,567 bytes`.
  package static func exactBytes(_ count: some BinaryInteger) -> String { count == 1 ? "1 byte" : grouped(count) + " bytes" }

  /// All digits, in groups of three: `1 file`, `1,234 files`.
  package static func files(_ count: some BinaryInteger) -> String { count == 1 ? "1 file" : grouped(count) + " files" }

  /// All digits, in groups of three.
  package static func grouped(_ count: some BinaryInteger) -> String {
    let digits = Array(count.magnitude.description)
    var text = count < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }

  /// The two largest units of a span: `14 days`, `1 day 3 h`, `2 min 5 s`, `40 s`.
  package static func duration(seconds: Int64) -> String {
    let total = seconds.magnitude
    let (days, hours, minutes, rest) = (total / 86_400, total / 3600 % 24, total / 60 % 60, total % 60)
    let text: String
    if days > 0 {
      text = (days == 1 ? "1 day" : "\(days) days") + (days < 3 && hours > 0 ? " \(hours) h" : "")
    } else if hours > 0 {
      text = "\(hours) h" + (minutes > 0 ? " \(minutes) min" : "")
    } else if minutes > 0 {
      text = "\(minutes) min" + (rest > 0 ? " \(rest) s" : "")
    } else {
      text = "\(rest) s"
    }
    return seconds < 0 ? "-" + text : text
  }

  /// A point in time seen from another: `in 14 days`, `3 h 2 min ago`, `now`.
  package static func relative(_ time: Int64, to now: Int64) -> String {
    let (difference, overflow) = time.subtractingReportingOverflow(now)
    if overflow { return time > now ? "in the far future" : "long ago" }
    if difference == 0 { return "now" }
    let span = duration(seconds: Int64(clamping: difference.magnitude))
    return difference > 0 ? "in \(span)" : "\(span) ago"
  }

  /// ISO 8601 in UTC, as TUF metadata writes it: `2026-11-30T12:10:52Z`.
  package static func time(secondsSince1970 seconds: Int64) -> String {
    let (days, second) = floorDivision(seconds, 86_400)
    return "\(date(daysSince1970: days))T\(padded(second / 3600)):\(padded(second / 60 % 60)):\(padded(second % 60))Z"
  }

  /// ISO 8601 date in UTC: `2026-11-30`.
  package static func date(secondsSince1970 seconds: Int64) -> String { date(daysSince1970: floorDivision(seconds, 86_400).quotient) }

  /// The proleptic Gregorian date of a day. Years are counted from 1 March so that the leap day comes last, in eras of 400 years.
  private static func date(daysSince1970 days: Int64) -> String {
    // 719,468 days lie between 0000-03-01 and 1970-01-01. A day number is at most 2^63 / 86,400, so nothing here can overflow.
    let (era, dayOfEra) = floorDivision(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    // Months of 31 and 30 days alternate from March such that 153 days make five of them.
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(padded(year, to: 4))-\(padded(month))-\(padded(day))"
  }

  private static func floorDivision(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ value: Int64, to width: Int = 2) -> String {
    let digits = value.magnitude.description
    return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func rounded(_ count: UInt64, by unit: UInt64) -> UInt64 {
    count / unit + (count % unit >= unit - unit / 2 ? 1 : 0)
  }
}
