/// What fetches over a network. The one that is used is `HTTPTransport`; another can stand in for it, in tests or in an app.
///
/// Whoever implements it keeps these rules: only the body of an answer with status 200 reaches `receive` (206 where a part was asked for),
/// exactly as the server holds it (no content encoding), and never more than the limit of it; from https nothing leads to http; a failure is
/// never the end of a body.
public protocol Transport {
  /// Sends one GET request, and hands on the body piece by piece as it arrives.
  /// - Parameters:
  ///   - byteLimit: the most bytes that the body may have; where there are more, the request ends with `tooLong`.
  ///   - receive: takes each piece; what it throws ends the request.
  /// - Throws: `transport`, `cancelled`, or what `receive` throws.
  func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError)

  /// Sends one GET request for a part of a file, and hands on that part piece by piece as it arrives: exactly that part, or the request fails.
  /// Where it is not implemented, files are fetched from the beginning in one stream.
  /// - Parameters:
  ///   - range: the bytes asked for; not empty.
  ///   - byteCount: the length that the whole file must have.
  /// - Throws: as above; `transport` with `rangeIgnored` where the server has only the whole file to give, and with `wrongRange` where it
  ///   answers with another part, or with a part of a file of another length.
  func get(
    _ url: HTTPURL, range: Range<Int64>, of byteCount: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError)

  /// The path of a file that this transport has fetched on its own, such as an Apple background session does; nil where it has none, and the
  /// body is asked for as a stream. The file is copied and verified like everything else, and stays the transport's own.
  func localFile(for url: HTTPURL, byteCount: Int64) throws(InstallationError) -> String?
}

extension Transport {
  public func get(
    _ url: HTTPURL, range: Range<Int64>, of byteCount: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    guard range == 0..<byteCount else { throw .transport(.rangeIgnored(url: url.shown)) }
    try get(url, byteLimit: byteCount, receive: receive)
  }

  public func localFile(for url: HTTPURL, byteCount: Int64) throws(InstallationError) -> String? { nil }
}

/// Whatever transport there is, where a type has to be named.
package struct AnyTransport: Transport {
  private let base: any Transport

  package init(_ base: any Transport) { self.base = base }

  package func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) { try base.get(url, byteLimit: byteLimit, receive: receive) }

  package func get(
    _ url: HTTPURL, range: Range<Int64>, of byteCount: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) { try base.get(url, range: range, of: byteCount, receive: receive) }

  package func localFile(for url: HTTPURL, byteCount: Int64) throws(InstallationError) -> String? {
    try base.localFile(for: url, byteCount: byteCount)
  }
}
