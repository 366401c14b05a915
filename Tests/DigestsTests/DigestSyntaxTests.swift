import Digests
import TestSupport
import Testing

@Suite("A digest has exactly one spelling")
struct DigestSyntaxTests {
  static let digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

  struct Refusal: CustomTestStringConvertible, Sendable {
    let rule: String
    let text: String
    let error: DigestError
    var testDescription: String { rule }
  }

  static let refusals = [
    Refusal(rule: "empty", text: "", error: .hexadecimalLength(expected: 64, actual: 0)),
    Refusal(rule: "63 digits", text: String(digits.dropLast()), error: .hexadecimalLength(expected: 64, actual: 63)),
    Refusal(rule: "65 digits", text: digits + "0", error: .hexadecimalLength(expected: 64, actual: 65)),
    Refusal(rule: "128 digits, a SHA-512", text: digits + digits, error: .hexadecimalLength(expected: 64, actual: 128)),
    Refusal(rule: "upper case", text: digits.uppercased(), error: .hexadecimalDigit(found: UInt8(ascii: "A"), offset: 10)),
    Refusal(
      rule: "one upper-case digit, the last", text: digits.dropLast() + "F",
      error: .hexadecimalDigit(found: UInt8(ascii: "F"), offset: 63)),
    Refusal(rule: "not hexadecimal", text: "zz" + digits.dropFirst(2), error: .hexadecimalDigit(found: UInt8(ascii: "z"), offset: 0)),
    Refusal(rule: "0x before it", text: "0x" + digits.dropFirst(2), error: .hexadecimalDigit(found: UInt8(ascii: "x"), offset: 1)),
    Refusal(rule: "space before, 64 characters", text: " " + digits.dropLast(), error: .hexadecimalDigit(found: 0x20, offset: 0)),
    Refusal(rule: "space after, 64 characters", text: digits.dropLast() + " ", error: .hexadecimalDigit(found: 0x20, offset: 63)),
    Refusal(rule: "space before, 64 digits", text: " " + digits, error: .hexadecimalLength(expected: 64, actual: 65)),
    Refusal(rule: "line end after", text: digits + "\n", error: .hexadecimalLength(expected: 64, actual: 65)),
    Refusal(rule: "NUL within", text: digits.prefix(32) + "\0" + digits.suffix(31), error: .hexadecimalDigit(found: 0, offset: 32)),
    Refusal(rule: "NUL after", text: digits + "\0", error: .hexadecimalLength(expected: 64, actual: 65)),
    Refusal(rule: "sign", text: "+" + digits.dropFirst(), error: .hexadecimalDigit(found: UInt8(ascii: "+"), offset: 0)),
    Refusal(
      rule: "64 full-width digits", text: String(repeating: "０", count: 64), error: .hexadecimalLength(expected: 64, actual: 192)),
    Refusal(
      rule: "64 bytes, some of them full-width digits", text: "０" + digits.dropFirst(3), error: .hexadecimalDigit(found: 0xef, offset: 0)),
    Refusal(rule: "a path", text: "../../x", error: .hexadecimalLength(expected: 64, actual: 7)),
    Refusal(rule: "an fs-verity digest's text", text: "sha256:" + digits, error: .hexadecimalLength(expected: 64, actual: 71)),
  ]

  @Test("refused", arguments: refusals)
  func refused(refusal: Refusal) {
    #expect(throws: refusal.error) { try SHA256Digest(hexadecimal: Array(refusal.text.utf8).span) }
  }

  @Test("SHA-512: 128 digits, no more and no fewer", arguments: [0, 64, 127, 129])
  func sha512Length(count: Int) {
    let text = [UInt8](repeating: UInt8(ascii: "0"), count: count)
    #expect(throws: DigestError.hexadecimalLength(expected: 128, actual: count)) { try SHA512Digest(hexadecimal: text.span) }
  }

  @Test("every byte at every place of the text is judged alike")
  func everyByteEverywhere() throws {
    let text = Array((Self.digits + Self.digits).utf8)
    for offset in text.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[offset] = byte
        let isDigit = Array("0123456789abcdef".utf8).contains(byte)
        do throws(DigestError) {
          let digest = try SHA512Digest(hexadecimal: changed.span)
          guard isDigit, digest.hexadecimal == changed else {
            Issue.record("byte \(byte) at \(offset) was accepted as \(digest)")
            return
          }
        } catch {
          guard !isDigit, error == .hexadecimalDigit(found: byte, offset: offset) else {
            Issue.record("byte \(byte) at \(offset): \(error)")
            return
          }
        }
      }
    }
  }

  @Test("the first wrong digit is the one named")
  func firstWrongDigit() {
    var text = Array(Self.digits.utf8)
    text[40] = UInt8(ascii: "G")
    text[7] = UInt8(ascii: "h")
    #expect(throws: DigestError.hexadecimalDigit(found: UInt8(ascii: "h"), offset: 7)) { try SHA256Digest(hexadecimal: text.span) }
  }

  @Test("bytes: 32 and 64, no more and no fewer", arguments: [0, 31, 33, 63, 65])
  func byteLength(count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    #expect(throws: DigestError.length(expected: 32, actual: count)) { try SHA256Digest(bytes: bytes.span) }
    #expect(throws: DigestError.length(expected: 64, actual: count)) { try SHA512Digest(bytes: bytes.span) }
  }

  @Test("Hexadecimal reads what it writes, at any length, and refuses another", arguments: [0, 1, 2, 31, 32, 64, 100])
  func hexadecimal(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let bytes = generator.bytes(count)
    let text = Hexadecimal.encode(bytes.span)
    #expect(String(decoding: text, as: UTF8.self) == bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    #expect(try Hexadecimal.decode(text.span, byteCount: count) == bytes)
    #expect(throws: DigestError.hexadecimalLength(expected: 2 * count + 2, actual: 2 * count)) {
      try Hexadecimal.decode(text.span, byteCount: count + 1)
    }
    #expect(throws: DigestError.hexadecimalLength(expected: 2 * count, actual: 2 * count + 1)) {
      try Hexadecimal.decode((text + [0x30]).span, byteCount: count)
    }
  }
}

@Suite("An fs-verity digest is written `sha256:` and 64 digits")
struct FSVerityDigestSyntaxTests {
  typealias Refusal = DigestSyntaxTests.Refusal
  static let digits = DigestSyntaxTests.digits
  static let refusals = [
    Refusal(rule: "empty", text: "", error: .verityAlgorithm),
    Refusal(rule: "no algorithm", text: digits, error: .verityAlgorithm),
    Refusal(rule: "algorithm in upper case", text: "SHA256:" + digits, error: .verityAlgorithm),
    Refusal(rule: "another algorithm", text: "sha512:" + digits + digits, error: .verityAlgorithm),
    Refusal(rule: "hyphen in the algorithm", text: "sha-256:" + digits, error: .verityAlgorithm),
    Refusal(rule: "space before", text: " sha256:" + digits, error: .verityAlgorithm),
    Refusal(rule: "no digits", text: "sha256:", error: .hexadecimalLength(expected: 64, actual: 0)),
    Refusal(rule: "cut within the algorithm", text: "sha25", error: .verityAlgorithm),
    Refusal(rule: "63 digits", text: "sha256:" + digits.dropLast(), error: .hexadecimalLength(expected: 64, actual: 63)),
    Refusal(rule: "65 digits", text: "sha256:" + digits + "0", error: .hexadecimalLength(expected: 64, actual: 65)),
    Refusal(rule: "line end after", text: "sha256:" + digits + "\n", error: .hexadecimalLength(expected: 64, actual: 65)),
    Refusal(
      rule: "upper case", text: "sha256:" + digits.uppercased(), error: .hexadecimalDigit(found: UInt8(ascii: "A"), offset: 17)),
    Refusal(rule: "space after the colon", text: "sha256: " + digits.dropLast(), error: .hexadecimalDigit(found: 0x20, offset: 7)),
  ]

  @Test("refused", arguments: refusals)
  func refused(refusal: Refusal) {
    #expect(throws: refusal.error) { try FSVerityDigest(text: Array(refusal.text.utf8).span) }
  }

  @Test("read as it is written")
  func roundTrip() throws {
    let text = Array("sha256:\(Self.digits)".utf8)
    let digest = try FSVerityDigest(text: text.span)
    #expect(digest.text == text)
    #expect(digest.description == "sha256:\(Self.digits)")
    #expect(digest.sha256.description == Self.digits)
    #expect(digest == FSVerityDigest(sha256: digest.sha256))
  }
}
