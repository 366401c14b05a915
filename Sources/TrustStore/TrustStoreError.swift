public import FileIO

/// Why the device's trusted state can't be read or written.
public enum TrustStoreError: Error, Equatable, Sendable {
  /// The operating system refused.
  case system(Errno, operation: String, path: String)
}
