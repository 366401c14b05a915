import TUFMetadata
import Testing

@Suite struct `A large manifest costs time in proportion` {
  /// Targets of so many entries as a publisher writes them; nobody has signed it.
  static func file(count: Int) -> [UInt8] {
    let digits = String(repeating: "a", count: 64)
    var text = #"{"signatures":[],"signed":{"_type":"targets","expires":"2031-01-01T00:00:00Z","spec_version":"1.0.34","targets":{"#
    for number in 0..<count {
      let custom = number.isMultiple(of: 2) ? #""custom":{"fsverity":"sha256:\#(digits)"},"# : ""
      text +=
        #"\#(number == 0 ? "" : ",")"organisation/model/\#(1_000_000 + number).gguf":{\#(custom)"hashes":{"sha256":"\#(digits)"},"length":7}"#
    }
    return Array((text + #"},"version":1}}"#).utf8)
  }

  @Test func `100,000 targets are read, checked and found`() throws {
    let bytes = Self.file(count: 100_000)
    let targets = try UnverifiedMetadata<Targets>(parsing: bytes).payload
    #expect(targets.count == 100_000)
    #expect(targets[try TargetPath("organisation/model/1099999.gguf")]?.byteCount == 7)
    #expect(targets[try TargetPath("organisation/model/1100000.gguf")] == nil)
  }
}
