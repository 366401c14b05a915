#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An error number of the operating system.
public struct Errno: Error, Hashable, Sendable {
  /// The value of `errno`.
  public let code: CInt

  public init(_ code: CInt) { self.code = code }
}

extension Errno: CustomStringConvertible {
  /// The operating system's own words, such as "No such file or directory".
  public var description: String {
    // The text is copied before any other call can reuse the buffer.
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
