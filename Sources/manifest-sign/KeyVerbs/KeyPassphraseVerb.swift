internal import CommandLineSupport
internal import ManifestSigning

enum KeyPassphraseVerb {
  static let verb = Verb(
    "key passphrase", "Change the passphrase of a secret key.",
    arguments: [KeyOptions.name],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, KeyOptions.unprotected] + RepositoryOptions.passphrases
      + KeyOptions.newPassphrases,
    conflicts: [RepositoryOptions.passphraseConflict, KeyOptions.newConflict],
    discussion: [
      "secrets/NAME.key is replaced at once, after the new content was opened and found to hold the same key. Backups keep their old passphrase: "
        + "make new ones, and destroy the old.",
      "The old passphrase: " + RepositoryOptions.passphraseText, KeyOptions.newText,
    ],
    exitCodes: [.disk, .key],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let protection = try KeyOptions.newProtection(invocation, beside: passphrases)
    let name = invocation.required(KeyOptions.name.name)
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let isChanged = try KeyOptions.store(RepositoryOptions.layout(invocation)).changePassphrase(
      of: name, from: passphrases, to: protection, notice: observer.notice)
    if isChanged {
      output.line("The passphrase of \(name) is changed. Make a new backup.", style: .good)
    } else {
      output.line("\(name) has no passphrase, as before.")
    }
    output.report("changed", .bool(isChanged))
    output.report("name", .string(name))
    output.report("encrypted", .bool(!invocation.flag(KeyOptions.unprotected.name)))
    return .done
  }
}
