internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
internal import TUFMetadata

/// One place where a file can be had.
struct DownloadSource: Sendable {
  private enum Place: Sendable {
    case url(HTTPURL)
    /// A file below a folder of this machine.
    case file(folder: String, path: [UInt8])
  }

  private let place: Place
  /// The repository of the Hugging Face Hub that it is in, where it is one.
  private let repository: String?
  /// For messages.
  let shown: Mirror

  /// The places of a file, in the order in which they are asked: those that its description names, then the published tree, where the file
  /// stands under its digest.
  static func all(
    of path: TargetPath, _ file: TargetFile, _ sources: [FileSource], hub: HuggingFaceHub, mirrors: [Mirror], consistentSnapshot: Bool
  ) -> [DownloadSource] {
    let named = sources.compactMap { source -> DownloadSource? in
      if let (repository, url) = hub.location(of: source) {
        return hub.isOffline ? nil : DownloadSource(place: .url(url), repository: repository, shown: .server(url))
      }
      guard let url = try? HTTPURL(ofFile: source.text.description) else { return nil }
      return DownloadSource(place: .url(url), repository: nil, shown: .server(url))
    }
    return named + published(path, file, mirrors: mirrors, consistentSnapshot: consistentSnapshot)
  }

  /// The published tree alone.
  static func published(
    _ path: TargetPath, _ file: TargetFile, mirrors: [Mirror], consistentSnapshot: Bool
  ) -> [DownloadSource] {
    let name = consistentSnapshot ? path.prefixed(by: file.hashes.sha256.hexadecimal) : path.name.bytes
    return mirrors.map { DownloadSource(in: $0, path: name) }
  }

  /// A file of a mirror.
  /// - Parameter path: as bytes, not encoded.
  init(in mirror: Mirror, path: [UInt8]) {
    let place: Place =
      switch mirror {
      case .server(let url): .url(url.appending(path))
      case .folder(let folder): .file(folder: folder, path: path)
      }
    self.init(place: place, repository: nil, shown: mirror)
  }

  private init(place: Place, repository: String?, shown: Mirror) {
    (self.place, self.repository, self.shown) = (place, repository, shown)
  }

  private static let pieceByteCount = 1 << 20

  /// Hands on a part of the file.
  /// - Throws: as `Transport.get`; what `HuggingFaceHub.refusal` tells where the Hub does not let the file be had.
  func read(
    _ range: Range<Int64>, of byteCount: Int64, over network: AnyTransport, hub: HuggingFaceHub, isCancelled: () -> Bool,
    receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    switch place {
    case .url(let url):
      do throws(InstallationError) {
        if range == 0..<byteCount {
          if let path = try network.localFile(for: url, byteCount: byteCount) {
            return try Self.read(path, range, byteCount, isCancelled: isCancelled, receive: receive)
          }
          try network.get(url, byteLimit: byteCount, receive: receive)
        } else {
          try network.get(url, range: range, of: byteCount, receive: receive)
        }
      } catch { throw explained(error, url, range, byteCount, hub) }
    case .file(let folder, let path):
      try Self.read("\(folder)/\(String(decoding: path, as: UTF8.self))", range, byteCount, isCancelled: isCancelled, receive: receive)
    }
  }

  /// Hands on the whole file, from a server that knows no parts.
  func readWhole(
    of byteCount: Int64, over network: AnyTransport, hub: HuggingFaceHub, isCancelled: () -> Bool,
    receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    try read(0..<byteCount, of: byteCount, over: network, hub: hub, isCancelled: isCancelled, receive: receive)
  }

  private func explained(
    _ error: InstallationError, _ url: HTTPURL, _ range: Range<Int64>, _ byteCount: Int64, _ hub: HuggingFaceHub
  ) -> InstallationError {
    guard case .transport(let fault) = error else { return error }
    if case .tooLong(_, let limit, let announced) = fault {
      let place = range == 0..<byteCount ? url.shown : "the part of \(url.shown) from byte \(range.lowerBound) on"
      // Of a part that is too long no more is known than that it is.
      let least = limit == .max ? .max : limit + 1
      return .served(.wrongLength(path: place, expected: limit, actual: max(announced ?? least, least)), by: shown)
    }
    guard let repository, let refusal = hub.refusal(of: repository, at: url, fault) else { return error }
    return .model(refusal)
  }

  private static func read(
    _ path: String, _ range: Range<Int64>, _ byteCount: Int64, isCancelled: () -> Bool,
    receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    let file = try inFolder { () throws(FileError) in try openRegularFile(path, followingLinks: true) }
    let found = try inFolder { () throws(FileError) in
      try FileError.describing(.inspect, path) { () throws(Errno) in try file.status().byteCount }
    }
    guard found == byteCount else {
      throw .served(.wrongLength(path: path, expected: byteCount, actual: found), by: .folder(path))
    }
    var buffer = [UInt8](repeating: 0, count: pieceByteCount)
    var offset = range.lowerBound
    while offset < range.upperBound {
      guard !isCancelled() else { throw .cancelled }
      let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
      let count = try inFolder { () throws(FileError) in
        try FileError.describing(.read, path) { () throws(Errno) in try file.fill(&buffer, at: offset, enough: Int64(wanted)) }
      }
      guard count > 0 else { break }
      try receive(buffer.span.extracting(first: min(count, wanted)))
      offset += Int64(min(count, wanted))
    }
  }
}
