internal import CSodium

/// Finds its way in the text of a secret without copying any of it elsewhere.
enum SecretText {
  static func hasPrefix(_ prefix: String, in text: Span<UInt8>, at start: Int = 0) -> Bool {
    guard text.count - start >= prefix.utf8.count else { return false }
    for (offset, byte) in prefix.utf8.enumerated() where text[start + offset] != byte { return false }
    return true
  }

  /// Where a word stands first, from some place on.
  static func position(of word: String, in text: Span<UInt8>, from start: Int) -> Int? {
    let count = word.utf8.count
    guard start >= 0, text.count - start >= count else { return nil }
    return (start...text.count - count).first { hasPrefix(word, in: text, at: $0) }
  }

  /// Whether all bytes are printable ASCII or line ends. Random bytes are not: of 32 it would take luck of one in 10¹³. So a text that was cut off
  /// at the length of a raw key is not taken for one.
  static func isText(_ bytes: Span<UInt8>) -> Bool {
    bytes.indices.allSatisfy { (0x20...0x7E).contains(bytes[$0]) || bytes[$0] == 0x0A || bytes[$0] == 0x0D }
  }

  /// The range without one line end (LF or CRLF) at its end.
  static func withoutLineEnd(_ range: Range<Int>, in text: Span<UInt8>) -> Range<Int> {
    var end = range.upperBound
    if end > range.lowerBound, text[end - 1] == UInt8(ascii: "\n") {
      end -= 1
      if end > range.lowerBound, text[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    }
    return range.lowerBound..<end
  }

  /// Decodes base64 in a time that does not depend on what it stands for; line ends between its characters are passed over.
  static func decodeBase64(_ text: borrowing SecureBytes, _ range: Range<Int>, form: String) throws(KeyError) -> SecureBytes {
    var decoded = try SecureBytes(capacity: max(range.count / 4 * 3 + 3, 1))
    var isWhole = false
    // The range lies within the text; libsodium writes no more than there is room for.
    unsafe text.withUnsafeBytes { bytes, count in
      guard range.lowerBound >= 0, range.upperBound <= count else { return }
      unsafe decoded.append { free, room in
        var length = 0
        let result = unsafe (bytes + range.lowerBound).withMemoryRebound(to: CChar.self, capacity: range.count) { characters in
          unsafe sodium_base642bin(free, room, characters, range.count, "\r\n", &length, nil, sodium_base64_VARIANT_ORIGINAL)
        }
        isWhole = result == 0
        return length
      }
    }
    guard isWhole else { throw .notImportable(.malformed(form)) }
    return decoded
  }
}

extension SecureBytes {
  /// A copy of a part, in locked memory of its own.
  borrowing func slice(_ range: Range<Int>) throws(KeyError) -> SecureBytes {
    var result = try SecureBytes(capacity: max(range.count, 1))
    // Checked before anything is read.
    unsafe withUnsafeBytes { bytes, count in
      guard range.lowerBound >= 0, range.upperBound <= count else { return }
      unsafe result.append { free, _ in
        unsafe free.update(from: bytes + range.lowerBound, count: range.count)
        return range.count
      }
    }
    return result
  }
}
