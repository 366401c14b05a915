public import FileIO

/// Why something can't be signed or published.
public enum SigningError: Error, Equatable, Sendable {
  /// The operating system refused.
  case system(Errno, operation: String, path: String)
  /// A key or a passphrase can't be used.
  /// - `path`: the file or folder at fault, or empty where there is none.
  case key(KeyError, path: String)
}
