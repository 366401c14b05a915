internal import CCurl
internal import ModelInstaller

/// The one place that calls libcurl's transfers: a handle, set up once, that performs one request after another.
@safe final class CurlRequest {
  private let handle: UnsafeMutableRawPointer
  private let headers: UnsafeMutablePointer<curl_slist>
  private let errorText: UnsafeMutablePointer<CChar>

  private static let isReady = curl_global_init(3) == CURLE_OK  // 3 is CURL_GLOBAL_ALL, a macro that Swift does not import.

  init(_ options: HTTPOptions) throws(InstallationError) {
    let unusable = InstallationError.transport(.connection(url: "", .unreachable, detail: "libcurl can't be used"))
    // Both are given back in deinit, or below.
    guard Self.isReady, let handle = unsafe curl_easy_init() else { throw unusable }
    guard let headers = unsafe curl_slist_append(nil, "Accept-Encoding: identity") else {
      unsafe curl_easy_cleanup(handle)
      throw unusable
    }
    unsafe self.handle = handle
    unsafe self.headers = headers
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    guard setUp(options) else { throw unusable }
  }

  deinit {
    // Nobody else has them.
    unsafe curl_easy_cleanup(handle)
    unsafe curl_slist_free_all(headers)
    unsafe errorText.deallocate()
  }

  // MARK: Options

  /// - Returns: whether the library took every option: one without, say, TLS must not be used by mistake.
  private func setUp(_ options: HTTPOptions) -> Bool {
    var isTaken = true
    func set(_ option: CURLoption, _ value: Int) { isTaken = isTaken && number(option, value) }
    func set(_ option: CURLoption, _ value: String?) { isTaken = isTaken && text(option, value) }
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are followed elsewhere; should the library ever do so, not to anything else.
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
    set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
    set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    if let file = options.certificateAuthorities {
      set(CURLOPT_CAINFO, file)
      set(CURLOPT_PROXY_CAINFO, file)
      // The folder of the system's authorities would be trusted besides.
      set(CURLOPT_CAPATH, nil)
      set(CURLOPT_PROXY_CAPATH, nil)
    }
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_ACCEPT_ENCODING, nil)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    set(CURLOPT_NETRC, 0)
    set(CURLOPT_HTTPAUTH, 1)  // CURLAUTH_BASIC
    set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    set(CURLOPT_USERAGENT, options.userAgent)
    set(CURLOPT_CONNECTTIMEOUT, options.connectSeconds)
    set(CURLOPT_LOW_SPEED_LIMIT, options.leastSpeed)
    set(CURLOPT_LOW_SPEED_TIME, options.stallSeconds)
    // A request brings up to 512 KiB; the default takes it in 32 pieces.
    set(CURLOPT_BUFFERSIZE, 128 << 10)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_NOPROGRESS, 0)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // The list and the buffer live as long as the handle.
    let hasHeaders = unsafe shim_set_list(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK
    let hasErrorText = unsafe shim_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText) == CURLE_OK
    return isTaken && hasHeaders && hasErrorText && setFunctions()
  }

  private func setFunctions() -> Bool {
    // The library calls them during `perform` only, with as many bytes as it says, and with the exchange that is alive there.
    let takeBody: shim_data_function = { data, size, count, context in
      unsafe CurlRequest.take(data, size, count, context) { $0.takeBody($1) }
    }
    let takeHeader: shim_data_function = { data, size, count, context in
      unsafe CurlRequest.take(data, size, count, context) { $0.takeHeader($1) }
    }
    let proceeds: shim_progress_function = { context, _, _, _, _ in
      guard let context = unsafe context else { return 1 }
      return unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().proceeds() ? 0 : 1
    }
    return unsafe shim_set_data_function(handle, CURLOPT_WRITEFUNCTION, takeBody) == CURLE_OK
      && shim_set_data_function(handle, CURLOPT_HEADERFUNCTION, takeHeader) == CURLE_OK
      && shim_set_progress_function(handle, proceeds) == CURLE_OK
  }

  /// - Returns: how many bytes were taken: all, or another number, which ends the transfer.
  private static func take(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?,
    _ body: (Exchange, Span<UInt8>) -> Bool
  ) -> Int {
    let (byteCount, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, byteCount > 0, let data = unsafe data, let context = unsafe context else { return 0 }
    // The library vouches for the bytes and `perform` for the exchange, both for the length of this call.
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: byteCount).bindMemory(to: UInt8.self)
    return unsafe body(exchange, bytes.span) ? byteCount : 0
  }

  private func number(_ option: CURLoption, _ value: Int) -> Bool { unsafe shim_set_long(handle, option, value) == CURLE_OK }

  /// The library copies the text; NULL takes the option back.
  private func text(_ option: CURLoption, _ value: String?) -> Bool { unsafe shim_set_text(handle, option, value) == CURLE_OK }

  // MARK: Requests

  /// Sends a request and feeds the exchange with the answer.
  /// - Returns: what the library says went wrong, where the exchange did not end it.
  func perform(
    _ url: ParsedURL, _ credentials: HTTPCredentials?, _ token: HTTPToken?, _ part: FilePart?, _ exchange: Exchange
  ) -> TransportError? {
    // The exchange outlives the transfer: it is used after it.
    let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
    unsafe errorText.pointee = 0
    let isTaken =
      unsafe text(CURLOPT_URL, url.text) && text(CURLOPT_USERNAME, credentials?.user) && text(CURLOPT_PASSWORD, credentials?.password)
      && text(CURLOPT_RANGE, part?.text) && text(CURLOPT_XOAUTH2_BEARER, token?.text)
      && number(CURLOPT_HTTPAUTH, token == nil ? 1 : 64)  // CURLAUTH_BASIC, CURLAUTH_BEARER
      && shim_set_pointer(handle, CURLOPT_WRITEDATA, context) == CURLE_OK
      && shim_set_pointer(handle, CURLOPT_HEADERDATA, context) == CURLE_OK
      && shim_set_pointer(handle, CURLOPT_XFERINFODATA, context) == CURLE_OK
    guard isTaken else { return .connection(url: url.shown, .unreachable, detail: "libcurl can't be used") }
    let code = withExtendedLifetime(exchange) { unsafe curl_easy_perform(handle) }
    guard code != CURLE_OK else { return nil }
    // Ended by NUL; the library's general words where it has none for the case.
    let detail = unsafe errorText.pointee != 0 ? String(cString: errorText) : String(cString: curl_easy_strerror(code))
    return .connection(url: url.shown, Self.fault(code), detail: Self.misnomers[detail] ?? detail)
  }

  /// Words of the library that say something else than what happened.
  private static let misnomers = ["Out of memory in chunked-encoding": "the trailers behind the chunks are too long"]

  private static func fault(_ code: CURLcode) -> TransportError.ConnectionFault {
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .unreachable
    case CURLE_OPERATION_TIMEDOUT: .timedOut
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_INVALIDCERTSTATUS:
      .insecure
    case CURLE_SSL_CACERT_BADFILE: .unusableAuthorities
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING: .malformed
    default: .broken
    }
  }
}
