internal import ModelInstaller

/// A part of a file, as it is asked for and as the answer has to name it (RFC 9110 §14).
struct FilePart {
  let range: Range<Int64>
  /// Of the whole file.
  let byteCount: Int64

  /// What is asked for.
  var text: String { "\(range.lowerBound)-\(range.upperBound - 1)" }

  /// Why an answer is not this part; nil where it is.
  func refusal(of headers: ResponseHeaders, url: String) -> TransportError? {
    // A server that knows no parts sends the whole, which is the part only where all was asked for.
    guard headers.status == 206 else { return range == 0..<byteCount ? nil : .rangeIgnored(url: url) }
    let expected = "bytes \(text)/\(byteCount)"
    guard let found = headers.contentRange else { return .wrongRange(url: url, expected: expected, found: "no Content-Range") }
    let words = found.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes", words[1] == "\(text)/\(byteCount)" || words[1] == "\(text)/*" else {
      return .wrongRange(url: url, expected: expected, found: found)
    }
    return nil
  }
}
