import HTTPTransport
import ModelInstaller
import TestSupport
import Testing

@Suite("Only the plain body of a 200 is handed on")
struct AnswerTests {
  @Test(
    "Every lawful way to send a body is understood", arguments: ["no_length", "chunked", "interim", "redirect=5", "relative", "to=other"])
  func lawfulAnswersAreTaken(behaviour: String) throws {
    let outcome = try fetchFile(behaviour)
    #expect(outcome.error == nil)
    #expect(outcome.body == Shared.content)
  }

  @Test("A body may have exactly the length that is allowed")
  func theLimitItselfIsTaken() throws {
    let outcome = try fetchFile("no_length", limit: 3000)
    #expect(outcome.error == nil)
    #expect(outcome.body == Shared.content)
  }

  @Test("One byte more ends the transfer", arguments: ["no_length", "chunked", "interim"])
  func oneByteTooManyIsRefused(behaviour: String) throws {
    let outcome = try fetchFile(behaviour, limit: 2999)
    guard case .tooLong(_, limit: 2999, _)? = outcome.transport else {
      Issue.record("\(behaviour): \(String(describing: outcome.error))")
      return
    }
    #expect(outcome.body.count <= 2999)
  }

  @Test("What says that it is too long is refused before its first byte")
  func announcedLengthsAreHeldAgainstTheLimit() throws {
    let outcome = try fetchFile("announces=10000000000")
    #expect(
      outcome.transport
        == .tooLong(url: try Shared.server.url("folder/file.bin", "announces=10000000000"), limit: 100_000, announced: 10_000_000_000))
    #expect(outcome.body.isEmpty)
  }

  @Test("A body without end is cut off", arguments: ["endless", "endless_chunked", "announces=10000000001"])
  func endlessBodiesAreCutOff(behaviour: String) throws {
    let outcome = try fetchFile(behaviour)
    guard case .tooLong? = outcome.transport else {
      Issue.record("\(behaviour): \(String(describing: outcome.error))")
      return
    }
    #expect(outcome.body.count <= 100_000)
    try expectFewBytesSent(behaviour)
  }

  @Test("Headers without end are cut off")
  func endlessHeadersAreCutOff() throws {
    let outcome = try fetchFile("endless_headers")
    #expect(outcome.error != nil)
    #expect(outcome.body.isEmpty)
    try expectFewBytesSent("endless_headers")
  }

  @Test("Another status than 200 is the server's answer, and no byte of it is used", arguments: [204, 206, 304, 401, 410, 429, 500, 503])
  func otherStatusesBringNothing(status: Int) throws {
    let outcome = try fetchFile("status=\(status)")
    #expect(outcome.transport == .status(url: try Shared.server.url("folder/file.bin", "status=\(status)"), status))
    #expect(outcome.body.isEmpty)
  }

  @Test("404 and 403 alone say that there is no such file", arguments: [404, 403])
  func missingFilesAreToldApart(status: Int) throws {
    let outcome = try fetchFile("status=\(status)")
    #expect(outcome.transport == .notAvailable(url: try Shared.server.url("folder/file.bin", "status=\(status)"), status: status))
    #expect(outcome.body.isEmpty)
  }

  @Test("A huge error page is not read", arguments: [404, 403, 500])
  func hugeErrorPagesAreNotRead(status: Int) throws {
    let outcome = try fetchFile("endless_status=\(status)")
    let url = try Shared.server.url("folder/file.bin", "endless_status=\(status)")
    #expect(outcome.transport == (status == 500 ? .status(url: url, status) : .notAvailable(url: url, status: status)))
    #expect(outcome.body.isEmpty)
    try expectFewBytesSent("endless_status=\(status)")
  }

  @Test(
    "An encoded body is refused, not decoded", arguments: ["gzip", "encoding=br", "encoding=deflate", "encoding=zstd", "transfer_gzip"])
  func encodedBodiesAreRefused(behaviour: String) throws {
    let outcome = try fetchFile(behaviour)
    guard case .encoded? = outcome.transport else {
      Issue.record("\(behaviour): \(String(describing: outcome.error))")
      return
    }
    #expect(outcome.body.isEmpty)
  }

  @Test("A body that breaks off is a failure, never its end", arguments: ["closes_early", "reset", "close"])
  func brokenBodiesAreFailures(behaviour: String) throws {
    let outcome = try fetchFile(behaviour)
    #expect(outcome.fault == .broken)
    #expect(outcome.body.count < 3000)
  }

  @Test("What is not HTTP is refused")
  func answersWithoutHeadersAreRefused() throws {
    let outcome = try fetchFile("http09")
    #expect(outcome.fault == .malformed)
    #expect(outcome.body.isEmpty)
  }

  @Test("Two lengths that differ are refused before the first byte")
  func twoLengthsAreRefused() throws {
    let outcome = try fetchFile("two_lengths")
    #expect(outcome.fault == .malformed)
    #expect(outcome.body.isEmpty)
  }

  @Test("A length that is no number is refused")
  func negativeLengthsAreRefused() throws {
    let outcome = try fetchFile("negative_length")
    #expect(outcome.error != nil)
    #expect(outcome.body.isEmpty)
  }

  @Test("The client says who it is, and asks for plain bytes")
  func requestsAreAsDocumented() throws {
    _ = try fetchFile("status=418")
    let request = try #require(try Shared.server.requests("status=418").first)
    #expect(request.headers["user-agent"] == "tests/1")
    #expect(request.headers["accept-encoding"] == "identity")
    #expect(request.method == "GET")
  }

  /// Of an answer without end, the client took little: its limit, and what the system's buffers hold.
  private func expectFewBytesSent(_ marker: String) throws {
    let sent = try #require(try Shared.server.requests("~\(marker)~").map(\.sent).max())
    #expect(sent < 16 << 20)
  }
}
