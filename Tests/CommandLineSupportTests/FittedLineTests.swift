import CommandLineSupport
import Testing

@Suite("Of a line that is too long the least important parts give way, and none is cut in the middle")
struct FittedLineTests {
  private func text(_ columns: Int) -> String {
    var line = FittedLine()
    line.append("working", importance: 3)
    line.append(FittedLine.shortened("a name of thirty characters ..."), importance: 1)
    line.append(FittedLine.bars(0.5, widths: [10, 4]), importance: 2)
    return line.text(columns: columns).text
  }

  @Test func wholeWhereThereIsRoom() {
    #expect(text(.max) == "working  a name of thirty characters ...  [#####-----] 50 %")
    #expect(text(59) == text(.max))
  }

  @Test func shorterFormsThenNone() {
    #expect(text(58) == "working  a name of thirty char...  [#####-----] 50 %")
    #expect(text(51) == "working  a name of...  [#####-----] 50 %")
    #expect(text(39) == "working  [#####-----] 50 %")
    #expect(text(20) == "working  [##--] 50 %")
    #expect(text(13) == "working  50 %")
  }

  @Test("Nothing is wider than it may be, as far as the shortest forms allow", arguments: 13...80)
  func fits(columns: Int) { #expect(text(columns).count <= columns) }

  @Test("A bar is between empty and full", arguments: [-1, 0, 0.5, 1, 2])
  func bounds(fraction: Double) {
    let percent = Int(max(0, min(1, fraction)) * 100)
    #expect(FittedLine.bars(fraction, widths: [10]).map(\.text).last == "\(percent) %")
    #expect(FittedLine.bars(fraction, widths: [10])[0].columns == "[----------] \(percent) %".count)
  }
}
