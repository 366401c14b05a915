package import CommandLineSupport

/// A folder as people name one: a path, or a `file:` URL (RFC 8089).
package enum FolderLocation {
  package static func path(of text: String, option: String) throws(Failure) -> String {
    guard let colon = text.firstIndex(of: ":") else { return text }
    let rest = text[text.index(after: colon)...]
    switch text[..<colon].lowercased() {
    case "file": return try path(ofURL: rest, text, option)
    case "http", "https":
      throw Failure(
        .usage, "\(option) is not a folder", expected: "a folder, or a file: URL", found: text,
        hint: "this command uses no network; fetch the folder first")
    default: return text
    }
  }

  /// - Parameter rest: what follows the scheme and its colon.
  private static func path(ofURL rest: Substring, _ text: String, _ option: String) throws(Failure) -> String {
    var path = rest
    if path.hasPrefix("//") {
      path = path.dropFirst(2)
      let host = path.prefix { $0 != "/" }
      guard host.isEmpty || host.lowercased() == "localhost" else {
        throw Failure(
          .usage, "\(option) names another machine", expected: "file:///FOLDER", found: text, hint: "this command uses no network")
      }
      path = path.dropFirst(host.count)
    }
    guard path.hasPrefix("/"), !path.contains(where: { $0 == "?" || $0 == "#" }), let decoded = decoded(path.utf8) else {
      throw Failure(
        .usage, "\(option) is not the URL of a folder",
        expected: "file:///FOLDER, other characters than letters, digits and -._~/ as % and two hexadecimal digits", found: text)
    }
    return decoded
  }

  /// - Returns: nil for an incomplete escape, a NUL, or what is not UTF-8 then.
  private static func decoded(_ bytes: some Sequence<UInt8>) -> String? {
    var result: [UInt8] = []
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      if byte != UInt8(ascii: "%") {
        result.append(byte)
        continue
      }
      guard let high = digit(iterator.next()), let low = digit(iterator.next()) else { return nil }
      result.append(high << 4 | low)
    }
    guard !result.contains(0) else { return nil }
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
