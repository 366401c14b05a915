internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum RefreshVerb {
  private static let dryRun = Option.flag("--dry-run", "Tell what would be signed again, and sign nothing.")

  static let verb = Verb(
    "refresh", "Sign again what is in its renewal window; for a scheduled job.",
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, dryRun] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict],
    discussion: [
      "The renewal window is the last third of a lifetime. Whatever is in it, or has expired, and whose keys are at hand, is signed again with the same "
        + "content, and with it what names it: targets, then snapshot, then timestamp. Where nothing is due, nothing is written, so it can run as often "
        + "as you like.",
      "Where a key is missing, the rest is done, and the exit code is 17. What waits for signatures in a ceremony is left alone.",
      RepositoryOptions.passphraseText,
      "SOURCE_DATE_EPOCH sets the time of signing.",
    ],
    exitCodes: [.signature, .disk, .locked, .malformed, .key],
    examples: [.init("manifest-sign refresh --dry-run", "what is due")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let layout = RepositoryOptions.layout(invocation)
    let repository = try Repository(layout)
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let keys = try SigningKeys(layout, passphrases, notice: observer.notice)
    let rehearses = invocation.flag(dryRun.name)
    let report = try repository.refresh(with: keys, rehearses: rehearses, now: ReleaseClock.signingTime())
    if report.due.isEmpty { output.line("Nothing is due.", style: .good) }
    func words(_ due: RefreshReport.Due) -> String {
      let what =
        if !due.missing.isEmpty {
          "not signed, keys are missing: \(due.missing.map(keys.name).joined(separator: ", "))"
        } else if due.isPending {
          "waits for signatures already"
        } else {
          rehearses ? "would be signed again" : "was due"
        }
      return "valid until \(due.expires): \(what)"
    }
    for group in RoleGroups.of(report.due, role: \.role, said: words) {
      if let first = group.first { output.line("\(RoleGroups.name(group.map(\.role))), \(words(first))") }
    }
    if let publication = report.publication { CeremonyOutput.show(publication, output) }
    output.report(
      "due",
      .array(
        report.due.map {
          [
            "role": .string($0.role.name.description), "expires": .string($0.expires.description), "pending": .bool($0.isPending),
            "missing": .array($0.missing.map { .string(keys.name(of: $0)) }),
          ]
        }))
    output.report("published", report.publication.map(CeremonyOutput.json) ?? .null)
    guard let first = report.missing.first else { return .done }
    throw Failure(
      .key, "\(RoleGroups.list(report.missing.map(\.role))) \(report.missing.count == 1 ? "is" : "are") due and can't be signed here",
      found: "missing: \(Set(report.missing.flatMap(\.missing)).map(keys.name).sorted().joined(separator: ", "))",
      hint: first.role == .root
        ? "begin a ceremony: manifest-sign propose --renew"
        : "run manifest-sign refresh where the keys are, or name their folder with --secrets")
  }
}
