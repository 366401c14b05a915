internal import CCurl

/// Who gets credentials: scheme, host and port together.
struct Origin: Equatable {
  let scheme: String
  let host: String
  let port: String
}

/// An http or https URL, taken apart by the library that will use it, so that both can't read it differently.
struct ParsedURL {
  /// The whole, without user name and password.
  let text: String
  let origin: Origin
  let user: String?
  let password: String?
  /// For messages: without user name, password, query and fragment.
  let shown: String

  /// - Parameter base: what the URL is relative to (RFC 3986 §5).
  /// - Returns: nil where it is not a URL, or of another scheme.
  init?(_ text: String, relativeTo base: String? = nil) {
    // The handle lives until the end of the initialiser, and nobody else has it.
    guard let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    // Servers send bytes in a Location that a URL must not hold; they are encoded. The texts outlive the calls.
    if let base { guard unsafe curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OK else { return nil } }
    guard unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_URLENCODE)) == CURLUE_OK else { return nil }
    let part = { (part: CURLUPart) in unsafe Self.part(part, of: handle) }
    guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https", let host = part(CURLUPART_HOST),
      let port = part(CURLUPART_PORT)
    else { return nil }
    (user, password) = (part(CURLUPART_USER), part(CURLUPART_PASSWORD))
    origin = Origin(scheme: scheme, host: host.lowercased(), port: port)
    for secret in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT] {
      // NULL takes a part away.
      guard unsafe curl_url_set(handle, secret, nil, 0) == CURLUE_OK else { return nil }
    }
    guard let whole = part(CURLUPART_URL), unsafe curl_url_set(handle, CURLUPART_QUERY, nil, 0) == CURLUE_OK,
      let shown = part(CURLUPART_URL)
    else { return nil }
    (self.text, self.shown) = (whole, shown)
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    let flags = part == CURLUPART_PORT ? UInt32(CURLU_DEFAULT_PORT) : 0
    // On success the library hands over a text that is ended by NUL, which is copied and given back.
    guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }
}
