import Foundation
import HTTPTransport
import ModelInstaller
import TestSupport
import Testing

@Suite("A token is for one origin alone")
struct TokenTests {
  private func authorizations(_ url: String, token: String, for origin: String) throws -> [(at: String, header: String?)] {
    let folder = try TemporaryFolder()
    try folder.write("content", to: "file")
    let server = try HostileServer(serving: folder.path)
    var options = HTTPOptions(userAgent: "tests/1")
    options.tokens = [try HTTPToken(token, for: HTTPURL(server.url("", at: origin)))]
    let transport = try HTTPTransport(options)
    var count = 0
    try transport.get(HTTPURL(server.url("file", url.isEmpty ? nil : url)), byteLimit: 100) { piece throws(InstallationError) in
      count += piece.count
    }
    #expect(count == 7)
    return try server.requests("file", atLeast: url.isEmpty ? 1 : 2).map { ($0.at, $0.headers["authorization"]) }
  }

  @Test("Its own host gets it")
  func ownHost() throws {
    let found = try authorizations("", token: "hf_token", for: "http")
    #expect(found.map(\.header) == ["Bearer hf_token"])
  }

  @Test("Another does not, and no redirect carries it there")
  func otherHosts() throws {
    #expect(try authorizations("", token: "hf_token", for: "other").map(\.header) == [nil])
    let found = try authorizations("to=other", token: "hf_token", for: "http")
    #expect(found.first { $0.at == "other" }?.header == nil)
    #expect(found.contains { $0.at == "other" })
  }

  @Test("Nor does a redirect carry it on within its own host, be it remembered or not")
  func sameHost() throws {
    let folder = try TemporaryFolder()
    try folder.write("content", to: "file")
    let server = try HostileServer(serving: folder.path)
    var options = HTTPOptions(userAgent: "tests/1")
    options.tokens = [try HTTPToken("hf_token", for: HTTPURL(server.url("")))]
    let transport = try HTTPTransport(options)
    let url = try HTTPURL(server.url("file", "redirect=1"))
    for range in [0..<3, 3..<7] as [Range<Int64>] { try transport.get(url, range: range, of: 7) { _ in } }
    try transport.get(url, byteLimit: 7) { _ in }
    let found = try server.requests("file", atLeast: 5)
    #expect(found.count == 5)
    #expect(found.allSatisfy { ($0.headers["authorization"] == "Bearer hf_token") == $0.path.contains("redirect=1") }, "\(found)")
  }

  @Test("What can't stand in a header is no token", arguments: ["", "a b", "a\nb", "ä"])
  func unusableTokens(text: String) throws {
    let url = try HTTPURL("https://example.org")
    #expect(throws: InstallationError.self) { try HTTPToken(text, for: url) }
  }
}
