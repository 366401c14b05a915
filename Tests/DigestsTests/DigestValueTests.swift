import Digests
import TestSupport
import Testing

@Suite("Digests compare as their bytes and as their texts")
struct DigestValueTests {
  @Test("order, equality and hash agree with the text", arguments: 1...8 as ClosedRange<UInt64>)
  func order(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    // Few distinct bytes and long common beginnings, so that every word decides somewhere.
    let shared = generator.bytes(64)
    let texts: [[UInt8]] = (0..<24).map { _ in
      var bytes = shared
      bytes[Int.random(in: 0..<32, using: &generator)] = [0x00, 0x7f, 0x80, 0xff][Int.random(in: 0..<4, using: &generator)]
      bytes[Int.random(in: 32..<64, using: &generator)] = [0x00, 0x7f, 0x80, 0xff][Int.random(in: 0..<4, using: &generator)]
      return bytes
    }
    let short = try texts.map { try SHA256Digest(bytes: $0.span.extracting(..<32)) }
    let long = try texts.map { try SHA512Digest(bytes: $0.span) }
    for left in texts.indices {
      for right in texts.indices {
        Self.expectAgreement(short[left], short[right], short[left].hexadecimal, short[right].hexadecimal)
        Self.expectAgreement(long[left], long[right], long[left].hexadecimal, long[right].hexadecimal)
        let (one, other) = (FSVerityDigest(sha256: short[left]), FSVerityDigest(sha256: short[right]))
        Self.expectAgreement(one, other, one.text, other.text)
      }
    }
  }

  @Test("bytes, text and value stand for each other", arguments: 1...10 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bytes = generator.bytes(64)
    let short = try SHA256Digest(bytes: bytes.span.extracting(..<32))
    #expect(short.bytes == Array(bytes.prefix(32)))
    #expect(try SHA256Digest(hexadecimal: short.hexadecimal.span) == short)
    #expect(short.hexadecimal == Hexadecimal.encode(bytes.span.extracting(..<32)))
    let long = try SHA512Digest(bytes: bytes.span)
    #expect(long.bytes == bytes)
    #expect(try SHA512Digest(hexadecimal: long.hexadecimal.span) == long)
  }

  @Test("errors read well by themselves")
  func errors() {
    #expect(DigestError.length(expected: 32, actual: 31).description == "expected 32 bytes, found 31")
    #expect(
      "\(DigestError.hexadecimalLength(expected: 64, actual: 63))"
        == "expected exactly 64 lower-case hexadecimal digits, found 63 characters")
    #expect(
      "\(DigestError.hexadecimalDigit(found: 0x41, offset: 3))" == "expected a lower-case hexadecimal digit at offset 3, found byte 0x41")
    #expect("\(DigestError.verityAlgorithm)" == "expected an fs-verity digest that begins with \"sha256:\"")
  }

  private static func expectAgreement<Value: Comparable & Hashable>(
    _ left: Value, _ right: Value, _ leftText: [UInt8], _ rightText: [UInt8]
  ) {
    #expect((left == right) == (leftText == rightText))
    #expect((left < right) == leftText.lexicographicallyPrecedes(rightText))
    #expect(left != right || left.hashValue == right.hashValue)
  }
}
