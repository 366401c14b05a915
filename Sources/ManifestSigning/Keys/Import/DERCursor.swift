/// Reads DER (X.690 §10) element by element: definite lengths in their shortest form, nothing left over.
///
/// It holds offsets only; the bytes, which may be secret, stay where they are.
struct DERCursor {
  /// The universal tags that key files need.
  enum Tag {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    /// `[0]`, constructed: the attributes of a private key.
    static let attributes: UInt8 = 0xA0
    /// `[1]`, primitive: the public key of a private key, an implicitly tagged BIT STRING.
    static let publicKey: UInt8 = 0x81
  }

  private(set) var offset: Int
  private let end: Int

  /// Within the content of an element.
  init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { offset == end }

  /// Whether the next element has a tag.
  func isNext(_ tag: UInt8, in bytes: Span<UInt8>) -> Bool { offset < end && bytes[offset] == tag }

  /// Where the content of the next element lies; the cursor moves behind it.
  mutating func read(_ tag: UInt8, in bytes: Span<UInt8>) throws(KeyError) -> Range<Int> {
    guard isNext(tag, in: bytes), end - offset >= 2 else { throw .notImportable(.malformed("DER")) }
    var length = Int(bytes[offset + 1])
    var start = offset + 2
    if length >= 0x80 {
      // No key file is longer than two bytes of length can tell.
      let count = length - 0x80
      guard (1...2).contains(count), end - start >= count else { throw .notImportable(.malformed("DER")) }
      length = 0
      for _ in 0..<count {
        length = length << 8 | Int(bytes[start])
        start += 1
      }
      guard length >= (count == 1 ? 0x80 : 0x100) else { throw .notImportable(.malformed("DER")) }
    }
    guard length <= end - start else { throw .notImportable(.malformed("DER")) }
    offset = start + length
    return start..<start + length
  }

  /// An integer that is not negative and has at most 31 bits.
  mutating func readNumber(in bytes: Span<UInt8>) throws(KeyError) -> UInt64 {
    let range = try read(Tag.integer, in: bytes)
    guard (1...4).contains(range.count), bytes[range.lowerBound] < 0x80,
      range.count == 1 || bytes[range.lowerBound] != 0 || bytes[range.lowerBound + 1] >= 0x80
    else { throw .notImportable(.malformed("DER")) }
    var value: UInt64 = 0
    for index in range { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  /// The bytes of an object identifier: never secret.
  mutating func readIdentifier(in bytes: Span<UInt8>) throws(KeyError) -> [UInt8] {
    let range = try read(Tag.objectIdentifier, in: bytes)
    return range.map { bytes[$0] }
  }

  func requireEnd() throws(KeyError) {
    guard isAtEnd else { throw .notImportable(.malformed("DER")) }
  }
}
