internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

/// What the key verbs share: their options, and how a key is shown.
enum KeyOptions {
  static let name = Argument("NAME", "The key: keys/NAME.pem and secrets/NAME.key.")
  static let unprotected = Option.flag("--no-passphrase", "Write the secret key unencrypted. Whoever reads it can sign.")
  /// For a verb that opens one file and writes another.
  static let newVariable = PassphraseSource.newVariable
  static let newFile = Option.value("--new-passphrase-file", "FILE", "Read the new passphrase from a file.")
  static let newDescriptor = Option.integer(
    "--new-passphrase-fd", "N", "Read the new passphrase from an open file descriptor.", in: 0...65_535)
  static let newPassphrases = [newFile, newDescriptor]
  static let newConflict = [newFile.name, newDescriptor.name, unprotected.name]
  static let newText =
    "The new passphrase comes from \(newVariable), else from --new-passphrase-file or --new-passphrase-fd, else it is asked for twice at the "
    + "terminal."

  /// The keys of a repository in which no secret lies where others look.
  static func store(_ layout: RepositoryLayout) throws(SigningError) -> KeyStore {
    try PublishedSecrets.refuse(in: layout)
    return try KeyStore(layout)
  }

  /// The descriptor that an option reads, by its number or by one of the names that such a descriptor has.
  private static func descriptor(_ number: Int?, _ file: String?) -> Int? {
    guard let file else { return number }
    if file == "/dev/stdin" { return 0 }
    return ["/dev/fd/", "/proc/self/fd/"].first(where: file.hasPrefix).flatMap { Int(file.dropFirst($0.utf8.count)) }
  }

  /// The source of the passphrase under which a file is written.
  static func newProtection(_ invocation: Invocation, beside source: PassphraseSource) throws -> KeyStore.Protection {
    let old = descriptor(
      invocation.integer(RepositoryOptions.passphraseDescriptor.name), invocation.value(RepositoryOptions.passphraseFile.name))
    if let old, descriptor(invocation.integer(newDescriptor.name), invocation.value(newFile.name)) == old {
      throw Failure(
        .usage, "both passphrases would be read from file descriptor \(old), which has only one", expected: "two descriptors, or files",
        found: "one")
    }
    let option: PassphraseSource.Option? =
      if let file = invocation.value(newFile.name) {
        .file(file)
      } else if let number = invocation.integer(newDescriptor.name) {
        .descriptor(Int32(number))
      } else {
        nil
      }
    let new = try source.another(variable: newVariable, option: option, for: newVariable)
    return invocation.flag(unprotected.name) ? .none : .passphrase(new)
  }

  /// What a person notes down of a key that was just added.
  static func show(_ publicKey: Ed25519PublicKey, name: String, _ layout: RepositoryLayout, _ output: Output) {
    let id = Key(publicKey).id
    output.line("  key id       \(id)")
    output.line("  fingerprint  \(KeyFingerprint(id).description)")
    output.line("  public key   \(layout.keys)/\(name).pem")
    output.line("  secret key   \(layout.secrets)/\(name).key")
    report(publicKey, name: name, output)
    output.report("secret_key", .string("\(layout.secrets)/\(name).key"))
  }

  static func report(_ publicKey: Ed25519PublicKey, name: String, _ output: Output) {
    let id = Key(publicKey).id
    output.report("name", .string(name))
    output.report("key_id", .string(id.description))
    output.report("fingerprint", .string(KeyFingerprint(id).description))
  }

  static func warnUnencrypted(_ path: String, _ output: Output) {
    output.warning("a secret key without a passphrase, with which whoever can read it can sign: \(path)")
  }
}
