public import FileIO
public import ManifestVerifier

/// Why the device's trusted state can't be used.
public enum TrustStoreError: Error, Equatable, Sendable {
  /// The folder holds no trusted state yet.
  case notInitialised(path: String)
  /// The folder holds trusted state that begins at another root.
  case alreadyInitialised(path: String)
  /// The folder holds something that is not ours.
  case foreignContent(path: String, name: String)
  /// The state was written by a newer version of this software.
  case newerFormat(path: String, found: Int64, supported: Int64)
  /// A file of the state is not as it was written.
  case damaged(path: String, expected: String)
  /// Another process is changing the state.
  case locked(path: String, process: Int32?)
  /// The disk refused.
  case file(FileError)
  /// The root that is to be trusted first is itself not in order.
  case unusableRoot(VerificationError)
}

extension TrustStoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notInitialised(let path): "\(path) holds no trusted state: expected one that was initialised with a root file"
    case .alreadyInitialised(let path): "\(path) already holds trusted state that begins at another root; it is never overwritten"
    case .foreignContent(let path, let name): "\(path): expected an empty folder, found \(name)"
    case .newerFormat(let path, let found, let supported):
      "\(path) was written by a newer version: expected format \(supported) or older, found format \(found)"
    case .damaged(let path, let expected): "\(path) is damaged: expected \(expected)"
    case .locked(let path, let process): "\(path) is locked by \(process.map { "process \($0)" } ?? "another process")"
    case .file(let error): error.description
    case .unusableRoot(let error): "the root file can't be trusted: \(error)"
    }
  }
}
