internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum KeyCheckVerb {
  private static let file = Argument("FILE", "The backup: a copy of secrets/NAME.key, or a file that key import takes.")
  private static let name = Option.value("--name", "NAME", "The key that it should be, if not the one that it calls itself.")

  static let verb = Verb(
    "key check", "Open a backup of a secret key and compare its public half; sign nothing.",
    arguments: [file],
    options: [RepositoryOptions.repository, name] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict],
    discussion: [
      "The public half is computed from the secret one, and held against keys/NAME.pem and the newest root. A backup that opens and is another key, or "
        + "one that was retired, ends with exit code 19. A mode that lets others read the backup is warned of.",
      RepositoryOptions.passphraseText,
    ],
    exitCodes: [.signature, .disk, .malformed, .key, .found],
    examples: [.init("manifest-sign key check /media/stick/root-1.key", "is the stick in the safe still good?")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let store = try KeyOptions.store(RepositoryOptions.publishedLayout(invocation))
    let path = invocation.required(file.name)
    let backup = try KeyBackup(path: path, passphrases)
    if !backup.isEncrypted { KeyOptions.warnUnencrypted(path, output) }
    if let exposure = backup.exposure {
      output.warning(
        "\(path): \(exposure)\(exposure.hint(path: path).map { "; run: \($0)" } ?? ""), or on a stick without modes mount it with umask=077"
      )
    }
    let (name, expected) = try named(invocation, path, backup, store)
    let roles = store.roles(of: backup.id)
    let isRight = expected == backup.publicKey
    KeyOptions.report(backup.publicKey, name: name, output)
    output.report("matches", .bool(isRight))
    output.report("roles", .array(roles.map { .string($0.rawValue) }))
    output.line("\(path) opens.")
    output.line("  key id       \(backup.id)")
    output.line("  fingerprint  \(KeyFingerprint(backup.id).description)")
    guard isRight else {
      output.show(
        Failure(
          .found, "the backup is another key than \(name)", expected: Key(expected).id.description, found: backup.id.description, at: path,
          hint: "look for the right backup of \(name)"))
      return .found
    }
    if let root = store.retiredAfter(backup.id) {
      output.show(Failure(.found, "the backup is the key \(name), which was retired: root \(root) was the last to list it", at: path))
      return .found
    }
    guard !roles.isEmpty else {
      output.line("It is the key \(name), which no root lists yet.", style: .good)
      return .done
    }
    output.line("It is the key \(name), which signs \(roles.map(\.rawValue).joined(separator: ", ")).", style: .good)
    return .done
  }

  /// Which key it should be, and that one's public half. Of a file that may be damaged, nothing is repeated but the name of a key that is there.
  private static func named(
    _ invocation: Invocation, _ path: String, _ backup: KeyBackup, _ store: KeyStore
  ) throws -> (String, Ed25519PublicKey) {
    if let given = invocation.value(name.name) { return (given, try store.publicKey(named: given)) }
    guard let own = backup.name else { throw Failure(.usage, "\(path) does not say which key it is", expected: "\(name.name) NAME") }
    do { return (own, try store.publicKey(named: own)) } catch {
      switch error {
      case .keyName, .noSuchKey:
        throw Failure(
          .key, "no key in keys has the name that stands in \(path)", expected: "the name of a key in keys",
          hint: "say which key it should be, with \(name.name) NAME")
      default: throw error
      }
    }
  }
}
