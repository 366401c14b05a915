/// An `http` or `https` URL without user name, password and fragment: what a mirror's folder is named by, which has no query either, or where a
/// single file can be had.
public struct HTTPURL: Hashable, Sendable {
  /// The URL, without a slash at its end.
  public let text: String

  /// Reads a URL (RFC 3986). What it has to be, and not the text, stands in the error: the text may hold a password.
  /// - Throws: `unusableURL`.
  public init(_ text: String) throws(InstallationError) { try self.init(text, mayHaveQuery: false) }

  /// The URL of one file, which may have a query.
  package init(ofFile text: String) throws(InstallationError) { try self.init(text, mayHaveQuery: true) }

  private init(_ text: String, mayHaveQuery: Bool) throws(InstallationError) {
    guard let schemeEnd = text.utf8.firstIndex(of: UInt8(ascii: ":")), ["http", "https"].contains(text[..<schemeEnd].lowercased()),
      text[schemeEnd...].hasPrefix("://")
    else { throw .unusableURL(expected: "http:// or https://") }
    let rest = text[schemeEnd...].utf8.dropFirst(3)
    let authority = rest.prefix { !"/?#".utf8.contains($0) }
    guard !authority.contains(UInt8(ascii: "@")) else { throw .unusableURL(expected: "a URL without user name and password") }
    let pathAndQuery = rest[authority.endIndex...]
    let path = mayHaveQuery ? pathAndQuery.prefix { $0 != UInt8(ascii: "?") } : pathAndQuery
    // A query ends up in a request line as it is.
    guard pathAndQuery[path.endIndex...].allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw .unusableURL(expected: "a query of printable ASCII, without a fragment")
    }
    guard !path.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
      throw .unusableURL(expected: "a URL without a query and a fragment")
    }
    guard Self.isHost(authority), Self.isPath(path) else {
      throw .unusableURL(
        expected: "a host, then a path whose other characters than letters, digits and -._~!$&'()*+,;=:@/ are written as %XX")
    }
    // Whoever resolves them asks for another folder than the one that is named here.
    guard !path.split(separator: UInt8(ascii: "/")).contains(where: Self.isDots) else {
      throw .unusableURL(expected: "a path without . and ..")
    }
    guard path.endIndex == pathAndQuery.endIndex else {
      self.text = text
      return
    }
    let trimmed = text.utf8.reversed().drop { $0 == UInt8(ascii: "/") }.reversed()
    self.text = String(decoding: Array(trimmed), as: UTF8.self)
  }

  private init(checked text: String) { self.text = text }

  /// Scheme, host and port, with a slash behind them: what every URL of the same place begins with.
  var origin: String { text.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//") + "/" }

  /// For messages: without the query, which may be a signature.
  package var shown: String { String(text.prefix { $0 != "?" }) }

  /// The URL of something below, whose path is written as a URL holds it.
  package func appending(encoded path: String) -> HTTPURL { HTTPURL(checked: "\(text)/\(path)") }

  /// The URL of something below: each byte of its path that is not unreserved is percent-encoded, slashes stay.
  package func appending(_ path: [UInt8]) -> HTTPURL {
    var encoded = ""
    for byte in path {
      if byte == UInt8(ascii: "/") || Self.isUnreserved(byte) {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return appending(encoded: encoded)
  }

  private static func isHost(_ authority: Substring.UTF8View) -> Bool {
    let port = authority.reversed().prefix { isDigit($0) }.count
    var host = authority
    if port > 0, authority.dropLast(port).last == UInt8(ascii: ":") {
      guard let number = Int(String(authority.suffix(port)) ?? ""), (1...65535).contains(number) else { return false }
      host = authority.dropLast(port + 1)
    }
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
      return host.count > 2
        && host.dropFirst().dropLast().allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }
    return !host.isEmpty && host.allSatisfy { isLetter($0) || isDigit($0) || "-._".utf8.contains($0) }
  }

  private static func isPath(_ path: Substring.UTF8View) -> Bool {
    var index = path.startIndex
    while index < path.endIndex {
      let byte = path[index]
      if byte == UInt8(ascii: "%") {
        let digits = path[index...].dropFirst().prefix(2)
        guard digits.count == 2, digits.allSatisfy(isHexadecimal) else { return false }
      } else if !isUnreserved(byte), !"!$&'()*+,;=:@/".utf8.contains(byte) {
        return false
      }
      path.formIndex(after: &index)
    }
    return true
  }

  private static func isDots(_ segment: Substring.UTF8View) -> Bool {
    let text = String(decoding: Array(segment), as: UTF8.self).lowercased().replacing("%2e", with: ".")
    return text == "." || text == ".."
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "-._~".utf8.contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
}

extension HTTPURL: CustomStringConvertible {
  public var description: String { shown }
}
