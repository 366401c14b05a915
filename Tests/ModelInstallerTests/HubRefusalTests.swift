import ModelInstaller
import Testing

@Suite("What the Hub means by a refusal: terms to accept, a token that is none, no such repository, or one that has moved")
struct HubRefusalTests {
  private static let file = "https://huggingface.co/org/name/resolve/0123/file.bin"

  private func refusal(_ error: TransportError, hasToken: Bool) throws -> ModelError? {
    var hub = try HuggingFaceHub.standard()
    hub.hasToken = hasToken
    return try hub.refusal(of: "org/name", at: HTTPURL(Self.file), error)
  }

  @Test("With a token", arguments: [nil, "Invalid credentials in Authorization header"])
  func invalidToken(reason: String?) throws {
    #expect(try refusal(.status(url: Self.file, 401, reason: reason), hasToken: true) == .invalidToken(repository: "org/name"))
  }

  @Test("Terms are what the Hub calls them, or what is forbidden without a word", arguments: [true, false])
  func gated(hasToken: Bool) throws {
    let expected = ModelError.gated(repository: "org/name", hasToken: hasToken)
    #expect(try refusal(.status(url: Self.file, 401, reason: "GatedRepo"), hasToken: hasToken) == expected)
    #expect(try refusal(.notAvailable(url: Self.file, status: 403, reason: "GatedRepo"), hasToken: hasToken) == expected)
    #expect(try refusal(.notAvailable(url: Self.file, status: 403), hasToken: hasToken) == expected)
  }

  @Test("A repository that is not there, or not shown", arguments: [true, false])
  func noRepository(hasToken: Bool) throws {
    let expected = ModelError.noRepository("org/name", hasToken: hasToken)
    #expect(try refusal(.notAvailable(url: Self.file, status: 404, reason: "RepoNotFound"), hasToken: hasToken) == expected)
    #expect(try refusal(.status(url: Self.file, 401, reason: "RepoNotFound"), hasToken: hasToken) == expected)
  }

  @Test("A redirect on the Hub's own host, and behind it the wish for a token", arguments: [true, false])
  func moved(hasToken: Bool) throws {
    let place = "https://huggingface.co/new/name/resolve/0123/file.bin"
    for error in [TransportError.status(url: place, 401), .notAvailable(url: place, status: 403, reason: "GatedRepo")] {
      #expect(try refusal(error, hasToken: hasToken) == .moved(repository: "org/name", to: place))
    }
  }

  @Test(
    "Anything else is a server's answer like another",
    arguments: [
      .notAvailable(url: file, status: 404, reason: "EntryNotFound"), .notAvailable(url: "https://cdn.example.org/x", status: 403),
      .status(url: file, 500), .connection(url: file, .broken, detail: ""),
    ] as [TransportError])
  func others(error: TransportError) throws { #expect(try refusal(error, hasToken: true) == nil) }
}
