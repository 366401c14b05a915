extension KeyError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cryptographyUnavailable: "libsodium found no source of random numbers"
    case .memoryUnavailable(let count): "\(count) bytes of memory are needed and not available"
    case .memoryNotLocked(let errno, let limit):
      "memory for a secret can't be locked, so it could be written to the swap file: \(errno) (RLIMIT_MEMLOCK is "
        + "\(limit.map { "\($0) bytes" } ?? "unlimited"); \(KeyError.lockedMemoryNeeded) bytes are enough)"
    case .symbolicLink: "it is a symbolic link; a key is read only from where it really is"
    case .notRegularFile: "it is not a regular file"
    case .notFolder: "it is not a folder"
    case .foreignOwner(let expected, let found): "it belongs to user \(found), not to user \(expected) who runs this command"
    case .looseFileMode(let found): "its mode is \(KeyError.octal(found)); a file that holds a secret must be 0600 or stricter"
    case .looseFolderMode(let found): "its mode is \(KeyError.octal(found)); a folder of secret keys must be 0700 or stricter"
    case .alreadyExists: "it exists already, and a key is never overwritten"
    case .fileTooLong(let limit): "it is longer than \(limit) bytes, the most that such a file can be"
    case .malformed(let fault, let line): "line \(line): \(fault)"
    case .costOutOfBounds(let field, let found, let bounds):
      "\(field) is \(found); allowed is \(bounds.lowerBound) to \(bounds.upperBound)\(field == "memlimit" ? ", in whole KiB" : "")"
    case .invalidName:
      "the name of a key must have 1 to \(SecretKeyText.nameByteLimit) bytes of visible characters, with no blank at its ends"
    case .publicKeyMismatch: "the secret half does not belong to the public half that stands in the file"
    case .otherPublicKey: "it is the public half of another key; nothing was written"
    case .notPublicKey(let fault): "it is not an Ed25519 public key as PEM: \(fault)"
    case .wrongPassphrase: "the passphrase is wrong, or the file was changed"
    case .passphraseMissing(PassphraseSource.newVariable):
      "a new passphrase is needed and there is no terminal to ask at: set \(PassphraseSource.newVariable), or give --new-passphrase-file FILE or "
        + "--new-passphrase-fd N"
    case .passphraseMissing(let variable):
      "a passphrase is needed and there is no terminal to ask at: set \(variable), or give --passphrase-file FILE or --passphrase-fd N"
    case .passphraseTooLong(let limit): "the passphrase is longer than \(limit) bytes"
    case .passphrasesDiffer: "the two passphrases differ"
    case .passphraseEmpty: "the passphrase is empty; --no-passphrase writes an unencrypted key"
    case .interrupted: "interrupted"
    case .protectionDiffers(let encrypted):
      encrypted ? "it is encrypted and needs a passphrase" : "it is not encrypted and has no passphrase"
    case .notImportable(let fault): fault.description
    case .signatureNotVerified: "the signature that was just made does not verify; nothing was signed"
    }
  }

  /// What `RLIMIT_MEMLOCK` should be: a page each for some dozens of keys and passphrases.
  static let lockedMemoryNeeded = 1_048_576

  /// What to do about it: a command to run where there is one, else nil.
  /// - Parameter path: the path that came with the error.
  public func hint(path: String) -> String? {
    switch self {
    case .memoryNotLocked:
      // The soft limit was raised already, so the hard limit is what stands in the way.
      "ulimit -l \(KeyError.lockedMemoryNeeded / 1024) in a shell of root, or for this one "
        + "`sudo prlimit --pid $$ --memlock=\(KeyError.lockedMemoryNeeded)`, or start the container with "
        + "--ulimit memlock=\(KeyError.lockedMemoryNeeded)"
    case .foreignOwner(let expected, _): "chown \(expected) \(KeyError.quoted(path))"
    case .looseFileMode: "chmod 600 \(KeyError.quoted(path))"
    case .looseFolderMode: "chmod 700 \(KeyError.quoted(path))"
    case .notImportable(let fault): fault.hint
    case .symbolicLink:
      "replace the link by the file: cp -p --remove-destination \"$(realpath \(KeyError.quoted(path)))\" \(KeyError.quoted(path))"
    case .notFolder: "name the real path: realpath \(KeyError.quoted(path))"
    default: nil
    }
  }

  /// A path as a POSIX shell takes it for one word, even where it begins with a hyphen.
  package static func quoted(_ path: String) -> String {
    let safe = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    let anchored = path.utf8.first == UInt8(ascii: "-") ? "./" + path : path
    guard !safe || path.isEmpty else { return anchored }
    let escaped = anchored.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    return "'" + escaped + "'"
  }

  private static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}

extension KeyTextFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "the file is empty"
    case .byteOrderMark: "a byte order mark stands before the text"
    case .carriageReturn: "a carriage return; lines end with a line feed alone"
    case .trailingBlank: "a blank at the end of the line"
    case .lineTooLong(let limit): "the line is longer than \(limit) bytes"
    case .missingLastLineFeed: "the line does not end with a line feed; the file was cut off or changed"
    case .lineCount(let expected, let found): "expected \(expected) lines in the file, found \(found)"
    case .notSecretKeyFile: "this is not a secret key file of manifest-sign"
    case .unsupportedVersion: "this version of the format is unknown; a newer manifest-sign may read it"
    case .unsupportedKeyDerivation: "this key derivation is unknown; a newer manifest-sign may know it"
    case .expectedField(let field): "expected the field \"\(field)\""
    case .invalidValue(let field): "the value of \"\(field)\" is not well formed"
    }
  }
}

extension PublicKeyFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .privateKey: "it holds a private key, which must not be passed on"
    case .otherAlgorithm: "it holds a key of another algorithm"
    case .carriageReturn: "it has carriage returns; lines end with a line feed alone"
    case .malformed: "expected the three lines that `openssl pkey -pubin -outform PEM` writes"
    }
  }
}
