/// What was being done to a file when it failed; the raw value is the verb of the message.
public enum FileOperation: String, Equatable, Sendable {
  case open, read, write, create, replace, list, remove, rename, copy, link, lock, inspect, synchronize
}

/// Why something made of several system calls failed.
public enum FileError: Error, Equatable, Sendable {
  case system(FileOperation, path: String, Errno)
  /// The file is longer than `limit` bytes.
  case tooLarge(path: String, limit: Int)
  /// Something else than a regular file stands there.
  case notRegular(path: String, FileKind)

  public var path: String {
    switch self {
    case .system(_, let path, _), .tooLarge(let path, _), .notRegular(let path, _): path
    }
  }

  /// The system's own reason, where it gave one.
  public var errno: Errno? {
    if case .system(_, _, let errno) = self { errno } else { nil }
  }

  /// Gives a plain call's error the operation and path that a reader needs.
  package static func describing<Result: ~Copyable>(
    _ operation: FileOperation, _ path: String, _ body: () throws(Errno) -> Result
  ) throws(FileError) -> Result {
    do { return try body() } catch { throw .system(operation, path: path, error) }
  }
}

extension FileError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .system(let operation, let path, let errno): "can't \(operation.rawValue) \(path): \(errno)"
    case .tooLarge(let path, let limit): "can't read \(path): it is longer than the limit of \(limit) bytes"
    case .notRegular(let path, let kind): "can't read \(path): it is a \(kind.rawValue), not a regular file"
    }
  }
}
