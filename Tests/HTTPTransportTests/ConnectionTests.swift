import Foundation
import HTTPTransport
import ModelInstaller
import TestSupport
import Testing

@Suite("Certificates are always checked")
struct CertificateTests {
  @Test func anAuthorityThatIsGivenIsTrusted() throws {
    let outcome = try fetchFile("no_length", at: "https", patientOptions().trustingTheTests())
    #expect(outcome.error == nil)
    #expect(outcome.body == Shared.content)
  }

  @Test func anUnknownAuthorityIsRefused() throws {
    let outcome = try fetchFile("no_length", at: "https")
    #expect(outcome.fault == .insecure)
    #expect(outcome.body.isEmpty)
  }

  @Test func aCertificateForAnotherNameIsRefused() throws {
    let url = "https://localhost:\(try Shared.server.port("https"))/folder/file.bin"
    let outcome = try fetch(url, patientOptions().trustingTheTests())
    #expect(outcome.fault == .insecure)
    #expect(outcome.body.isEmpty)
  }

  @Test func olderTLSIsRefused() throws {
    let outcome = try fetchFile("no_length", at: "old_https", patientOptions().trustingTheTests())
    #expect(outcome.fault == .insecure)
    #expect(outcome.body.isEmpty)
  }

  @Test func aMissingFileOfAuthoritiesIsRefused() throws {
    var options = patientOptions()
    options.certificateAuthorities = "/nonexistent.pem"
    #expect(try fetchFile("no_length", at: "https", options).fault == .unusableAuthorities)
  }
}

@Suite("Nothing is waited for without end")
struct TimeTests {
  @Test("A server that drips or falls silent is given up", arguments: ["drip", "drip_headers", "hang"])
  func stallingServersAreGivenUp(behaviour: String) throws {
    let outcome = try fetchFile(behaviour, patientOptions(stall: 2))
    #expect(outcome.fault == .timedOut)
    // Generous: the machine may be busy. Without a time-out it would be minutes.
    #expect(outcome.seconds < 60)
  }

  @Test("A server that is not there is an error at once")
  func closedPortsAreUnreachable() throws {
    #expect(try fetch("http://127.0.0.1:1/x").fault == .unreachable)
  }

  @Test("A name that does not exist is an error")
  func unknownNamesAreUnreachable() throws {
    #expect(try fetch("http://name.invalid/x").fault == .unreachable)
  }

  @Test("A cancelled request ends while nothing arrives")
  func cancellingEndsAWait() throws {
    let start = Date()
    let outcome = try fetchFile("hang", patientOptions(stall: 100), isCancelled: { Date().timeIntervalSince(start) > 0.5 })
    #expect(outcome.error == .cancelled)
    #expect(outcome.seconds < 60)
  }

  @Test("What the receiver throws ends the request, and is what the caller gets")
  func theReceiverCanStop() throws {
    let transport = try HTTPTransport(patientOptions())
    let url = try HTTPURL(Shared.server.url("folder/file.bin", "endless"))
    #expect(throws: InstallationError.unusableURL(expected: "stop")) {
      try transport.get(url, byteLimit: .max) { _ throws(InstallationError) in throw .unusableURL(expected: "stop") }
    }
    // The connection is not used again with what was left in it.
    var body: [UInt8] = []
    try transport.get(try HTTPURL(Shared.server.url("folder/file.bin")), byteLimit: 3000) { piece in
      for index in piece.indices { body.append(piece[index]) }
    }
    #expect(body == Shared.content)
  }
}
