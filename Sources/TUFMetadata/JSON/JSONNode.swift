/// One value or member name on the tape: 16 bytes.
///
/// The children of a container stand side by side, so that any of them is found by its number: an array's elements in their
/// order, an object's members as pairs of name and value in byte order of the names.
struct JSONNode: Sendable {
  /// Where its first byte stands in the source.
  let start: UInt32
  /// Containers and strings: the number of source bytes, quotes and brackets included. Integers: the low half of the value.
  let length: UInt32
  /// Containers: the tape index of the first child. Strings with escapes: the number of the decoded string. Integers: the high
  /// half of the value.
  let link: UInt32
  /// From the low end: kind (3 bits), canonical, decoded (1 bit each), and 27 bits for the number of children of a container or
  /// of source bytes of another value (0 for strings, which have `length`).
  let header: UInt32

  private init(start: UInt32, length: UInt32, link: UInt32, kind: JSONValue.Kind, canonical: Bool, decoded: Bool, count: Int) {
    self.start = start
    self.length = length
    self.link = link
    let flags: UInt32 = (canonical ? 8 : 0) | (decoded ? 16 : 0)
    header = UInt32(kind.rawValue) | flags | UInt32(truncatingIfNeeded: count) << 5
  }

  // The parser has refused texts over 32 bits and more than 2^27 - 1 nodes before it builds one: no bit is lost below.

  static func container(_ kind: JSONValue.Kind, start: UInt32, end: Int, firstChild: Int, childCount: Int, canonical: Bool) -> Self {
    Self(
      start: start, length: UInt32(truncatingIfNeeded: end) &- start, link: UInt32(truncatingIfNeeded: firstChild), kind: kind,
      canonical: canonical, decoded: false, count: childCount)
  }

  static func plainString(start: Int, end: Int) -> Self {
    Self(
      start: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: end - start), link: 0, kind: .string,
      canonical: true, decoded: false, count: 0)
  }

  static func decodedString(start: Int, end: Int, number: Int, canonical: Bool) -> Self {
    Self(
      start: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: end - start),
      link: UInt32(truncatingIfNeeded: number), kind: .string, canonical: canonical, decoded: true, count: 0)
  }

  static func integer(_ value: Int64, start: Int, end: Int, canonical: Bool) -> Self {
    Self(
      start: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: value),
      link: UInt32(truncatingIfNeeded: value >> 32), kind: .integer, canonical: canonical, decoded: false, count: end - start)
  }

  static func boolean(_ value: Bool, start: Int) -> Self {
    Self(
      start: UInt32(truncatingIfNeeded: start), length: value ? 1 : 0, link: 0, kind: .boolean, canonical: true, decoded: false,
      count: value ? 4 : 5)
  }

  static func null(start: Int) -> Self {
    Self(start: UInt32(truncatingIfNeeded: start), length: 0, link: 0, kind: .null, canonical: true, decoded: false, count: 4)
  }

  /// The initialisers write the raw value of a kind and nothing else, so the fallback is never taken.
  var kind: JSONValue.Kind { JSONValue.Kind(rawValue: UInt8(truncatingIfNeeded: header & 7)) ?? .null }

  /// Whether its canonical form is its source bytes.
  var isCanonical: Bool { header & 8 != 0 }

  /// Whether the string's bytes stand among the decoded ones and not in the source.
  var isDecoded: Bool { header & 16 != 0 }

  /// Tape nodes below a container: elements, or twice the members.
  var childCount: Int { Int(header >> 5) }

  var integer: Int64 { Int64(truncatingIfNeeded: UInt64(link) << 32 | UInt64(length)) }

  var boolean: Bool { length != 0 }

  /// The bytes of the source that it was read from.
  var sourceRange: Range<Int> {
    switch kind {
    case .object, .array, .string: Int(start)..<Int(start) + Int(length)
    case .integer, .boolean, .null: Int(start)..<Int(start) + Int(header >> 5)
    }
  }
}
