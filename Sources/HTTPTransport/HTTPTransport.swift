internal import CCurl
public import ModelInstaller

/// Fetches over http and https, through libcurl.
///
/// - Certificates and their names are checked, of a proxy too; TLS is 1.2 or newer.
/// - Redirects are followed by this code and not by the library: at most five, to http and https alone, never from https to http. None gets
///   credentials that are another origin's, nor any from its own URL; and none gets a token, not on the token's own host either.
/// - No `.netrc`, no cookies, no cache of other servers' promises, nothing but HTTP/1.1.
/// - Only the body of a 200 is handed on, or of a 206 that is the part asked for. It is never longer than what was asked for, and never decoded.
/// - Proxies are those of the usual variables: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
///
/// One request at a time; a value is not shared between threads. Connections are used again.
public final class HTTPTransport: Transport {
  private let options: HTTPOptions
  private let isCancelled: @Sendable () -> Bool
  private let request: CurlRequest
  /// Where a file's URL led to last: asked first for its next part. Such URLs expire, and then the file's own is asked again.
  private var destinations: [String: ParsedURL] = [:]

  private static let destinationLimit = 64

  /// - Parameter isCancelled: asked at each piece that arrives and about once a second; true ends a request with `cancelled`.
  /// - Throws: `transport` where the library can't be used.
  public init(_ options: HTTPOptions, isCancelled: @escaping @Sendable () -> Bool = { false }) throws(InstallationError) {
    self.options = options
    self.isCancelled = isCancelled
    request = try CurlRequest(options)
  }

  public func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    guard var current = ParsedURL(url.text) else { throw .unusableURL(expected: "http:// or https://") }
    try get(&current, isRedirected: false, byteLimit: byteLimit, part: nil, receive: receive)
  }

  public func get(
    _ url: HTTPURL, range: Range<Int64>, of byteCount: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    guard !range.isEmpty, range.lowerBound >= 0 else { return }
    guard var current = ParsedURL(url.text) else { throw .unusableURL(expected: "http:// or https://") }
    let part = FilePart(range: range, byteCount: byteCount)
    if var known = destinations[url.text] {
      do throws(InstallationError) {
        return try get(&known, isRedirected: true, byteLimit: Int64(range.count), part: part, receive: receive)
      } catch {
        // A refusal, of which no byte was handed on: the URL that a redirect led to has expired.
        switch error {
        case .transport(.notAvailable), .transport(.status): destinations[url.text] = nil
        default: throw error
        }
      }
    }
    let original = current.text
    try get(&current, isRedirected: false, byteLimit: Int64(range.count), part: part, receive: receive)
    guard current.text != original else { return }
    if destinations.count >= Self.destinationLimit { destinations.removeAll() }
    destinations[url.text] = current
  }

  /// Follows redirects.
  /// - Parameters:
  ///   - url: in the end where the answer came from.
  ///   - isRedirected: whether it is where a redirect led to before.
  private func get(
    _ url: inout ParsedURL, isRedirected: Bool, byteLimit: Int64, part: FilePart?,
    receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    let first = url
    for count in 0...options.redirectLimit {
      let token = isRedirected || count > 0 ? nil : options.tokens.first { $0.origin == first.origin }
      guard let location = try get(url, token, byteLimit: byteLimit, part: part, receive: receive) else { return }
      url = try target(of: location, from: url)
    }
    throw .transport(.redirect(url: first.shown, .tooMany(limit: options.redirectLimit)))
  }

  /// - Returns: where the server sends the client instead.
  private func get(
    _ url: ParsedURL, _ token: HTTPToken?, byteLimit: Int64, part: FilePart?, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) -> String? {
    let credentials = options.credentials.first { $0.origin == url.origin }
    let expected = part == nil ? 200 : 206
    return try withoutActuallyEscaping(receive) { receive throws(InstallationError) in
      let exchange = Exchange(url.shown, byteLimit: byteLimit, part: part, isCancelled: isCancelled, receive: receive)
      let failure = request.perform(url, credentials, token, part, exchange)
      if let fault = exchange.fault { throw fault }
      switch exchange.status {
      // Whatever became of the rest of it, the server has answered.
      case let status? where [301, 302, 303, 307, 308].contains(status) && exchange.location != nil: return exchange.location
      case let status? where status == 404 || status == 403:
        throw .transport(.notAvailable(url: url.shown, status: status, expected: expected, reason: exchange.reason))
      case let status? where status == 429 || status == 503:
        guard let seconds = exchange.retryAfter else { throw .transport(.status(url: url.shown, status, expected: expected)) }
        throw .transport(.overloaded(url: url.shown, status: status, expected: expected, retryAfter: seconds))
      case let status? where !exchange.isUseful:
        throw .transport(.status(url: url.shown, status, expected: expected, reason: exchange.reason))
      default: break
      }
      if let failure { throw .transport(failure) }
      // No library should call an answer without headers a success.
      guard exchange.status != nil else { throw .transport(.connection(url: url.shown, .malformed, detail: "no status")) }
      if let part, exchange.bodyByteCount < Int64(part.range.count) {
        throw .transport(.connection(url: url.shown, .broken, detail: "the part ended after \(exchange.bodyByteCount) bytes"))
      }
      return nil
    }
  }

  private func target(of location: String, from url: ParsedURL) throws(InstallationError) -> ParsedURL {
    guard let target = ParsedURL(location, relativeTo: url.text) else { throw .transport(.redirect(url: url.shown, .unusable)) }
    if url.origin.scheme == "https", target.origin.scheme != "https" {
      throw .transport(.redirect(url: url.shown, .downgrade(to: target.shown)))
    }
    return target
  }
}
