import TUFMetadata
import Testing

@Suite struct `The order of members` {
  /// Names that share beginnings and end in zero bytes, of lengths around the eight bytes that are compared at once.
  static func names(seed: UInt64) -> [ByteString] {
    var state = seed
    func next(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    let alphabet: [[UInt8]] = [[0], [0x61], [0x61], [0x62], [0xC3, 0xA9]]
    return (0..<400).map { _ in ByteString((0..<next(20)).flatMap { _ in alphabet[Int(next(5))] }) }
  }

  static func text(_ names: [ByteString]) -> [UInt8] {
    var text = [UInt8(ascii: "{")]
    for (number, name) in names.enumerated() {
      if number > 0 { text.append(UInt8(ascii: ",")) }
      text.append(UInt8(ascii: "\""))
      for byte in name.bytes { text += byte == 0 ? Array("\\u0000".utf8) : [byte] }
      text += "\":\(number)".utf8
    }
    return text + [UInt8(ascii: "}")]
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func `is that of their names' bytes`(seed: UInt64) throws {
    var seen: Set<ByteString> = []
    let names = Self.names(seed: seed).filter { seen.insert($0).inserted }
    let root = try JSONDocument(parsing: Self.text(names)).root
    #expect(root.members.map(\.name) == names.sorted())
    #expect(root.members.allSatisfy { name, value in value.integer.map { names[Int($0)] } == name })
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func `betrays the first name that stands twice`(seed: UInt64) throws {
    let names = Self.names(seed: seed)
    var seen: Set<ByteString> = []
    let second = try #require(names.firstIndex { !seen.insert($0).inserted })
    let offset = Self.text(Array(names[..<second])).count
    #expect(fault(Self.text(names)) == .syntax(.duplicateMember(names[second].description), offset: offset))
  }
}
