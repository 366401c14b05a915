internal import ModelInstaller

/// One request's answer while it arrives: judges the headers, counts the body, and hands on what may be taken.
final class Exchange {
  /// What was wrong, so that the transfer was ended.
  private(set) var fault: InstallationError?
  /// The status, once all headers were there.
  private(set) var status: Int?
  private(set) var location: String?

  /// In how many seconds the server wants to be asked again.
  var retryAfter: Int? { headers.retryAfter }
  /// What its headers say of why it gives nothing.
  var reason: String? { headers.reason }
  private(set) var bodyByteCount: Int64 = 0

  private let url: String
  private let byteLimit: Int64
  private let part: FilePart?
  private let receive: (Span<UInt8>) throws(InstallationError) -> Void
  private let isCancelled: @Sendable () -> Bool
  private var headers = ResponseHeaders()
  private var headerByteCount = 0

  /// Stops headers without end.
  private static let headerByteLimit = 256 << 10
  /// What is read of the body of an answer that is of no use, so that the connection can be; a longer one ends it.
  private static let uselessByteLimit: Int64 = 16 << 10

  init(
    _ url: String, byteLimit: Int64, part: FilePart? = nil, isCancelled: @escaping @Sendable () -> Bool,
    receive: @escaping (Span<UInt8>) throws(InstallationError) -> Void
  ) {
    self.url = url
    self.byteLimit = byteLimit
    self.part = part
    self.isCancelled = isCancelled
    self.receive = receive
  }

  /// Whether to go on.
  func proceeds() -> Bool {
    if isCancelled(), fault == nil { fault = .cancelled }
    return fault == nil
  }

  /// Takes one line of a header, or of a trailer.
  /// - Returns: whether to go on.
  func takeHeader(_ line: Span<UInt8>) -> Bool {
    headerByteCount += line.count  // Far below overflow: ended at the limit.
    guard headerByteCount <= Self.headerByteLimit else {
      return end(.transport(.connection(url: url, .malformed, detail: "more than \(Self.headerByteLimit) bytes of headers")))
    }
    // Behind the header come trailers only, which say nothing that is used here.
    guard status == nil else { return true }
    guard headers.take(line) else { return true }
    // An interim answer (1xx) is followed by the real one.
    if (100..<200).contains(headers.status) { return true }
    if headers.hasTwoLengths { return end(.transport(.connection(url: url, .malformed, detail: "two different lengths of one answer"))) }
    status = headers.status
    location = headers.location
    if let part, headers.status == 206 || headers.status == 200, let error = part.refusal(of: headers, url: url) {
      return end(.transport(error))
    }
    guard isUseful else { return true }
    if let encoding = headers.encoding { return end(.transport(.encoded(url: url, encoding: encoding))) }
    if let length = headers.contentLength, length > byteLimit {
      return end(.transport(.tooLong(url: url, limit: byteLimit, announced: length)))
    }
    return true
  }

  /// Takes a piece of the body.
  /// - Returns: whether to go on.
  func takeBody(_ bytes: Span<UInt8>) -> Bool {
    let count = Int64(bytes.count)
    guard isUseful else {
      bodyByteCount += min(count, Self.uselessByteLimit)
      return bodyByteCount < Self.uselessByteLimit
    }
    guard count <= byteLimit - bodyByteCount else { return end(.transport(.tooLong(url: url, limit: byteLimit, announced: nil))) }
    bodyByteCount += count
    do throws(InstallationError) { try receive(bytes) } catch { return end(error) }
    return proceeds()
  }

  /// Whether the body is what was asked for: the whole file, or a part of it.
  var isUseful: Bool { status == 200 || status == 206 && part != nil }

  private func end(_ error: InstallationError) -> Bool {
    if fault == nil { fault = error }
    return false
  }
}
