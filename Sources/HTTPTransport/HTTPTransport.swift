internal import CCurl
public import ModelInstaller

/// Fetches over http and https, through libcurl.
///
/// - Certificates and their names are checked, of a proxy too; TLS is 1.2 or newer.
/// - Redirects are followed by this code and not by the library: at most five, to http and https alone, never from https to http. None gets
///   credentials that are another origin's, nor any from its own URL.
/// - No `.netrc`, no cookies, no cache of other servers' promises, nothing but HTTP/1.1.
/// - Only the body of a 200 is handed on. It is never longer than what was asked for, and never decoded.
/// - Proxies are those of the usual variables: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
///
/// One request at a time; a value is not shared between threads. Connections are used again.
public final class HTTPTransport: Transport {
  private let options: HTTPOptions
  private let isCancelled: @Sendable () -> Bool
  private let request: CurlRequest

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
    for _ in 0...options.redirectLimit {
      guard let location = try get(current, byteLimit: byteLimit, receive: receive) else { return }
      current = try target(of: location, from: current)
    }
    throw .transport(.redirect(url: url.text, .tooMany(limit: options.redirectLimit)))
  }

  /// - Returns: where the server sends the client instead.
  private func get(
    _ url: ParsedURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) -> String? {
    let credentials = options.credentials.first { $0.origin == url.origin }
    return try withoutActuallyEscaping(receive) { receive throws(InstallationError) in
      let exchange = Exchange(url.shown, byteLimit: byteLimit, isCancelled: isCancelled, receive: receive)
      let failure = request.perform(url, credentials, exchange)
      if let fault = exchange.fault { throw fault }
      switch exchange.status {
      // Whatever became of the rest of it, the server has answered.
      case let status? where [301, 302, 303, 307, 308].contains(status) && exchange.location != nil: return exchange.location
      case let status? where status == 404 || status == 403: throw .transport(.notAvailable(url: url.shown, status: status))
      case let status? where status != 200: throw .transport(.status(url: url.shown, status))
      default: break
      }
      if let failure { throw .transport(failure) }
      // No library should call an answer without headers a success.
      guard exchange.status != nil else { throw .transport(.connection(url: url.shown, .malformed, detail: "no status")) }
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
