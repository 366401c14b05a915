public import ModelInstaller
internal import TUFMetadata

/// How requests are made. What is not here can't be chosen: certificates are always checked, and TLS is 1.2 or newer.
public struct HTTPOptions: Sendable {
  /// What the client calls itself: `name/version`.
  public var userAgent: String
  /// The path of a PEM file of certificate authorities, which are then the only ones trusted; nil for those of the system.
  public var certificateAuthorities: String?
  /// Seconds to connect within, the name's look-up and TLS included.
  public var connectSeconds = 30
  /// Seconds that a transfer may be slower than `leastSpeed`, headers included.
  public var stallSeconds = 30
  /// Bytes a second. Stops a server that drips: a body of known bound so has a time limit too.
  public var leastSpeed = 1000
  /// Redirects followed in a row.
  public var redirectLimit = 5
  /// Names and passwords, each for one origin alone.
  public var credentials: [HTTPCredentials] = []
  /// Tokens, each for one origin alone, and for no redirect there.
  public var tokens: [HTTPToken] = []

  public init(userAgent: String) { self.userAgent = userAgent }
}

/// A user name and password that one origin, and no other, gets to see.
public struct HTTPCredentials: Sendable {
  let origin: Origin
  let user: String
  let password: String

  /// Reads `https://user:password@host:port`, with other characters than letters, digits and `-._~` of both as `%XX`, in UTF-8.
  /// - Throws: `unusableURL`, which does not repeat the text.
  public init(_ text: String) throws(InstallationError) {
    guard let url = ParsedURL(text), let user = url.user, let password = url.password else {
      throw .unusableURL(expected: "https://USER:PASSWORD@HOST")
    }
    // An escape that is none would be sent as a password that is another one, and a control character could end the header.
    guard let user = PercentEncoding.decoded(user.utf8), let password = PercentEncoding.decoded(password.utf8) else {
      throw .unusableURL(expected: "a user name and a password of UTF-8 without control characters, with every % as %25")
    }
    // What is sent is divided at the first colon (RFC 7617 §2).
    guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .unusableURL(expected: "a user name without a colon") }
    (origin, self.user, self.password) = (url.origin, user, password)
  }
}

/// A bearer token that one origin, and no other, gets to see, and that no redirect carries on, not within that origin either.
public struct HTTPToken: Sendable {
  let origin: Origin
  let text: String

  /// - Parameter url: of anything at the origin.
  /// - Throws: `unusableURL`, which does not repeat the token, where either can't stand in a request.
  public init(_ token: String, for url: HTTPURL) throws(InstallationError) {
    guard let parsed = ParsedURL(url.text) else { throw .unusableURL(expected: "http:// or https://") }
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unusableURL(expected: "a token of printable ASCII")
    }
    (origin, text) = (parsed.origin, token)
  }
}
