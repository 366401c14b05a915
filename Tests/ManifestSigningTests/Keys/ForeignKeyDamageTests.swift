import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("Damaged keys of other programs") struct ForeignKeyDamageTests {
  /// What each byte of a file can become.
  private static let flips: [UInt8] = [0x01, 0x80]

  /// Forms that state the public half, or authenticate the seed: damage can't go unseen.
  private static let selfChecking = ["pair.raw", "pair.txt", "minisign.key"]

  /// Tries to open damaged bytes, which must not crash. Returns the public half where they open.
  private func attempt(_ bytes: [UInt8], original: [UInt8]) throws -> String? {
    let outcome: SigningError?
    do throws(SigningError) {
      let key = try ForeignKeys.open(bytes)
      return hexadecimal(key.publicKey.bytes)
    } catch { outcome = error }
    let error = try #require(outcome)
    // Not four characters of the file in a row are in the message: it has fixed texts, numbers and the name of the file only.
    let said = error.description
    let secret = original.count < 100 ? original[...] : original[60..<min(original.count, 200)]
    for start in secret.indices.dropLast(11) {
      guard let part = String(validating: secret[start..<start + 12], as: UTF8.self), part.allSatisfy({ $0.isLetter || $0.isNumber }) else {
        continue
      }
      #expect(!said.contains(part))
    }
    return nil
  }

  @Test(
    "each byte changed: no crash, no echo; where the form can tell, no other key",
    arguments: ForeignKeys.names.filter { !$0.contains("scrypt") })
  func flippedBytes(name: String) throws {
    let sample = try ForeignKeys.sample(name)
    let bytes = try contents(sample.path)
    for index in bytes.indices {
      for flip in Self.flips {
        var damaged = bytes
        damaged[index] ^= flip
        let found = try attempt(damaged, original: bytes)
        if Self.selfChecking.contains(name), let found { #expect(found == sample.publicKey, "byte \(index) of \(name)") }
      }
    }
  }

  @Test("each truncation: no crash, no echo, no other key", arguments: ForeignKeys.names.filter { !$0.contains("scrypt") })
  func truncations(name: String) throws {
    let sample = try ForeignKeys.sample(name)
    let bytes = try contents(sample.path)
    for count in 0..<bytes.count {
      // The first 32 of 64 raw bytes are a seed, and one of the same key: nothing is lost.
      if let found = try attempt(Array(bytes.prefix(count)), original: bytes) {
        #expect(found == sample.publicKey, "\(count) bytes of \(name)")
      }
    }
  }

  @Test(
    "a byte order mark, a line before or behind, blanks and over-long lines: no crash, no echo, no other key",
    arguments: ForeignKeys.names.filter { !$0.hasSuffix(".raw") && !$0.hasSuffix(".der") && !$0.contains("scrypt") })
  func additions(name: String) throws {
    let sample = try ForeignKeys.sample(name)
    let bytes = try contents(sample.path)
    let text = String(decoding: bytes, as: UTF8.self)
    let long = String(repeating: "A", count: 3000)
    let changed = [
      "\u{FEFF}" + text, "comment\n" + text, text + "comment\n", text + " ", text + "\n\n", " " + text,
      text.replacingOccurrences(of: "\n", with: " \n"),
      text.replacingOccurrences(of: "\n", with: "\r\n"), text.replacingOccurrences(of: "\n", with: "\r"), text + text, text + long,
      text.replacingOccurrences(of: "\n", with: long + "\n"), text + "\0",
    ]
    for one in changed {
      if let found = try attempt(Array(one.utf8), original: bytes) { #expect(found == sample.publicKey) }
    }
  }

  @Test("random bytes behind each known beginning: no crash") func randomBytes() throws {
    var random = SystemRandomNumberGenerator()
    let beginnings: [[UInt8]] = [
      [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4], [0x30, 0x81], [0x30, 0x82], [0x30, 0x80], [0x30, 0x30, 0x30],
      Array("-----BEGIN PRIVATE KEY-----\n".utf8), Array("-----BEGIN ".utf8), Array("untrusted comment:".utf8), [],
    ]
    for beginning in beginnings {
      for _ in 0..<500 {
        let tail = (0..<Int.random(in: 0...150, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let length = (beginning + tail).count
        guard length != 32, length != 64 else { continue }
        #expect(try attempt(beginning + tail, original: []) == nil)
      }
    }
  }
}
