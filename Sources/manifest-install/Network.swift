internal import CommandLineSupport
internal import FileIO
internal import HTTPTransport
internal import ModelInstaller

/// How requests are made, as all verbs that make some take it.
enum Network {
  static let credentialsVariable = "SIGNED_MANIFEST_CREDENTIALS"

  static let authorities = Option.value(
    "--cacert", "FILE", "Trust the certificate authorities in this PEM file, and no others, for https.")
  static let connectTimeout = Option.integer(
    "--connect-timeout", "SECONDS", "Give up on a server that is not connected after so long.", in: 1...3600, default: 30)
  static let stallTimeout = Option.integer(
    "--stall-timeout", "SECONDS", "Give up on a transfer that is slower than --least-speed for so long.", in: 1...3600, default: 30)
  static let leastSpeed = Option.integer(
    "--least-speed", "BYTES", "The bytes a second below which a transfer is taken for stalled.", in: 1...1_000_000_000, default: 1000)

  static let options = [authorities, connectTimeout, stallTimeout, leastSpeed]

  static let discussion =
    "Proxies are those of the variables http_proxy, https_proxy, all_proxy and no_proxy. Certificates are always checked. Up to five redirects "
    + "are followed, none of them from https to http. An answer that is encoded or longer than it may be is refused."

  static func transport(_ invocation: Invocation) throws -> HTTPTransport {
    try HTTPTransport(options(invocation), isCancelled: { Interruption.isRequested })
  }

  /// How every transport of one command makes its requests.
  static func options(_ invocation: Invocation) throws -> HTTPOptions {
    var options = HTTPOptions(userAgent: "manifest-install/\(ToolVersion.current)")
    if let file = invocation.value(authorities.name) {
      // Told as what it is, and not as a server's certificate that can't be trusted.
      _ = try openRegularFile(file, followingLinks: true)
      options.certificateAuthorities = file
    }
    options.connectSeconds = invocation.requiredInteger(connectTimeout.name)
    options.stallSeconds = invocation.requiredInteger(stallTimeout.name)
    options.leastSpeed = invocation.requiredInteger(leastSpeed.name)
    options.credentials = try credentials()
    return options
  }

  private static func credentials() throws -> [HTTPCredentials] {
    guard let text = Surroundings.variable(credentialsVariable) else { return [] }
    do { return try text.split(whereSeparator: \.isWhitespace).map { try HTTPCredentials(String($0)) } } catch {
      // The text is not repeated: it holds a password.
      var expected = "https://USER:PASSWORD@HOST, several of them divided by spaces"
      if let error = error as? InstallationError, case .unusableURL(let reason) = error, !reason.hasPrefix("http") { expected = reason }
      throw Failure(
        .usage, "\(credentialsVariable) can't be read", expected: expected,
        hint: "write other characters than letters, digits and -._~ in user name and password as %XX, in UTF-8")
    }
  }
}
