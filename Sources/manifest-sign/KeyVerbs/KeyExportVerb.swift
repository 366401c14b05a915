internal import CommandLineSupport
internal import Digests
internal import FileIO
internal import ManifestSigning
internal import TUFMetadata

enum KeyExportVerb {
  private static let format = Option.value(
    "--format", "FORM", "pem, minisign or tuf.", kind: .choice(PublicKeyExport.Form.allCases.map(\.rawValue)),
    default: PublicKeyExport.Form.pem.rawValue)
  private static let file = Option.value("--output", "FILE", "Write to a new file instead of the standard output.")
  private static let keyNumber = Option.value(
    "--key-number", "HEX", "With minisign: the number of the key, 16 digits; the first ones of the key id unless told otherwise.")

  static let verb = Verb(
    "key export", "Print the public half of a key for other programs.",
    arguments: [KeyOptions.name],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, format, file, keyNumber] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict],
    discussion: [
      "Only public halves leave: no verb prints or exports a secret key. Copy secrets/NAME.key to keep a backup.",
      "Where keys/NAME.pem is missing and secrets/NAME.key is there, as after a crash, that is opened and keys/NAME.pem is written anew. Only then is a "
        + "passphrase needed.",
    ],
    exitCodes: [.disk, .key],
    examples: [
      .init("manifest-sign key export root-1 --format tuf", "as root.json lists it"),
      .init("manifest-sign key export release --format minisign --output minisign.pub", "for minisign -V"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let name = invocation.required(KeyOptions.name.name)
    let store = try KeyOptions.store(RepositoryOptions.layout(invocation))
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let key: Ed25519PublicKey
    if let restored = try store.restorePublicHalf(of: name, passphrases, notice: observer.notice) {
      output.note("keys/\(name).pem was missing, and is written anew")
      key = restored
    } else {
      key = try store.publicKey(named: name)
    }
    let form = PublicKeyExport.Form(rawValue: invocation.required(format.name)) ?? .pem
    var number: [UInt8]?
    if let text = invocation.value(keyNumber.name) {
      do {
        number = try Hexadecimal.decode(Array(text.utf8).span, byteCount: PublicKeyExport.minisignKeyNumberByteCount)
      } catch {
        throw Failure(.usage, "\(keyNumber.name) is no key number", expected: "16 lower-case hexadecimal digits", found: "\"\(text)\"")
      }
      guard form == .minisign else { throw Failure(.usage, "\(keyNumber.name) belongs to \(format.name) minisign") }
    }
    let text = PublicKeyExport.text(key, as: form, name: name, minisignKeyNumber: number)
    if let path = invocation.value(file.name) {
      do throws(FileError) { try createFile(at: path, with: Array(text.utf8)) } catch { throw SigningError.file(error) }
      output.line("Wrote \(path).", style: .good)
    } else {
      for line in text.split(separator: "\n") { output.line("\(String(line))") }
    }
    KeyOptions.report(key, name: name, output)
    output.report("format", .string(form.rawValue))
    output.report("text", .string(text))
    return .done
  }
}
