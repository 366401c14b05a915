public import FileIO

/// Why something can't be signed or published.
public enum SigningError: Error, Equatable, Sendable {
  /// The operating system refused.
  case system(Errno, operation: String, path: String)
}
