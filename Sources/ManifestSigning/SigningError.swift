public import FileIO
public import ManifestVerifier
public import ModelFormats
public import TUFMetadata

/// Why something can't be signed or published.
public enum SigningError: Error, Equatable, Sendable {
  /// A file or folder can't be used.
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
  case missingKeys(role: MetadataRole, threshold: Int, atHand: [String], missing: [String])
  /// A key of the worked example was to be used, whose secret half is published.
  case exampleKey(id: String)
  /// The folder of the secret keys lies, or would lie, in one that others read.
  case secretsFolder(path: String, published: String)
  /// A key that an older root listed and the newest does not was to be used anew.
  case retiredKey(id: String, lastRoot: Version)
  /// One key stands under two names, for two roles or twice for one.
  case sharedKey(names: [String], id: String)
  /// The public half of a key that was to be added lies in `keys` already, under this name.
  case keyExists(name: String, id: String)
  /// The name of a key can't be the name of its files.
  case keyName(String)
  /// No key of this name lies in `keys`.
  case noSuchKey(name: String, path: String)
  /// Files that are published, or shared with others, hold secret keys.
  case publishedSecrets(paths: [String])
  /// An external signer gave no usable signature.
  case signer(name: String, SignerFault)
  /// Others may write to something that decides what signs, or who may read it is not safe.
  case unsafeConfiguration(path: String, reason: String)
  /// A folder can't be published as it is.
  /// - `problems`: in the order of the paths, the first ones where there are many.
  /// - `count`: how many there are in all.
  case scan(_ problems: [ScanProblem], count: Int)
  /// A file is not the model file that its name or its first bytes promise.
  case format(path: TargetPath, ModelFormatError)
  /// A file was written to, cut or replaced between the scan and the end of its hashing.
  case changedWhileHashed(path: TargetPath)
  /// A `model.json` is not one.
  case description(path: TargetPath, MetadataError)
  /// A `model.json` does not fit the files beside it.
  /// - `problems`: the first ones where there are many.
  /// - `count`: how many there are in all.
  case descriptionMismatch(path: TargetPath, _ problems: [DescriptionProblem], count: Int)
  /// A file of the published tree is not as it was published.
  case damagedTarget(path: String)
  /// Files of a version that is published already have other content now.
  case replaced([TargetPath])
  /// Files that are published are no longer in the folder.
  case removed([TargetPath])
  /// The newest version that can be written is published already.
  case noVersionLeft(role: TopLevelRole)
  /// A part of the catalog that another machine hashed can't be merged.
  case fragment(path: String, FragmentFault)
  /// Files can't be spread over this many bins.
  case binCount(Int)
  /// A proposal or a signature does not do.
  case ceremony(CeremonyFault)
  /// The caller asked to stop.
  case cancelled
}

extension SigningError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .file(let error): "\(error)"
    case .system(let error, let operation, let path): "can't \(operation) \(path): \(error)"
    case .key(let error, let path): path.isEmpty ? "\(error)" : "\(path): \(error)"
    case .metadata(let path, let error): "\(path): \(error)"
    case .published(let error): "what is published is not in order: \(error)"
    case .noRepository(let path): "there is no repository in \(path): expected manifests/metadata/1.root.json"
    case .alreadyExists(let path): "\(path) exists already and is never overwritten"
    case .locked(let path, let process): "\(path) is locked by \(process.map { "process \($0)" } ?? "another process")"
    case .unmeetableThreshold(let role, let keyCount, let threshold):
      "\(threshold) of \(keyCount) \(role) keys can't sign: expected a threshold from 1 to the number of keys, which is at most 100"
    case .missingKeys(let role, let threshold, let atHand, let missing):
      "\(role.name) needs \(threshold) signatures; at hand: \(Self.list(atHand)); missing: \(Self.list(missing))"
    case .exampleKey(let id):
      "the key \(id) is one of the worked example's, whose secret halves are published: anyone can sign with it"
    case .secretsFolder(let path, let published): "\(path): secret keys can't lie in \(published), which others read"
    case .retiredKey(let id, let lastRoot):
      "the key \(id) was retired: root \(lastRoot) was the last to list it, and the newest does not"
    case .sharedKey(let names, let id): "\(names.joined(separator: " and ")) are one key, \(id): expected a key of its own for each"
    case .keyExists(let name, let id): "the key \(id) is there already, under the name \(name)"
    case .keyName(let name):
      "\(name) can't be the name of a key: expected 1 to 100 letters, digits, \"-\", \"_\" or \".\", beginning with a letter or digit"
    case .noSuchKey(let name, let path): "there is no key \(name): \(path) is missing"
    case .publishedSecrets(let paths): Self.list("secret keys lie where they would be published:", paths, count: paths.count)
    case .signer(let name, let fault): "the signer \(name): \(fault)"
    case .unsafeConfiguration(let path, let reason): "\(path): \(reason)"
    case .scan(let problems, let count): Self.list("the folder can't be published:", problems, count: count)
    case .format(let path, let error): "\(path): \(error)"
    case .changedWhileHashed(let path): "\(path) changed while it was hashed"
    case .description(let path, let error): "\(path): \(error)"
    case .descriptionMismatch(let path, let problems, let count): Self.list("\(path) does not fit the files:", problems, count: count)
    case .damagedTarget(let path): "\(path) is not as it was published"
    case .replaced(let paths): Self.list("files of a published version have other content now:", paths, count: paths.count)
    case .removed(let paths): Self.list("files that are published are missing:", paths, count: paths.count)
    case .noVersionLeft(let role): "the newest version that \(role) metadata can have is published already"
    case .fragment(let path, let fault): "the fragment \(path) can't be merged: \(fault)"
    case .binCount(let count):
      "files can't be spread over \(count) bins: expected a power of two up to \(HashBins.greatestCount), or 1 for none"
    case .ceremony(let fault): fault.description
    case .cancelled: "cancelled"
    }
  }

  private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

  private static func list(_ heading: String, _ items: [some CustomStringConvertible], count: Int) -> String {
    let shown = items.prefix(100).map(\.description)
    return heading + " " + shown.joined(separator: "; ") + (shown.count < count ? "; and \(count - shown.count) more" : "")
  }
}
