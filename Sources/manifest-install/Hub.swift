internal import CommandLineSupport
internal import FileIO
internal import HTTPTransport
internal import ModelInstaller

/// What the variables of the Hugging Face tools say. Values are trimmed, and a blank one is as if it were not set.
enum Hub {
  static let discussion =
    "Files that the publisher has on the Hugging Face Hub come from there first. The token from HF_TOKEN, or from the file that HF_TOKEN_PATH names, "
    + "or that huggingface-cli login wrote, goes to the Hub's own host only: never to the mirror that HF_ENDPOINT names, and never to where a redirect "
    + "leads, on the Hub's own host neither. HF_HUB_OFFLINE=1 leaves the Hub out."

  /// The Hub, and the token for its own host, if there is one.
  static func settings() throws(Failure) -> (hub: HuggingFaceHub, tokens: [HTTPToken]) {
    do {
      let own = try HuggingFaceHub.standard()
      var hub = own
      if let endpoint = variable("HF_ENDPOINT") { hub = HuggingFaceHub(endpoint: try HTTPURL(endpoint)) }
      hub.isOffline = ["1", "true", "yes", "on"].contains(variable("HF_HUB_OFFLINE")?.lowercased() ?? "")
      guard let token = token() else { return (hub, []) }
      hub.token = hub.endpoint == own.endpoint ? .sent : .withheld
      return (hub, [try HTTPToken(token, for: own.endpoint)])
    } catch {
      // The value is not repeated: it may be the token.
      throw Failure(
        .usage, "HF_ENDPOINT or the token for the Hugging Face Hub can't be used",
        expected: "an http or https URL; a token of printable characters without spaces")
    }
  }

  private static func token() -> String? {
    if let token = variable("HF_TOKEN") ?? variable("HUGGING_FACE_HUB_TOKEN") { return token }
    let path =
      variable("HF_TOKEN_PATH") ?? variable("HF_HOME").map { "\($0)/token" }
      ?? variable("XDG_CACHE_HOME").map { "\($0)/huggingface/token" } ?? variable("HOME").map { "\($0)/.cache/huggingface/token" }
    guard let path, let bytes = try? readFile(path, limit: 4096), let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return trimmed(text)
  }

  private static func variable(_ name: String) -> String? { Surroundings.variable(name).flatMap(trimmed) }

  private static func trimmed(_ text: String) -> String? {
    let rest = text.drop(while: \.isWhitespace)
    let kept = String(rest.reversed().drop(while: \.isWhitespace).reversed())
    return kept.isEmpty ? nil : kept
  }
}
