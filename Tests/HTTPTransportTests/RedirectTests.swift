import HTTPTransport
import ModelInstaller
import TestSupport
import Testing

@Suite("Redirects are followed within bounds")
struct RedirectTests {
  @Test("More than five in a row are not followed", arguments: ["redirect=6", "loop"])
  func redirectsAreBounded(behaviour: String) throws {
    let outcome = try fetchFile(behaviour)
    #expect(outcome.transport == .redirect(url: try Shared.server.url("folder/file.bin", behaviour), .tooMany(limit: 5)))
    if behaviour == "loop" { #expect(try Shared.server.requests("~loop~", atLeast: 6).count == 6) }
  }

  @Test("From https nothing leads to http")
  func downgradesAreRefused() throws {
    let outcome = try fetchFile("to=http", at: "https", patientOptions().trustingTheTests())
    let (url, target) = (
      try Shared.server.url("folder/file.bin", at: "https", "to=http"), "http://127.0.0.1:\(try Shared.server.port("http"))/folder/file.bin"
    )
    #expect(outcome.transport == .redirect(url: url, .downgrade(to: target)))
    #expect(outcome.body.isEmpty)
  }

  @Test("From http to https, and from https to https, is allowed", arguments: ["http", "https"])
  func upgradesAreFollowed(place: String) throws {
    let outcome = try fetchFile("to=https", at: place, patientOptions().trustingTheTests())
    #expect(outcome.error == nil)
    #expect(outcome.body == Shared.content)
  }

  @Test("No redirect leads to a local file")
  func otherSchemesAreRefused() throws {
    let outcome = try fetchFile("to_file")
    #expect(outcome.transport == .redirect(url: try Shared.server.url("folder/file.bin", "to_file"), .unusable))
    #expect(outcome.body.isEmpty)
  }
}

@Suite("Credentials reach the origin that they are for, and no other")
struct CredentialTests {
  private func options() throws -> HTTPOptions {
    var options = patientOptions()
    options.credentials = [try HTTPCredentials("http://alice:geheim@127.0.0.1:\(Shared.server.port("http"))")]
    return options
  }

  @Test func theOriginGetsThem() throws {
    #expect(try fetchFile("authenticated", options()).body == Shared.content)
    guard case .status(_, 401, 200, nil)? = try fetchFile("authenticated", at: "other", options()).transport else {
      Issue.record("another port is another origin")
      return
    }
  }

  @Test("After a redirect the other host gets none, not even those of the URL that it was named by", arguments: ["to=other", "to_named"])
  func otherHostsGetNone(behaviour: String) throws {
    let folder = try TemporaryFolder()
    try folder.write("content", to: "seen.bin")
    let server = try HostileServer(serving: folder.path)
    var options = patientOptions()
    options.credentials = [try HTTPCredentials("http://alice:geheim@127.0.0.1:\(server.port("http"))")]
    #expect(try fetch(server.url("seen.bin", behaviour), options).error == nil)
    // An answer may be noted after the next one.
    let requests = try server.requests("seen.bin", atLeast: 2).sorted { $0.at < $1.at }
    #expect(requests.map(\.at) == ["http", "other"])
    #expect(requests.map { $0.headers["authorization"] != nil } == [true, false])
  }

  @Test("No error shows a password or a query")
  func errorsShowNoSecrets() throws {
    let outcome = try fetchFile("to_refusal", options())
    let error = try #require(outcome.error)
    #expect(!"\(error)".contains("HIDDEN"))
    #expect("\(error)".contains("127.0.0.1:\(try Shared.server.port("other"))"))
  }

  @Test("Credentials without a password, or of no origin, are refused", arguments: ["http://host", "http://user@host", "alice:geheim", ""])
  func incompleteCredentialsAreRefused(text: String) {
    #expect(throws: InstallationError.unusableURL(expected: "https://USER:PASSWORD@HOST")) { try HTTPCredentials(text) }
  }
}
