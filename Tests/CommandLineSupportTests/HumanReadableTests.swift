import CommandLineSupport
import Foundation
import TestSupport
import Testing

@Suite("Numbers read well and cannot trap")
struct HumanReadableTests {
  @Test(
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (9949, "9.9 kB"), (9950, "10 kB"), (999_499, "999 kB"),
      (999_500, "1.0 MB"), (1_234_567_890, "1.2 GB"), (13_000_000_000, "13 GB"), (UInt64.max, "18 EB"),
    ] as [(UInt64, String)])
  func bytesAreRounded(count: UInt64, text: String) { #expect(HumanReadable.bytes(count) == text) }

  @Test func exactNumbersAreGrouped() {
    #expect(HumanReadable.exactBytes(1_234_567) == "1,234,567 bytes")
    #expect(HumanReadable.exactBytes(1) == "1 byte")
    #expect(HumanReadable.grouped(-123_456) == "-123,456")
    #expect(HumanReadable.grouped(UInt64.max) == "18,446,744,073,709,551,615")
  }

  @Test(
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min"), (125, "2 min 5 s"), (3600, "1 h"), (11_100, "3 h 5 min"), (97_200, "1 day 3 h"),
      (1_209_600, "14 days"), (-60, "-1 min"), (Int64.min, "-106751991167300 days"),
    ] as [(Int64, String)])
  func durations(seconds: Int64, text: String) { #expect(HumanReadable.duration(seconds: seconds) == text) }

  @Test func relativeTimes() {
    #expect(HumanReadable.relative(1_209_600, to: 0) == "in 14 days")
    #expect(HumanReadable.relative(0, to: 11_100) == "3 h 5 min ago")
    #expect(HumanReadable.relative(5, to: 5) == "now")
    #expect(HumanReadable.relative(.max, to: .min) == "in the far future")
    #expect(HumanReadable.relative(.min, to: 1) == "long ago")
  }

  @Test func timesAgreeWithPython() throws {
    var generator = SeededGenerator(seed: 3)
    let edges: [Int64] = [
      0, -1, 86_399, 86_400, 951_782_400, 951_868_799, 4_107_542_399, 4_107_542_400, 253_402_300_799, -62_135_596_800,
    ]
    let times = edges + (0..<5000).map { _ in Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator) }
    let program = """
      import sys, datetime
      e = datetime.datetime(1970, 1, 1)
      for l in sys.stdin:
          print((e + datetime.timedelta(seconds=int(l))).isoformat() + 'Z')
      """
    let input = times.map { "\($0)\n" }.joined()
    let theirs = try Peer.python(program, input: Array(input.utf8)).split(separator: "\n").map(String.init)
    #expect(theirs == times.map { HumanReadable.time(secondsSince1970: $0) })
    #expect(theirs.map { String($0.prefix(10)) } == times.map { HumanReadable.date(secondsSince1970: $0) })
  }

  @Test func noTimeTraps() {
    #expect(HumanReadable.time(secondsSince1970: .max) == "292277026596-12-04T15:30:07Z")
    #expect(HumanReadable.time(secondsSince1970: .min).hasPrefix("-29"))
  }

  @Test func columnsLineUp() {
    var table = Table([("name", .left), ("size", .right), ("note", .left)])
    table.append(["模型", "1.2 GB", "ok"])
    table.append(["a\nb", "5", ""])
    #expect(table.lines.map(\.text) == ["name       size  note", "模型     1.2 GB  ok", "a\\u{A}b       5  "])
  }
}
