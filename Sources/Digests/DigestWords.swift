/// What every digest is made of: big-endian words, so that the order of the words is the order of the bytes and of the text.
///
/// The digest types wrap it with concrete code: generic code is not specialised outside its module.
struct DigestWords<let wordCount: Int>: Hashable, Comparable, Sendable {
  private var words: InlineArray<wordCount, UInt64>

  static var byteCount: Int { 8 * wordCount }

  /// - Throws: `DigestError.length`.
  init(bytes: Span<UInt8>) throws(DigestError) {
    guard bytes.count == Self.byteCount else { throw .length(expected: Self.byteCount, actual: bytes.count) }
    self.init(in: bytes, at: 0)
  }

  /// - Precondition: there are enough bytes from `offset` on.
  init(in bytes: Span<UInt8>, at offset: Int) {
    words = InlineArray { word in
      var value: UInt64 = 0
      for index in offset + 8 * word..<offset + 8 * word + 8 { value = value << 8 | UInt64(bytes[index]) }
      return value
    }
  }

  /// - Parameters:
  ///   - text: a text that ends with the digits.
  ///   - start: where in the text the digits begin, at most its length.
  /// - Throws: `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`, with the offset in `text`.
  init(hexadecimal text: Span<UInt8>, from start: Int = 0) throws(DigestError) {
    guard text.count - start == 2 * Self.byteCount else {
      throw .hexadecimalLength(expected: 2 * Self.byteCount, actual: text.count - start)
    }
    words = InlineArray(repeating: 0)
    for word in words.indices { words[word] = try Hexadecimal.word(in: text, at: start + 16 * word) }
  }

  /// The digest of all that `state` was given; `state` is then as new.
  init<Algorithm: HashAlgorithm>(finishing state: inout HashState<Algorithm>) {
    var words = InlineArray<wordCount, UInt64>(repeating: 0)
    var span = words.mutableSpan
    // Any bytes make a UInt64, and `finish` checks how many there are.
    unsafe span.withUnsafeMutableBytes { unsafe state.finish(into: $0) }
    for word in words.indices { words[word] = UInt64(bigEndian: words[word]) }
    self.words = words
  }

  var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(Self.byteCount)
    append(to: &result)
    return result
  }

  func append(to output: inout [UInt8]) {
    for index in words.indices {
      // Unsafe only in that padding could be read, of which a number has none.
      unsafe withUnsafeBytes(of: words[index].bigEndian) { unsafe output.append(contentsOf: $0) }
    }
  }

  func appendHexadecimal(to output: inout [UInt8]) {
    for index in words.indices {
      let digits = Hexadecimal.digits(of: words[index])
      // Unsafe only in that padding could be read, of which numbers have none.
      unsafe withUnsafeBytes(of: (digits.high.bigEndian, digits.low.bigEndian)) { unsafe output.append(contentsOf: $0) }
    }
  }

  static func == (left: Self, right: Self) -> Bool {
    for word in left.words.indices where left.words[word] != right.words[word] { return false }
    return true
  }

  static func < (left: Self, right: Self) -> Bool {
    for word in left.words.indices where left.words[word] != right.words[word] { return left.words[word] < right.words[word] }
    return false
  }

  func hash(into hasher: inout Hasher) {
    // All of them: metadata may name digests that no hash function made, alike in any one word.
    for word in words.indices { hasher.combine(words[word]) }
  }
}
