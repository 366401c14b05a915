import TUFMetadata
import TestSupport
import Testing

@Suite struct `A time is YYYY-MM-DDTHH-MM-SSZ and nothing else` {
  static let good: [(text: String, seconds: Int64)] = [
    ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1), ("1985-10-21T01:21:00Z", 498_705_660),
    ("2000-02-29T00:00:00Z", 951_782_400), ("2024-02-29T23:59:59Z", 1_709_251_199), ("2038-01-19T03:14:08Z", 2_147_483_648),
    ("0000-01-01T00:00:00Z", -62_167_219_200), ("0000-02-29T00:00:00Z", -62_162_121_600), ("9999-12-31T23:59:59Z", 253_402_300_799),
  ]

  @Test(arguments: good) func `a time that exists is read and written back`(text: String, seconds: Int64) throws {
    let time = try UTCTime(text: Array(text.utf8).span)
    #expect(time.secondsSince1970 == seconds)
    #expect(time.description == text)
    #expect(UTCTime(secondsSince1970: seconds) == time)
  }

  static let bad: [(rule: String, text: String)] = [
    ("empty", ""), ("date alone", "2030-01-01"), ("no leap day in a common year", "2023-02-29T00:00:00Z"),
    ("no leap day in 1900", "1900-02-29T00:00:00Z"), ("no leap day in 2100", "2100-02-29T00:00:00Z"),
    ("April has 30 days", "2030-04-31T00:00:00Z"),
    ("no day 0", "2030-01-00T00:00:00Z"), ("no day 32", "2030-01-32T00:00:00Z"), ("no month 0", "2030-00-01T00:00:00Z"),
    ("no month 13", "2030-13-01T00:00:00Z"), ("no hour 24", "2030-01-01T24:00:00Z"), ("no minute 60", "2030-01-01T00:60:00Z"),
    ("no leap second", "2016-12-31T23:59:60Z"), ("no fraction", "2030-01-01T00:00:00.0Z"), ("no offset", "2030-01-01T00:00:00+00:00"),
    ("no offset of the right length", "2030-01-01T00:00+00Z"), ("no lower-case z", "2030-01-01T00:00:00z"),
    ("no lower-case t", "2030-01-01t00:00:00Z"), ("no space for the T", "2030-01-01 00:00:00Z"), ("no missing Z", "2030-01-01T00:00:00"),
    ("no white space before", " 2030-01-01T00:00:00Z"), ("no white space behind", "2030-01-01T00:00:00Z "),
    ("no sign", "+030-01-01T00:00:00Z"), ("no minus sign", "-030-01-01T00:00:00Z"), ("no five digits", "12030-01-01T00:00:00Z"),
    ("no basic form", "20300101T000000Z"), ("no digits of another script", "２030-01-01T00:00:00Z"),
    ("no other separators", "2030/01/01T00:00:00Z"),
    ("no letters", "2O30-01-01T00:00:00Z"),
  ]

  @Test(arguments: bad) func `another form or a time that does not exist is refused`(rule: String, text: String) {
    #expect(throws: MetadataError.invalidValue(path: "", expected: "a time as YYYY-MM-DDTHH:MM:SSZ", found: "\"\(text)\"")) {
      try UTCTime(text: Array(text.utf8).span)
    }
  }

  @Test func `seconds outside of the years 0000 to 9999 are no time`() {
    #expect(UTCTime(secondsSince1970: -62_167_219_201) == nil)
    #expect(UTCTime(secondsSince1970: 253_402_300_800) == nil)
    #expect(UTCTime(secondsSince1970: .min) == nil)
    #expect(UTCTime(secondsSince1970: .max) == nil)
  }

  @Test func `days are added up to the last of 9999 and down to the first of 0000`() throws {
    let time = try #require(UTCTime(secondsSince1970: 951_696_000))
    #expect(time.adding(days: 1).description == "2000-02-29T00:00:00Z")
    #expect(time.adding(days: -366).description == "1999-02-27T00:00:00Z")
    for days in [Int.max, Int.max / 86_400, 4_000_000] { #expect(time.adding(days: days).description == "9999-12-31T23:59:59Z") }
    for days in [Int.min, Int.min / 86_400, -4_000_000] { #expect(time.adding(days: days).description == "0000-01-01T00:00:00Z") }
  }

  @Test func `random times read as Python's datetime writes them`() throws {
    // Python begins with the year 1.
    let seconds = (0..<20_000).map { _ in Int64.random(in: -62_135_596_800...253_402_300_799) }
    let input = seconds.map { "\($0)\n" }.joined()
    let peer = try runChild(peerPython(), [peerScript("format_times.py")], input: Array(input.utf8)).successful()
    let texts = peer.text.split(separator: "\n")
    try #require(texts.count == seconds.count)
    for (seconds, text) in zip(seconds, texts) {
      let time = try UTCTime(text: Array(text.utf8).span)
      if time.secondsSince1970 != seconds || time.description != text { Issue.record("\(seconds) is \(text), not \(time)") }
    }
  }
}
