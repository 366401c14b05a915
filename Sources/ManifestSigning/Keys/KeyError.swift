public import FileIO

/// Why a key or a passphrase can't be used. No case ever carries what a file holds.
public enum KeyError: Error, Equatable, Sendable {
  /// The system has no source of random numbers.
  case cryptographyUnavailable
  /// There is not enough memory for a secret, or for the key derivation that a file asks for.
  case memoryUnavailable(byteCount: Int)
  /// Memory for a secret can't be kept out of the swap file.
  /// - `limit`: `RLIMIT_MEMLOCK` in bytes; nil where there is none.
  case memoryNotLocked(Errno, limit: UInt64?)

  /// The path is a symbolic link.
  case symbolicLink
  /// The path is something other than a regular file.
  case notRegularFile
  /// The path that should be a folder is something else, or a symbolic link to one.
  case notFolder
  /// Another user owns the file or folder.
  case foreignOwner(expected: UInt32, found: UInt32)
  /// Others may use the secret file.
  case looseFileMode(found: UInt32)
  /// Others may use the folder of the secret file.
  case looseFolderMode(found: UInt32)
  /// The file exists, and keys are never overwritten.
  case alreadyExists
  /// The file is longer than one of its kind can be.
  case fileTooLong(limit: Int)

  /// The text of a secret key file is wrong.
  /// - `line`: from 1.
  case malformed(KeyTextFault, line: Int)
  /// The key derivation costs more, or less, than is allowed.
  case costOutOfBounds(field: String, found: UInt64, bounds: ClosedRange<UInt64>)
  /// The name of a key is empty, too long, or holds characters that can't be shown.
  case invalidName
  /// The secret half does not belong to the public half.
  case publicKeyMismatch
  /// The public half that was there before is not that of the key.
  case otherPublicKey
  /// The file is not the public half of an Ed25519 key as PEM.
  case notPublicKey(PublicKeyFault)

  /// The passphrase does not open the file, or the file was changed.
  case wrongPassphrase
  /// A passphrase is needed, and there is no terminal to ask at.
  /// - `variable`: the environment variable that would be read.
  case passphraseMissing(variable: String)
  /// A passphrase is longer than the limit.
  case passphraseTooLong(limit: Int)
  /// The passphrase was typed differently the second time.
  case passphrasesDiffer
  /// Nothing was typed where a passphrase should protect a new key.
  case passphraseEmpty
  /// The person stopped typing.
  case interrupted
  /// The key is not encrypted, and something tried to open it with a passphrase, or the other way round.
  case protectionDiffers(encrypted: Bool)

  /// A file of another program is no key that can be imported.
  case notImportable(ImportFault)

  /// libsodium did not accept a signature that was just made.
  case signatureNotVerified
}

/// What is wrong with the text of a secret key file.
public enum KeyTextFault: Equatable, Sendable {
  case empty
  case byteOrderMark
  case carriageReturn
  case trailingBlank
  case lineTooLong(limit: Int)
  case missingLastLineFeed
  case lineCount(expected: Int, found: Int)
  case notSecretKeyFile
  case unsupportedVersion
  case unsupportedKeyDerivation
  case expectedField(String)
  case invalidValue(field: String)
}

/// What is wrong with a public key file.
public enum PublicKeyFault: Equatable, Sendable {
  case privateKey
  case otherAlgorithm
  case carriageReturn
  case malformed
}
