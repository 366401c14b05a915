internal import Synchronization

/// A network in memory, for the tests of an app: URLs and what is found there.
public final class MemoryTransport: Transport, Sendable {
  private struct State: Sendable {
    var files: [String: [UInt8]]
    var failures: [TransportError] = []
    var requests: [String] = []
  }

  private let state: Mutex<State>
  private let pieceByteCount = 64 << 10

  /// - Parameter files: by their URLs.
  public init(_ files: [String: [UInt8]] = [:]) { state = Mutex(State(files: files)) }

  /// Puts a file at a URL, or takes it away.
  public subscript(_ url: String) -> [UInt8]? {
    get { state.withLock { $0.files[url] } }
    set { state.withLock { $0.files[url] = newValue } }
  }

  /// Has the next requests fail, one after another.
  public func fail(with errors: [TransportError]) { state.withLock { $0.failures += errors } }

  /// The URLs that were asked for, in order, each as often as it was.
  public var requests: [String] { state.withLock { $0.requests } }

  public func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    let bytes = try bytes(at: url)
    guard Int64(bytes.count) <= byteLimit else {
      throw .transport(.tooLong(url: url.description, limit: byteLimit, announced: Int64(bytes.count)))
    }
    try handOn(bytes, 0..<bytes.count, receive)
  }

  public func get(
    _ url: HTTPURL, range: Range<Int64>, of byteCount: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    let bytes = try bytes(at: url)
    guard Int64(bytes.count) == byteCount, range.lowerBound >= 0, range.upperBound <= byteCount else {
      throw .transport(.wrongRange(url: url.description, expected: "of \(byteCount) bytes", found: "\(bytes.count)"))
    }
    try handOn(bytes, Int(range.lowerBound)..<Int(range.upperBound), receive)
  }

  private func bytes(at url: HTTPURL) throws(InstallationError) -> [UInt8] {
    let (failure, bytes) = state.withLock { state in
      state.requests.append(url.text)
      return (state.failures.isEmpty ? nil : state.failures.removeFirst(), state.files[url.text])
    }
    if let failure { throw .transport(failure) }
    guard let bytes else { throw .transport(.notAvailable(url: url.description, status: 404)) }
    return bytes
  }

  private func handOn(
    _ bytes: [UInt8], _ range: Range<Int>, _ receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(range.upperBound, start + pieceByteCount)
      try receive(bytes.span.extracting(start..<end))
      start = end
    }
  }
}
