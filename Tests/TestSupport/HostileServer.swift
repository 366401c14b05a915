internal import Foundation

/// The server of `Tests/Peers/hostile_server.py`, which misbehaves where a URL asks for it. It ends with this value, or with the tests.
package final class HostileServer: @unchecked Sendable {  // Nothing changes once it has started.
  /// A request that the server answered.
  package struct Request: Decodable, Sendable {
    /// Which of the server's places: `http`, `other`, `https`, `proxy`, …
    package let at: String
    package let method: String
    package let path: String
    /// By names in lower case.
    package let headers: [String: String]
    /// How many bytes of the answer the system took from the server.
    package let sent: Int
  }

  private let process = Process()
  private let input = Pipe()
  private let folder: TemporaryFolder
  private let places: [String: Int]
  /// The certificate of the authority that the https server's is signed by.
  package let authority: String

  /// - Parameters:
  ///   - directory: what it serves.
  ///   - removing: whether it removes that folder at its end; for a server that all tests of a process share, which nothing else ends.
  package init(serving directory: String, removing: Bool = false) throws {
    folder = try TemporaryFolder(mode: 0o700)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try peerPython())
    process.arguments = ["-W", "ignore", try peerScript("hostile_server.py")] + (removing ? ["--remove"] : []) + [directory, folder.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let piece = output.fileHandleForReading.availableData
      guard !piece.isEmpty else { throw MissingForTests("hostile_server.py ended before it listened; it needs openssl") }
      line += piece
    }
    let said = try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
    places = said.compactMapValues { $0 as? Int }
    authority = said["ca"] as? String ?? ""
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  package func port(_ place: String) -> Int { places[place] ?? 0 }

  /// The URL of something in the served folder.
  /// - Parameters:
  ///   - place: `http`, `other`, `https` or `old_https`.
  ///   - behaviour: what the server does for paths that end in `suffix`; nothing unusual where nil.
  package func url(_ path: String, at place: String = "http", _ behaviour: String? = nil, for suffix: String = "") -> String {
    let scheme = place.hasSuffix("https") ? "https" : "http"
    let marked = behaviour.map { "~\($0)~\(suffix)/" } ?? ""
    return "\(scheme)://127.0.0.1:\(port(place))/\(marked)\(path)"
  }

  /// The requests whose path holds a text, all where it is empty. Each is noted once its answer has ended, which is waited for until there are `atLeast` of them.
  package func requests(_ text: String, atLeast count: Int = 1) throws -> [Request] {
    var found: [Request] = []
    try waitUntil("\(count) requests of \(text)") {
      found = try folder.text(of: "log").split(separator: "\n").map { try JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
        .filter { text.isEmpty || $0.path.contains(text) }
      return found.count >= count
    }
    return found
  }
}
