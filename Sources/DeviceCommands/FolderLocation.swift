package import CommandLineSupport
internal import TUFMetadata

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
    guard path.hasPrefix("/"), !path.contains(where: { $0 == "?" || $0 == "#" }), let decoded = PercentEncoding.decoded(path.utf8) else {
      throw Failure(
        .usage, "\(option) is not the URL of a folder",
        expected: "file:///FOLDER, other characters than letters, digits and -._~/ as % and two hexadecimal digits", found: text)
    }
    return decoded
  }
}
