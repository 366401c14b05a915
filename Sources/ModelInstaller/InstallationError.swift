public import FileIO
public import ManifestVerifier
public import TUFMetadata
public import TrustStore

/// Why something could not be fetched or put in place.
public enum InstallationError: Error, Equatable, Sendable {
  /// What is trusted, or was to be, does not allow it.
  case verification(VerificationError)
  /// What a mirror served is not trusted.
  case served(VerificationError, by: Mirror)
  /// Some mirror says that there is no newer root, and this one, which may have it, failed.
  indirect case undecidedRoot(urlPath: String, failed: Mirror, InstallationError)
  /// The network or a server failed.
  case transport(TransportError)
  /// The device's trusted state can't be used.
  case store(TrustStoreError)
  /// The disk refused.
  case file(FileError)
  /// A file of the manifest can't be put where this software keeps its own.
  case reservedTarget(TargetPath)
  /// A text is no URL that can be used here. It is not repeated: it may hold a password.
  case unusableURL(expected: String)
  /// The file that remembers where mirrors are is not as it was written.
  case damagedMirrorList(path: String)
  /// A model, or the store that it is in, is not what it would have to be.
  case model(ModelError)
  /// The caller asked to stop.
  case cancelled
}

extension InstallationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .verification(let error): error.description
    case .served(let error, let mirror): "\(error) (from \(mirror))"
    case .undecidedRoot(let path, let mirror, let error):
      "whether there is a newer root can't be told: expected an answer of \(mirror) for \(path), found: \(error)"
    case .transport(let error): error.description
    case .store(let error): error.description
    case .file(let error): error.description
    case .reservedTarget(let path): "\(path) can't be fetched: its first folder's name is kept for unfinished files"
    case .unusableURL(let expected): "not a usable URL: expected \(expected)"
    case .damagedMirrorList(let path): "\(path) is damaged: expected the lines that this software wrote"
    case .model(let error): error.description
    case .cancelled: "cancelled"
    }
  }
}

extension InstallationError {
  /// What happened, where the mirror is named already.
  package var reason: String { if case .served(let error, _) = self { error.description } else { description } }

  /// Whether it is of what mirrors serve, or of the way to them, so that another may do better.
  package var isOfMirror: Bool {
    switch self {
    case .served, .verification, .undecidedRoot, .transport, .file: true
    case .store, .reservedTarget, .unusableURL, .damagedMirrorList, .model, .cancelled: false
    }
  }

  /// Whether no newer metadata could be had, or none that has not expired: that blocks new installs, and says nothing against what is installed.
  package var saysNothingOfInstalled: Bool {
    switch self {
    case .transport, .served, .undecidedRoot, .file: true
    case .verification(.expired), .verification(.unavailable), .verification(.undecidedRoot): true
    default: false
    }
  }

  /// Whether something could not be had, and nothing came that is not to be trusted.
  package var isOfTransfer: Bool {
    switch self {
    case .transport, .served(.unavailable, _), .served(.file, _), .verification(.unavailable): true
    case .served(.wrongLength, _), .served(.wrongDigest, _): true
    case .undecidedRoot(_, _, let error): error.isOfTransfer
    // A mirror that is a folder, and not mounted.
    case .file(let error): error.errno == .notFound || error.errno == .notDirectory
    default: false
    }
  }

  package var isOfFullDisk: Bool {
    guard case .file(let error) = self, let errno = error.errno else { return false }
    return errno == .noSpace || errno == .quotaExceeded
  }

  /// Whether a disk, or its permissions, allow no change.
  package var forbidsWriting: Bool {
    guard case .file(let error) = self, let errno = error.errno else { return false }
    return [.readOnlyFileSystem, .accessDenied, .notPermitted].contains(errno)
  }

  /// How much an error tells where several mirrors failed: what can't be trusted before what can't be reached.
  var weight: Int {
    switch self {
    case .served(.thresholdNotMet, _), .served(.rolledBack, _), .served(.removedFromSnapshot, _): 5
    case .served(.expired, _): 4
    case .served(.file, _), .served(.unavailable, _): 1
    case .served, .verification, .undecidedRoot: 3
    case .transport(.notAvailable): 1
    case .transport(.folder(let error)) where error.errno == .notFound: 1
    case .model: 3
    case .store, .file, .transport, .unusableURL, .reservedTarget, .damagedMirrorList, .cancelled: 2
    }
  }
}
