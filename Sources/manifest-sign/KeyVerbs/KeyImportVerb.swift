internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum KeyImportVerb {
  private static let file = Argument("FILE", "The secret key as another program keeps it.")

  static let verb = Verb(
    "key import", "Take over a secret key of another program.",
    arguments: [file, KeyOptions.name],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, KeyOptions.unprotected] + RepositoryOptions.passphrases
      + KeyOptions.newPassphrases,
    conflicts: [RepositoryOptions.passphraseConflict, KeyOptions.newConflict],
    discussion: [
      "FILE is an Ed25519 key: PKCS #8 as openssl writes it (PEM or DER, encrypted or not), a minisign secret key (encrypted or not), a seed of 32 bytes "
        + "raw or in base64 as Sparkle keeps it, or seed and public key of 64 bytes. FILE is left as it is: destroy it once the import is backed up.",
      "Writes secrets/NAME.key and keys/NAME.pem, and overwrites nothing. Most of these forms can't tell a damaged key from another one: where "
        + "keys/NAME.pem is there already, the key has to be that one; else compare the fingerprint. A key that the roots have retired is refused.",
      "The passphrase of FILE: " + RepositoryOptions.passphraseText, KeyOptions.newText,
    ],
    exitCodes: [.disk, .malformed, .key],
    examples: [.init("manifest-sign key import release.pem targets-2", "a key that openssl made")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let protection = try KeyOptions.newProtection(invocation, beside: passphrases)
    let (name, layout) = (invocation.required(KeyOptions.name.name), RepositoryOptions.layout(invocation))
    let store = try KeyOptions.store(layout)
    try store.requireFree(name, publicKeyMayExist: true)
    let imported = try take(invocation.required(file.name), as: name, store, passphrases, protection)
    if invocation.flag(KeyOptions.unprotected.name) { KeyOptions.warnUnencrypted("\(layout.secrets)/\(name).key", output) }
    output.line("The key \(name) is imported (\(imported.form.rawValue)).", style: .good)
    KeyOptions.show(imported.publicKey, name: name, layout, output)
    output.report("form", .string(imported.form.rawValue))
    if let number = imported.minisignKeyNumber {
      let digits = number.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      output.line("  minisign     key number \(digits): give it to key export with --key-number")
      output.report("minisign_key_number", .string(digits))
    }
    if !imported.isEncrypted { warnClear(imported.path, output) }
    output.line("Next: back up the secret key, see that the copy opens (manifest-sign key check COPY), and destroy \(imported.path)")
    return .done
  }

  /// What is told of a key that was imported.
  private struct Imported {
    let publicKey: Ed25519PublicKey
    let form: ForeignKeyFile.Form
    let isEncrypted: Bool
    let path: String
    let minisignKeyNumber: [UInt8]?
  }

  /// The part that has secrets: they are gone before anything is printed.
  private static func take(
    _ path: String, as name: String, _ store: KeyStore, _ passphrases: PassphraseSource, _ protection: KeyStore.Protection
  ) throws(SigningError) -> Imported {
    let foreign = try ForeignKeyFile.read(path: path)
    let opened = try passphrases.open(foreign)
    try store.add(opened.key, name: name, protection, publicKeyMayExist: true)
    return Imported(
      publicKey: opened.key.publicKey, form: foreign.form, isEncrypted: foreign.isEncrypted, path: foreign.path,
      minisignKeyNumber: opened.minisignKeyNumber)
  }

  /// The file that was imported is a key too, and stays one.
  private static func warnClear(_ path: String, _ output: Output) {
    output.warning(
      "\(path) still holds the key unencrypted; once the import is backed up, destroy it and every copy of it: shred -u \(KeyError.quoted(path))"
    )
    if let exposure = KeyBackup.exposure(of: path) {
      output.warning("\(path): \(exposure); if any other user could have read it, make a new key instead")
    }
  }
}
