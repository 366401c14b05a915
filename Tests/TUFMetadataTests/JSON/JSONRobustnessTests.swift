import TUFMetadata
import Testing

@Suite struct `On damaged and hostile input, the JSON reader` {
  static let sample = Array(
    #"""
    {"signatures":[{"keyid":"00ff","sig":""}], "signed":{"_type":"targets","é\u00e9\ud83d\ude00\\":[-0,12,-345,true,false,null,[],{}],
    "targets":{"a/b":{"length":7},"a/a":{"length":9223372036854775807}},"":"😀ß\"\/"}}
    """#.utf8)

  @Test func `refuses every beginning of a document`() throws {
    #expect(fault(Self.sample) == nil)
    for length in 0..<Self.sample.count {
      guard case .syntax(let reason, let offset) = fault(Array(Self.sample[..<length])) else {
        Issue.record("accepted \(length) bytes")
        continue
      }
      #expect(offset <= length)
      #expect([.empty, .unexpectedEnd, .loneSurrogate].contains(reason), "\(length): \(reason)")
    }
  }

  @Test func `survives every value of every byte, and what it accepts is stable`() throws {
    var accepted = 0
    for index in Self.sample.indices {
      for value in UInt8.min...UInt8.max where value != Self.sample[index] {
        var text = Self.sample
        text[index] = value
        accepted += isAcceptedAndStable(text) ? 1 : 0
      }
    }
    #expect(accepted > 1000)
  }

  @Test func `survives every byte left out or doubled`() throws {
    for index in Self.sample.indices {
      var text = Self.sample
      text.remove(at: index)
      _ = isAcceptedAndStable(text)
      text = Self.sample
      text.insert(text[index], at: index)
      _ = isAcceptedAndStable(text)
    }
  }

  /// Whether a text is accepted. If so, its canonical form means the same and is its own canonical form.
  private func isAcceptedAndStable(_ text: [UInt8]) -> Bool {
    guard let root = try? JSONDocument(parsing: text).root else { return false }
    let canonical = root.canonicalBytes
    var isStable = JSONTree(root).canonicalBytes == canonical
    // Control characters stand raw in canonical JSON, which is then not JSON.
    if isStable, canonical.allSatisfy({ $0 >= 0x20 }) {
      isStable = (try? JSONDocument(parsing: canonical).root.canonicalSlice) == 0..<canonical.count
    }
    if !isStable { Issue.record("not stable: \(String(decoding: text, as: UTF8.self))") }
    return true
  }

  /// Each would take hours if any step were quadratic in its size.
  @Test(arguments: HostileText.allCases) func `reads many megabytes made to be slow`(hostile: HostileText) throws {
    let text = hostile.bytes
    #expect(text.count > 4_000_000)
    let document = try JSONDocument(parsing: text)
    let canonical = document.root.canonicalBytes
    #expect(canonical.count <= text.count)
    #expect(document.root.count == hostile.count)
  }

  @Test func `finds the one duplicate in a million members`() {
    var text = HostileText.descendingNames.bytes
    text.removeLast()
    let offset = text.count + 1
    text += Array(#","500000":1}"#.utf8)
    #expect(fault(text) == .syntax(.duplicateMember("500000"), offset: offset))
    // The same, with the error of syntax that follows it found first.
    text[text.count - 1] = UInt8(ascii: "x")
    #expect(fault(text) == .syntax(.duplicateMember("500000"), offset: offset))
  }
}

enum HostileText: CaseIterable {
  case descendingNames, longCommonBeginnings, sawtoothNames, escapesOnly, oneLongString, zeros, whiteSpace, smallUnsortedObjects

  var count: Int {
    switch self {
    case .descendingNames, .zeros, .sawtoothNames: 1_000_000
    case .longCommonBeginnings: 2000
    case .escapesOnly, .oneLongString: 0
    case .whiteSpace: 1
    case .smallUnsortedObjects: 300_000
    }
  }

  var bytes: [UInt8] {
    func object(_ names: some Sequence<String>) -> [UInt8] {
      var text = [UInt8(ascii: "{")]
      for name in names {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text += "\"\(name)\":1".utf8
      }
      return text + [UInt8(ascii: "}")]
    }
    func repeated(_ part: String, _ count: Int) -> [UInt8] {
      var text: [UInt8] = []
      for _ in 0..<count { text += part.utf8 }
      return text
    }
    switch self {
    case .descendingNames: return object((0..<count).lazy.map { String(2_000_000 - $0).dropFirst().description })
    case .longCommonBeginnings:
      let beginning = String(repeating: "a", count: 10_000)
      return object((0..<count).lazy.map { beginning + String(9999 - $0) })
    case .sawtoothNames: return object((0..<count).lazy.map { String(1_000_000 + $0 % 1000 * 1000 + $0 / 1000) })
    case .escapesOnly: return [0x22] + repeated("\\u0041\\n", 2_000_000) + [0x22]
    case .oneLongString: return [0x22] + repeated("é\\\\", 5_000_000) + [0x22]
    case .zeros: return [UInt8(ascii: "[")] + repeated("    0,", count - 1) + Array("0]".utf8)
    case .whiteSpace: return [UInt8(ascii: "[")] + repeated(" ", 20_000_000) + Array("0]".utf8)
    case .smallUnsortedObjects:
      return [UInt8(ascii: "[")] + repeated(#"{"b":1,"a":{"d":1,"c":2}},"#, count - 1) + Array("{}]".utf8)
    }
  }
}
