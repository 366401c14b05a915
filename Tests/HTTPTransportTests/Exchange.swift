import Foundation
import HTTPTransport
import ModelInstaller
import TestSupport

/// The one server of these tests: it serves `folder/file.bin`, which is `content`.
enum Shared {
  static let content = (0..<3000).map { UInt8($0 % 251) }

  private static let started = Result {
    let folder = try TemporaryFolder()
    try folder.write(content, to: "folder/file.bin")
    return (folder, try HostileServer(serving: folder.path, removing: true))
  }

  static var server: HostileServer { get throws { try started.get().1 } }
}

/// What a request brought.
struct Outcome {
  var body: [UInt8] = []
  var error: InstallationError?
  var seconds: Double = 0

  var transport: TransportError? { if case .transport(let error) = error { error } else { nil } }
  var fault: TransportError.ConnectionFault? { if case .connection(_, let fault, _) = transport { fault } else { nil } }
}

/// Options whose time-outs a test can wait for.
func patientOptions(stall: Int = 5) -> HTTPOptions {
  var options = HTTPOptions(userAgent: "tests/1")
  options.connectSeconds = 10
  options.stallSeconds = stall
  return options
}

func fetch(
  _ url: String, limit: Int64 = 100_000, _ options: HTTPOptions = patientOptions(), isCancelled: @escaping @Sendable () -> Bool = { false }
) throws -> Outcome {
  let transport = try HTTPTransport(options, isCancelled: isCancelled)
  let parsed = try HTTPURL(url)
  var outcome = Outcome()
  let start = Date()
  do throws(InstallationError) {
    try transport.get(parsed, byteLimit: limit) { piece in
      for index in piece.indices { outcome.body.append(piece[index]) }
    }
  } catch { outcome.error = error }
  outcome.seconds = Date().timeIntervalSince(start)
  return outcome
}

/// Fetches the shared file from a server that behaves in some way.
func fetchFile(
  _ behaviour: String, at place: String = "http", limit: Int64 = 100_000, _ options: HTTPOptions = patientOptions(),
  isCancelled: @escaping @Sendable () -> Bool = { false }
) throws -> Outcome {
  try fetch(try Shared.server.url("folder/file.bin", at: place, behaviour), limit: limit, options, isCancelled: isCancelled)
}

extension HTTPOptions {
  /// With the authority of the tests' https server.
  func trustingTheTests() throws -> HTTPOptions {
    var options = self
    options.certificateAuthorities = try Shared.server.authority
    return options
  }
}
