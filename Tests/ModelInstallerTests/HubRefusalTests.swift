import ModelInstaller
import Testing

@Suite("What the Hub means by a refusal: terms to accept, a token that is none, no such repository, or one that has moved")
struct HubRefusalTests {
  private static let tokens: [HuggingFaceHub.Token] = [.none, .withheld, .sent]
  private static let file = "https://huggingface.co/org/name/resolve/0123/file.bin"

  private func refusal(_ error: TransportError, _ token: HuggingFaceHub.Token) throws -> ModelError? {
    var hub = try HuggingFaceHub.standard()
    hub.token = token
    return try hub.refusal(of: "org/name", at: HTTPURL(Self.file), error)
  }

  @Test("With a token", arguments: [nil, "Invalid credentials in Authorization header"])
  func invalidToken(reason: String?) throws {
    #expect(try refusal(.status(url: Self.file, 401, reason: reason), .sent) == .invalidToken(repository: "org/name"))
  }

  @Test("Terms are what the Hub calls them, or what is forbidden without a word", arguments: HubRefusalTests.tokens)
  func gated(token: HuggingFaceHub.Token) throws {
    let expected = ModelError.gated(repository: "org/name", token)
    #expect(try refusal(.status(url: Self.file, 401, reason: "GatedRepo"), token) == expected)
    #expect(try refusal(.notAvailable(url: Self.file, status: 403, reason: "GatedRepo"), token) == expected)
    #expect(try refusal(.notAvailable(url: Self.file, status: 403), token) == expected)
  }

  @Test("A repository that is not there, or not shown", arguments: HubRefusalTests.tokens)
  func noRepository(token: HuggingFaceHub.Token) throws {
    let expected = ModelError.noRepository("org/name", token)
    #expect(try refusal(.notAvailable(url: Self.file, status: 404, reason: "RepoNotFound"), token) == expected)
    #expect(try refusal(.status(url: Self.file, 401, reason: "RepoNotFound"), token) == expected)
  }

  @Test("A redirect on the Hub's own host, and behind it the wish for a token", arguments: HubRefusalTests.tokens)
  func moved(token: HuggingFaceHub.Token) throws {
    let place = "https://huggingface.co/new/name/resolve/0123/file.bin"
    for error in [TransportError.status(url: place, 401), .notAvailable(url: place, status: 403, reason: "GatedRepo")] {
      #expect(try refusal(error, token) == .moved(repository: "org/name", to: place))
    }
  }

  @Test(
    "Anything else is a server's answer like another",
    arguments: [
      .notAvailable(url: file, status: 404, reason: "EntryNotFound"), .notAvailable(url: "https://cdn.example.org/x", status: 403),
      .status(url: file, 500), .connection(url: file, .broken, detail: ""),
    ] as [TransportError])
  func others(error: TransportError) throws { #expect(try refusal(error, .sent) == nil) }
}
