internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum KeyGenerateVerb {
  static let verb = Verb(
    "key generate", "Make one new key.",
    arguments: [KeyOptions.name],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, KeyOptions.unprotected] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict + [KeyOptions.unprotected.name]],
    discussion: [
      "Writes secrets/NAME.key, encrypted with a passphrase, and keys/NAME.pem. Nothing is ever overwritten. The key signs nothing until a root "
        + "lists it.",
      RepositoryOptions.passphraseText,
    ],
    exitCodes: [.disk, .locked, .key],
    examples: [.init("manifest-sign key generate root-4", "a spare root key, to be put into the next root")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let (name, layout) = (invocation.required(KeyOptions.name.name), RepositoryOptions.layout(invocation))
    let store = try KeyOptions.store(layout)
    try store.requireFree(name)
    let publicKey = try make(name, store, invocation.flag(KeyOptions.unprotected.name) ? .none : .passphrase(passphrases))
    if invocation.flag(KeyOptions.unprotected.name) { KeyOptions.warnUnencrypted("\(layout.secrets)/\(name).key", output) }
    output.line("The key \(name) is made.", style: .good)
    KeyOptions.show(publicKey, name: name, layout, output)
    output.line("Next: back up the secret key, and see that the copy opens: manifest-sign key check COPY")
    return .done
  }

  /// The part that has the secret: it is gone before anything is printed.
  private static func make(_ name: String, _ store: KeyStore, _ protection: KeyStore.Protection) throws(SigningError) -> Ed25519PublicKey {
    let key = try SecretKey.generate()
    try store.add(key, name: name, protection)
    return key.publicKey
  }
}
