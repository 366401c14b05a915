internal import FileIO

/// Where published files are: a folder that a server serves, or one of this machine.
public enum Mirror: Hashable, Sendable {
  case server(HTTPURL)
  /// The path of a folder, which is read with plain file calls.
  case folder(String)
}

extension Mirror: CustomStringConvertible {
  public var description: String {
    switch self {
    case .server(let url): url.text
    case .folder(let path): path
    }
  }
}

extension Mirror {
  private static let pieceByteCount = 1 << 20

  /// Hands on a file of the mirror piece by piece.
  /// - Parameter path: as bytes, not encoded.
  func read(
    _ path: [UInt8], byteLimit: Int64, over network: some Transport, isCancelled: () -> Bool,
    receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    switch self {
    case .server(let url): try network.get(url.appending(path), byteLimit: byteLimit, receive: receive)
    case .folder(let folder):
      let name = "\(folder)/\(String(decoding: path, as: UTF8.self))"
      let file: FileDescriptor
      do { file = try openRegularFile(name, followingLinks: true) } catch { throw .file(error) }
      var buffer = [UInt8](repeating: 0, count: Self.pieceByteCount)
      while true {
        guard !isCancelled() else { throw .cancelled }
        let count: Int
        do { count = try file.read(into: &buffer) } catch { throw .file(.system(.read, path: name, error)) }
        if count == 0 { return }
        try receive(buffer.span.extracting(first: count))
      }
    }
  }
}
