public import FileIO

/// Why a request brought nothing. URLs stand here without user name, password and query, so that every message can be shown.
public enum TransportError: Error, Equatable, Sendable {
  /// The server says that there is no such file: 404, or 403 as stores of objects say it. `expected` is 206 where a part was asked for;
  /// `reason` is what the server's headers say of it, as the Hugging Face Hub's do (`X-Error-Code`, or else `X-Error-Message`).
  case notAvailable(url: String, status: Int, expected: Int = 200, reason: String? = nil)
  /// The server answered with another status than the one that brings the file.
  case status(url: String, Int, expected: Int = 200, reason: String? = nil)
  /// The server has too much to do, and says in how many seconds to ask again.
  case overloaded(url: String, status: Int, expected: Int = 200, retryAfter: Int)
  /// A mirror that is a folder of this machine does not have the file, or does not give it.
  case folder(FileError)
  /// A part was asked for, and the server gives only the whole.
  case rangeIgnored(url: String)
  /// A part was asked for, and the server gives another one, or one of a file of another length.
  case wrongRange(url: String, expected: String, found: String)
  /// The answer is longer than what was asked for; `announced` is its length where the server said it.
  case tooLong(url: String, limit: Int64, announced: Int64?)
  /// The answer is encoded, although nothing but the plain bytes was asked for.
  case encoded(url: String, encoding: String)
  /// A redirect that is not followed.
  case redirect(url: String, RedirectFault)
  /// The connection failed; `detail` is the reason in the words of the network library.
  case connection(url: String, ConnectionFault, detail: String)

  /// Why a redirect is not followed.
  public enum RedirectFault: Equatable, Sendable {
    /// More than so many in a row.
    case tooMany(limit: Int)
    /// From https to http.
    case downgrade(to: String)
    /// To something else than http and https, or to a URL that can't be read.
    case unusable
  }

  /// What went wrong on the way.
  public enum ConnectionFault: String, Equatable, Sendable {
    case unreachable = "the server can't be reached"
    case timedOut = "the server did not answer in time, or too slowly"
    case insecure = "no secure connection"
    case broken = "the connection broke off"
    case malformed = "the answer is not HTTP"
    case unusableAuthorities = "the file of certificate authorities can't be used"
  }
}

extension TransportError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAvailable(let url, let status, _, let reason):
      (status == 404 ? "there is no such file at this source" : "the server does not have it, or does not give it")
        + ": \(url): expected the file, found status \(status)\(reason.map { ", \($0)" } ?? "")"
    case .status(let url, let status, let expected, let reason):
      "the server answered with status \(status) for \(url): expected \(expected)\(reason.map { ", found \($0)" } ?? "")"
    case .overloaded(let url, let status, let expected, let seconds):
      "the server answered with status \(status) for \(url): expected \(expected); it asks to be left alone for \(seconds) s"
    case .folder(let error): error.description
    case .rangeIgnored(let url): "the server gives only the whole of \(url): expected a part"
    case .wrongRange(let url, let expected, let found):
      "the server answered with another part of \(url): expected \(expected), found \(found)"
    case .tooLong(let url, let limit, let announced):
      "\(url) is too long: expected at most \(limit) bytes, found \(announced.map { "\($0)" } ?? "more")"
    case .encoded(let url, let encoding): "\(url) came encoded: expected the plain bytes, found \(encoding)"
    case .redirect(let url, .tooMany(let limit)): "\(url) redirects too often: expected at most \(limit) redirects"
    case .redirect(let url, .downgrade(let target)): "\(url) redirects from https to http, to \(target): expected https"
    case .redirect(let url, .unusable): "\(url) redirects to what is no http or https URL"
    case .connection(let url, let fault, let detail): "\(fault.rawValue): \(url): \(detail)"
    }
  }
}

extension TransportError {
  /// Whether asking again may bring it: what a server or a connection had for the moment. What will be so again never is.
  package var mayPass: Bool {
    switch self {
    case .status(_, let status, _, _): status == 408 || status == 429 || (500...599).contains(status) && status != 501 && status != 505
    case .overloaded: true
    case .connection(_, let fault, _): fault == .unreachable || fault == .timedOut || fault == .broken
    case .notAvailable, .folder, .rangeIgnored, .wrongRange, .tooLong, .encoded, .redirect: false
    }
  }
}
