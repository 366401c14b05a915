public import TUFMetadata

/// A secret key that was opened only to see that it opens, and whose it is: the proof that a backup is good. It signs nothing.
public struct KeyBackup: Sendable {
  public let publicKey: Ed25519PublicKey
  /// The name in the file; nil for the file of another program.
  public let name: String?
  public let isEncrypted: Bool
  /// Why others can use the file, as far as its mode and owner tell; nil where they can't. A stick with a FAT file system has one mode for all files.
  public let exposure: KeyError?

  /// Why others can use a file, as far as its mode and owner tell, at the end of its links; nil where they can't.
  public static func exposure(of path: String) -> KeyError? { KeyFileAccess.exposure(of: path) }

  public var id: KeyID { Key(publicKey).id }

  /// Opens a file: one of manifest-sign's, or of any form that can be imported.
  ///
  /// A backup may lie on a stick, or in a folder of root's, so its mode is told rather than refused.
  public init(path: String, _ passphrases: PassphraseSource) throws(SigningError) {
    exposure = Self.exposure(of: path)
    guard try ForeignKeyFile.isOwnFormat(path: path) else {
      let file = try ForeignKeyFile.read(path: path)
      isEncrypted = file.isEncrypted
      name = nil
      publicKey = try passphrases.open(file).key.publicKey
      return
    }
    let file = try SecretKeyFile.readBackup(path: path)
    isEncrypted = file.isEncrypted
    name = file.name
    publicKey = try passphrases.open(file).publicKey
  }
}

extension PassphraseSource {
  /// Opens the file of another program, with a passphrase where it has one.
  public func open(_ file: borrowing ForeignKeyFile) throws(SigningError) -> ForeignKeyFile.Opened {
    guard file.isEncrypted else { return try file.openUnencrypted() }
    try askOnce("Passphrase of \(file.path)")
    return try openKept(file)
  }
}
