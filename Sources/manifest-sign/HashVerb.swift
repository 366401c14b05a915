internal import CommandFailures
internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum HashVerb {
  private static let folder = Argument("DIR", "The models on this machine: DIR/<org>/<name>/<version>/files…")
  private static let out = Option.value("--out", "FILE", "The fragment to write.", required: true)
  private static let key = Option.value(
    "--key", "FILE", "The secret key of this machine, secrets/NAME.key of key generate.", required: true)
  private static let part = Option.value(
    "--part", "I/N", "Only the I-th of N parts of the files, counted from 0, where several machines see one folder.")
  private static let days = Option.integer(
    "--days", "N", "How many days the fragment can be published.", in: FragmentHashing.lifetimeBounds, default: 7)

  static let verb = Verb(
    "hash", "Hash models where they lie, for publish --fragment on another machine.",
    arguments: [folder],
    options: [out, key, part, days, .jobs] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict],
    discussion: [
      "Checks formats and hashes as publish does, and writes what it found as targets metadata signed by the key of this machine. Whoever publishes lists "
        + "that key's name in keys/policy.json, and reads none of the files. See Documentation/large-catalogs.md.",
      RepositoryOptions.passphraseText,
    ],
    exitCodes: [.fileMismatch, .disk, .malformed, .key],
    examples: [
      .init("manifest-sign hash models --key hasher/secrets/machine-1.key --out machine-1.json", "what this machine has"),
      .init(
        "manifest-sign hash models --key hasher/secrets/machine-1.key --part 3/16 --out 3.json",
        "the fourth of sixteen parts of a shared folder"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let part = try invocation.value(part.name).map(parsePart)
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let report = try FragmentHashing.run(
      invocation.required(folder.name), part: part, to: invocation.required(out.name), key: invocation.required(key.name),
      passphrases: RepositoryOptions.passphraseSource(invocation, output), now: ReleaseClock.signingTime(),
      days: invocation.requiredInteger(days.name), jobs: invocation.integer(Option.jobs.name), observer: observer)
    observer.finish()
    output.line(
      "Hashed \(HumanReadable.files(report.fileCount)), \(HumanReadable.bytes(report.byteCount)), signed by the key "
        + "\(report.keyID.description); to be published before \(report.expires).", style: .good)
    output.line("Next, where the repository is: manifest-sign publish --fragment \(invocation.required(out.name))")
    output.report("files", .count(report.fileCount))
    output.report("bytes", .integer(report.byteCount))
    output.report("expires", .string(report.expires.description))
    output.report("key_id", .string(report.keyID.description))
    return .done
  }

  private static func parsePart(_ text: String) throws -> FragmentHashing.Part {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let number = numbers[0], let count = numbers[1], let part = FragmentHashing.Part(number: number, of: count)
    else {
      throw Failure(.usage, "\(part.name) \(text) is no part", expected: "I/N, with I from 0 to N - 1", found: "\"\(text)\"")
    }
    return part
  }
}
