package import ManifestVerifier

/// A mirror: what it answers to each request. The network and whoever sits in it are part of it.
package struct SimulatedMirror: Sendable {
  /// What a mirror says.
  package enum Answer: Equatable, Sendable {
    case file([UInt8])
    case notAvailable
    /// Bytes without an end.
    case endless
    /// No answer: a time-out, a reset, a server's error.
    case failure
  }

  /// Files by URL path.
  package var files: [String: [UInt8]]
  /// Answers to some paths that are not the file.
  package var answers: [String: Answer] = [:]
  /// Whether it answers at all.
  package var isReachable = true

  package init(_ files: [String: [UInt8]]) { self.files = files }

  /// What arrives of an answer: a device breaks a transfer off one byte after the limit.
  package func answer(_ request: MetadataRequest) -> Answer {
    guard isReachable else { return .failure }
    let answer = answers[request.urlPath] ?? files[request.urlPath].map { .file($0) } ?? .notAvailable
    switch answer {
    case .endless: return .file([UInt8](repeating: UInt8(ascii: "{"), count: request.byteLimit + 1))
    case .file(let bytes): return .file(Array(bytes.prefix(request.byteLimit + 1)))
    case .notAvailable, .failure: return answer
    }
  }
}
