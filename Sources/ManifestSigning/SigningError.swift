public import FileIO
public import ManifestVerifier
public import TUFMetadata

/// Why something can't be signed or published.
public enum SigningError: Error, Equatable, Sendable {
  /// The disk refused.
  case file(FileError)
  /// The operating system refused something else.
  case system(Errno, operation: String, path: String)
  /// A key or a passphrase can't be used.
  /// - `path`: the file or folder at fault, or empty where there is none.
  case key(KeyError, path: String)
  /// A JSON file is malformed.
  case metadata(path: String, MetadataError)
  /// What is published is not in order.
  case published(VerificationError)
  /// There is no repository in the folder.
  case noRepository(path: String)
  /// A file that would be made is there already; nothing is overwritten.
  case alreadyExists(path: String)
  /// Another process is changing the repository.
  case locked(path: String, process: Int32?)
  /// More keys would have to sign than there are.
  case unmeetableThreshold(role: TopLevelRole, keyCount: Int, threshold: Int)
  /// Fewer secret keys are at hand than have to sign.
  case missingKeys(role: TopLevelRole, threshold: Int, atHand: [String], missing: [String])
  /// A file of the published tree is not as it was published.
  case damagedTarget(path: String)
  /// Files of a version that is published already have other content now.
  case replaced([TargetPath])
  /// Files that are published are no longer in the folder.
  case removed([TargetPath])
  /// The newest version that can be written is published already.
  case noVersionLeft(role: TopLevelRole)
  /// The caller asked to stop.
  case cancelled
  /// A key of the worked example was to be used for something else.
  case exampleKey(id: String)
}
