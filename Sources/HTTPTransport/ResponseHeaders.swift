/// The few headers of an answer that matter here, line by line.
struct ResponseHeaders {
  private(set) var status = 0
  private(set) var location: String?
  /// `.max` for a number that is too large to be any length.
  private(set) var contentLength: Int64?
  /// Whether two headers state different lengths: whoever stands in between may have read another than this side (RFC 9112 §6.3).
  private(set) var hasTwoLengths = false
  /// Of which bytes the body is a part: what stands behind `bytes `.
  private(set) var contentRange: String?
  /// In how many seconds to ask again.
  private(set) var retryAfter: Int?
  /// What the body is encoded by, where it is not the plain bytes.
  private(set) var encoding: String?
  private var errorCode: String?
  private var errorMessage: String?

  /// Why the server gives nothing, as the Hugging Face Hub says it: in one word, or else in its words.
  var reason: String? { errorCode ?? errorMessage }

  private static let shownByteCount = 64

  /// Takes a line as it came.
  /// - Returns: whether it is the empty one that ends the headers.
  mutating func take(_ line: Span<UInt8>) -> Bool {
    var bytes: [UInt8] = []
    for index in line.indices where line[index] != UInt8(ascii: "\r") && line[index] != UInt8(ascii: "\n") { bytes.append(line[index]) }
    if bytes.isEmpty { return true }
    if bytes.starts(with: "HTTP/".utf8) {
      // A new answer: that before was an interim one.
      self = ResponseHeaders()
      let code = bytes.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
      status = Int(String(decoding: code, as: UTF8.self)) ?? 0
      return false
    }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    let value = String(decoding: trimmed(bytes[(colon + 1)...]), as: UTF8.self)
    switch name {
    case "location": location = value
    case "content-length":
      let length = value.utf8.allSatisfy(isDigit) ? Int64(value) ?? .max : .max
      hasTwoLengths = hasTwoLengths || contentLength.map { $0 != length } ?? false
      contentLength = max(contentLength ?? 0, length)
    case "content-range": contentRange = String(value.prefix(2 * Self.shownByteCount))
    // The other form, a date, would need this machine's clock to be right.
    case "retry-after": retryAfter = value.utf8.allSatisfy(isDigit) ? Int(value) : nil
    case "x-error-code" where !value.isEmpty: errorCode = String(value.prefix(Self.shownByteCount))
    case "x-error-message" where !value.isEmpty: errorMessage = String(value.prefix(2 * Self.shownByteCount))
    case "content-encoding": encoding = String(value.prefix(Self.shownByteCount))
    // RFC 9112 §6.1: chunks are taken apart by the library; a coding besides would change the bytes.
    case "transfer-encoding" where value.lowercased() != "chunked": encoding = String(value.prefix(Self.shownByteCount))
    default: break
    }
    return false
  }

  private func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    return bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
  }

  private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
