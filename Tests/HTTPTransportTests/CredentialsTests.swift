import Foundation
import HTTPTransport
import ModelInstaller
import TestSupport
import Testing

@Suite("User name and password are what their escapes stand for")
struct CredentialsTests {
  private func header(_ userAndPassword: String) throws -> String? {
    let folder = try TemporaryFolder()
    try folder.write("content", to: "file")
    let server = try HostileServer(serving: folder.path)
    var options = HTTPOptions(userAgent: "tests/1")
    options.credentials = [try HTTPCredentials("http://\(userAndPassword)@127.0.0.1:\(server.port("http"))")]
    let transport = try HTTPTransport(options)
    try transport.get(HTTPURL(server.url("file")), byteLimit: 100) { _ throws(InstallationError) in }
    return try server.requests("file", atLeast: 1).first?.headers["authorization"]
  }

  @Test(arguments: [
    ("u:p", "u:p"), ("u:p%40ss", "u:p@ss"), ("a%20b:c%25d", "a b:c%d"), ("%C3%BC:%e2%82%AC", "ü:€"), ("u:p%3Aq", "u:p:q"),
    ("u:a%2Fb%3F%23", "u:a/b?#"), ("u:%2525", "u:%25"),
  ])
  func areDecoded(written: String, meant: String) throws {
    #expect(try header(written) == "Basic " + Data(meant.utf8).base64EncodedString())
  }

  @Test(arguments: [
    "u:%zz", "u:%", "u:%4", "u:p%4", "%g1:p", "u:%00", "u%00:p", "u:%0d%0aX: y", "u:%7F", "%1b:p", "u:%ff", "u:%C3", "a%3Ab:p", "u", "",
  ])
  func whatIsNoEscapeOrNoTextIsRefusedAndNotRepeated(written: String) {
    #expect {
      try HTTPCredentials("https://\(written)@example.org")
    } throws: { error in
      guard case InstallationError.unusableURL(let expected) = error else { return false }
      return written.isEmpty || !expected.contains(written)
    }
  }
}
