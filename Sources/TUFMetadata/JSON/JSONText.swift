/// What the tape points into: the source, and the strings whose escapes had to be decoded.
struct JSONText: Sendable {
  let source: [UInt8]
  /// The decoded strings, one after another.
  private(set) var decoded: [UInt8] = []
  /// Where each decoded string stands in `decoded`. The ends never decrease.
  private var ends: [UInt32] = []

  init(source: [UInt8]) { self.source = source }

  /// The number that the next decoded string will have.
  var nextNumber: Int { ends.count }

  mutating func append(_ byte: UInt8) { decoded.append(byte) }

  mutating func appendSource(_ range: Range<Int>) { decoded.append(contentsOf: source[range]) }

  /// Everything appended since the last call is one string.
  mutating func endString() { ends.append(UInt32(truncatingIfNeeded: decoded.count)) }

  /// Where a decoded string stands in `decoded`.
  func decodedRange(_ node: JSONNode) -> Range<Int> {
    let number = Int(node.link)
    return (number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])
  }

  /// Hands out the bytes that a string node stands for.
  @inline(__always)
  func withString<Result, Failure: Error>(
    _ node: JSONNode, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if node.isDecoded { return try body(decoded.span.extracting(decodedRange(node))) }
    let range = node.sourceRange
    return try body(source.span.extracting(range.lowerBound + 1..<range.upperBound - 1))
  }

  /// Whether a string node stands for these bytes; mostly its length tells that it does not.
  @inline(__always)
  func equals(_ node: JSONNode, _ bytes: Span<UInt8>) -> Bool {
    guard node.isDecoded || Int(node.length) == bytes.count + 2 else { return false }
    return withString(node) { $0.byteOrder(to: bytes) == 0 }
  }

  /// The bytes that a string node stands for.
  func string(_ node: JSONNode) -> ByteString {
    if node.isDecoded { return ByteString(Array(decoded[decodedRange(node)])) }
    let range = node.sourceRange
    return ByteString(Array(source[range.lowerBound + 1..<range.upperBound - 1]))
  }

  /// The byte order of two string nodes: below 0 where the first comes first, 0 where they are equal.
  func order(_ left: JSONNode, _ right: JSONNode) -> Int {
    // The names in one object mostly differ in their first byte: neither is empty, so the one behind the quote.
    if !left.isDecoded, !right.isDecoded, left.length > 2, right.length > 2 {
      let (first, other) = (source[Int(left.start) + 1], source[Int(right.start) + 1])
      if first != other { return first < other ? -1 : 1 }
    }
    return withString(left) { left in withString(right) { right in left.byteOrder(to: right) } }
  }
}
