/// A name as metadata holds it: UTF-8 bytes, compared and sorted as bytes.
///
/// Swift's `String` takes two Unicode spellings of one character for equal and sorts by other rules than canonical JSON, so
/// that two targets could merge into one. Paths, role names and member names are therefore never `String`.
public struct ByteString: Hashable, Sendable {
  /// The bytes.
  public let bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  /// Whether these are its bytes.
  package func equals(_ other: Span<UInt8>) -> Bool { bytes.span.byteOrder(to: other) == 0 }
}

extension ByteString: Comparable {
  /// Order of the unsigned bytes, a prefix first.
  public static func < (left: Self, right: Self) -> Bool {
    left.bytes.span.byteOrder(to: right.bytes.span) < 0
  }
}

extension ByteString: ExpressibleByStringLiteral {
  public init(stringLiteral value: StaticString) { self.init(value.description) }
}

extension ByteString: CustomStringConvertible {
  /// The bytes as text, for messages only: two different names can print alike.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
