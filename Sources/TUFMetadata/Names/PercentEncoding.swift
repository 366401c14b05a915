/// Escapes of a URL (RFC 3986 §2.1).
package enum PercentEncoding {
  /// Reads text in which bytes are written as `%XX`.
  /// - Returns: nil where an escape is not of two hexadecimal digits, for a control character, written out or escaped, and for what is not
  ///   UTF-8 then.
  package static func decoded(_ text: some Sequence<UInt8>) -> String? {
    var result: [UInt8] = []
    var iterator = text.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      guard let high = digit(iterator.next()), let low = digit(iterator.next()) else { return nil }
      result.append(high << 4 | low)
    }
    guard result.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return String(validating: result, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8?) -> UInt8? {
    switch byte {
    case let byte? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): byte - UInt8(ascii: "0")
    case let byte? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20): (byte | 0x20) - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
