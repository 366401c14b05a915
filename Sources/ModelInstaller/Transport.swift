/// What fetches over a network. The one that is used is `HTTPTransport`; another can stand in for it, in tests or in an app.
///
/// Whoever implements it keeps these rules: only the body of an answer with status 200 reaches `receive`, exactly as the server holds it
/// (no content encoding), and never more than the limit of it; from https nothing leads to http; a failure is never the end of a body.
public protocol Transport {
  /// Sends one GET request, and hands on the body piece by piece as it arrives.
  /// - Parameters:
  ///   - byteLimit: the most bytes that the body may have; where there are more, the request ends with `tooLong`.
  ///   - receive: takes each piece; what it throws ends the request.
  /// - Throws: `transport`, `cancelled`, or what `receive` throws.
  func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError)
}
