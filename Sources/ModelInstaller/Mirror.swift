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
      let file = try inFolder { () throws(FileError) in try openRegularFile(name, followingLinks: true) }
      var buffer = [UInt8](repeating: 0, count: Self.pieceByteCount)
      while true {
        guard !isCancelled() else { throw .cancelled }
        let count = try inFolder { () throws(FileError) in
          try FileError.describing(.read, name) { () throws(Errno) in try file.read(into: &buffer) }
        }
        if count == 0 { return }
        try receive(buffer.span.extracting(first: count))
      }
    }
  }
}

/// Reads from a mirror that is a folder: what fails there is the mirror's fault, and none of the disk that is written to.
func inFolder<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(InstallationError) -> Result {
  do { return try body() } catch { throw .transport(.folder(error)) }
}
