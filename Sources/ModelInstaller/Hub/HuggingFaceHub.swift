internal import ModelCatalog
internal import TUFMetadata

/// Where `hf:` sources lead. The token, if there is one, is the transport's business: it goes to `HuggingFaceHub.origin` and nowhere else.
public struct HuggingFaceHub: Sendable {
  /// The Hub's own host.
  public static let origin = "https://huggingface.co"

  /// The Hub, or a mirror of it.
  public var endpoint: HTTPURL
  /// Whether the Hub is not to be asked at all.
  public var isOffline = false
  /// Whether the transport has a token for the endpoint: for the words of an error.
  public var token = Token.none

  public enum Token: Equatable, Sendable {
    case none
    /// There is one, which goes to the Hub's own host only, and the endpoint is another.
    case withheld
    case sent
  }

  public init(endpoint: HTTPURL) { self.endpoint = endpoint }

  /// The Hub itself.
  public static func standard() throws(InstallationError) -> HuggingFaceHub { HuggingFaceHub(endpoint: try HTTPURL(origin)) }

  /// Where a file of a repository is.
  /// - Parameter source: `hf:owner/repository[@revision]/path`.
  /// - Returns: nil where it is no such source.
  func location(of source: FileSource) -> (repository: String, url: HTTPURL)? {
    let bytes = source.text.bytes
    guard bytes.starts(with: "hf:".utf8) else { return nil }
    let segments = bytes.dropFirst(3).split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
    guard segments.count == 3 else { return nil }
    let name = segments[1].split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let repository = name.first else { return nil }
    let revision = name.count > 1 ? Array(name[1]) : Array("main".utf8)
    let folder = Array(segments[0]) + [UInt8(ascii: "/")] + Array(repository)
    let path = folder + Array("/resolve/".utf8) + revision + [UInt8(ascii: "/")] + Array(segments[2])
    return (String(decoding: folder, as: UTF8.self), endpoint.appending(path))
  }

  /// What a refusal means where the Hub says it of one of its repositories.
  /// - Parameters:
  ///   - url: what was asked for.
  ///   - error: its URL is the one that a redirect led to.
  /// - Returns: nil where it means no more than with any server.
  package func refusal(of repository: String, at url: HTTPURL, _ error: TransportError) -> ModelError? {
    let (place, status, reason): (String, Int, String?)
    switch error {
    case .status(let found, 401, _, let why): (place, status, reason) = (found, 401, why)
    case .notAvailable(let found, let code, _, let why): (place, status, reason) = (found, code, why)
    default: return nil
    }
    guard place == url.shown else {
      // What stores of objects refuse is a signature that has expired. Only the Hub itself asks for a token there, and the token stays here.
      return status != 404 && place.hasPrefix(endpoint.origin) ? .moved(repository: repository, to: place) : nil
    }
    switch (status, reason) {
    case (_, "RepoNotFound"): return .noRepository(repository, token)
    case (_, "GatedRepo"), (403, nil): return .gated(repository: repository, token)
    // Who has a token that is one is told with 403 and 404; who has none, of a repository that is private or none with 401.
    case (401, _): return token == .sent ? .invalidToken(repository: repository) : .noRepository(repository, token)
    default: return nil
    }
  }
}
