import HTTPTransport
import ModelInstaller
import TestSupport
import Testing

@Suite("A part is exactly the part that was asked for, or an error")
struct RangeTests {
  private func part(_ behaviour: String?, _ range: Range<Int64> = 10..<20, of count: Int64 = 26) throws -> (String, (any Error)?) {
    let folder = try TemporaryFolder()
    try folder.write("abcdefghijklmnopqrstuvwxyz", to: "file")
    let server = try HostileServer(serving: folder.path)
    let transport = try HTTPTransport(HTTPOptions(userAgent: "tests/1"))
    var bytes: [UInt8] = []
    do {
      try transport.get(HTTPURL(server.url("file", behaviour)), range: range, of: count) { piece throws(InstallationError) in
        for index in piece.indices { bytes.append(piece[index]) }
      }
      return (String(decoding: bytes, as: UTF8.self), nil)
    } catch { return (String(decoding: bytes, as: UTF8.self), error) }
  }

  @Test("A server that knows parts", arguments: [nil, "to=other", "redirect=2", "signed=1"])
  func goodServers(behaviour: String?) throws {
    let (text, error) = try part(behaviour)
    #expect(text == "klmnopqrst" && error == nil)
  }

  @Test(
    "Another part, a part of another file, or no word which part it is",
    arguments: ["ignores_range", "other_range", "other_total", "no_content_range", "multipart", "status=200", "gzip"])
  func wrongParts(behaviour: String) throws {
    let (text, error) = try part(behaviour)
    #expect(text.isEmpty && error != nil)
  }

  @Test("A file of another length")
  func otherLength() throws {
    #expect(try part(nil, 10..<20, of: 27).0.isEmpty)
    #expect(try part(nil, 26..<30, of: 30).1 != nil)
  }

  @Test("All of it may come as a whole")
  func wholeFile() throws { #expect(try part("ignores_range", 0..<26).0 == "abcdefghijklmnopqrstuvwxyz") }

  @Test("A server that asks to be left alone says for how long")
  func retryAfter() throws {
    guard case .transport(.overloaded(_, 429, 206, 1))? = try part("busy_first=1").1 as? InstallationError else {
      Issue.record("no such error")
      return
    }
  }
}
