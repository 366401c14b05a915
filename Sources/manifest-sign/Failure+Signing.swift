internal import CommandFailures
internal import CommandLineSupport
internal import FileIO
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

/// What errors of the release side mean to a person: words, hints and exit codes in one table.
extension Failure {
  init(explaining error: any Error) {
    switch error {
    case let error as SigningError: self.init(error)
    case let error as VerificationError: self.init(error)
    case let error as FileError: self.init(error)
    default: self.init(.failure, "\(error)")
    }
  }

  private init(_ error: SigningError) {
    switch error {
    case .file(let file): self.init(file)
    case .cancelled: self.init(.interrupted, "interrupted", hint: "run the command again; nothing of this run is visible to devices")
    case .published(let cause):
      self.init(cause)
      if case .unavailable = cause {
        code = .disk
        hint =
          "put the file back from a backup or from the web server; what lies in manifests/metadata has to be whole before anything is signed"
      }
    case .metadata(_, let cause), .description(_, let cause):
      self.init(.malformed, error.description)
      (expected, found, place) = Self.details(of: cause)
    case .scan(let problems, let count): self.init(error, "the folder can't be published as it is", problems, count)
    case .descriptionMismatch(let path, let problems, let count):
      self.init(error, "\(path) does not fit the files beside it", problems, count)
    case .replaced(let paths): self.init(error, "files of a published version have other content now", paths, paths.count)
    case .removed(let paths): self.init(error, "files that are published are missing", paths, paths.count)
    case .ceremony(let fault): self.init(fault)
    case .publishedSecrets(let paths): self.init(error, "secret keys lie where they would be published", paths, paths.count)
    default: self.init(Self.code(of: error), error.description, hint: Self.hint(for: error))
    }
  }

  /// A failure of many things, of which the first hundred are named.
  private init(_ error: SigningError, _ message: String, _ items: [some CustomStringConvertible], _ count: Int) {
    self.init(Self.code(of: error), message, hint: Self.hint(for: error))
    self.items = items.prefix(100).map(\.description)
    if count > self.items.count { self.items.append("and \(count - self.items.count) more") }
  }

  private static func code(of error: SigningError) -> ExitCode {
    switch error {
    case .file, .system, .damagedTarget: .disk
    case .key(.interrupted, _), .cancelled: .interrupted
    case .key, .missingKeys, .exampleKey, .secretsFolder, .retiredKey, .sharedKey, .keyExists, .noSuchKey, .publishedSecrets, .signer,
      .unsafeConfiguration:
      .key
    case .ceremony(let fault): fault.exitCode
    case .keyName, .binCount: .usage
    case .fragment(_, .unsigned), .fragment(_, .unlistedKey), .fragment(_, .invalidSignature): .signature
    case .fragment(_, .expired): .expiredOrRolledBack
    case .fragment(_, .contradiction): .fileMismatch
    case .fragment: .malformed
    case .metadata, .description, .descriptionMismatch, .scan, .format: .malformed
    case .changedWhileHashed, .replaced, .removed: .fileMismatch
    case .locked: .locked
    case .unmeetableThreshold: .usage
    case .noRepository, .alreadyExists, .noVersionLeft, .published: .failure
    }
  }

  private static func hint(for error: SigningError) -> String? {
    switch error {
    case .key(let key, let path): key.hint(path: path)
    case .noRepository: "run manifest-sign init, or name the repository's folder with --repository"
    case .alreadyExists:
      "nothing was written; choose another name or folder; init --existing-keys uses the keys that are there"
    case .locked: "wait until it has finished"
    case .unmeetableThreshold: "raise the number of keys, or lower the threshold"
    case .missingKeys: "bring the missing keys: name their folder with --secrets"
    case .exampleKey: "make a key of your own with manifest-sign key generate"
    case .secretsFolder: "name a folder outside of manifests, keys and pending with --secrets; nothing was written"
    case .retiredKey: "make a new key with manifest-sign key generate"
    case .noSuchKey: "run manifest-sign key list"
    case .publishedSecrets:
      "move them out of manifests, keys and pending; if they were ever served or shared, take them for stolen and rotate to new keys"
    case .signer(_, let fault): fault.hint ?? "nothing was signed or changed; try the signer by itself, as Documentation/keys.md shows"
    case .unsafeConfiguration(_, let reason) where reason.hasPrefix("it is "): "put a file of your own there, or nothing"
    case .unsafeConfiguration: "make it yours, or root's, alone to write: chown, chmod go-w"
    case .sharedKey: "make another key with manifest-sign key generate, and take one of the two away"
    case .fragment(_, .unlistedKey):
      "if the key is the machine's, put its public half into keys and its name into keys/policy.json; otherwise don't use the fragment"
    case .fragment(_, .overlap), .fragment(_, .contradiction): "give each file to one machine, and make the fragments anew"
    case .fragment: "make the fragment anew with manifest-sign hash"
    case .keyExists, .keyName, .binCount: nil
    case .replaced: "put the new content under a new version, or give --allow-replace"
    case .removed: "put them back, or give --allow-remove"
    case .scan: "mend what is named and publish again; nothing was signed"
    case .format: "get the file again from where it comes; nothing was signed"
    case .damagedTarget: "restore it from a backup or a mirror, then publish again"
    case .changedWhileHashed: "publish again when nothing writes to it any more"
    case .file, .system, .metadata, .description, .descriptionMismatch, .published, .noVersionLeft, .ceremony, .cancelled: nil
    }
  }
}
