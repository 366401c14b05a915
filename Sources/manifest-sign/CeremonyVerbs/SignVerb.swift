internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum SignVerb {
  private static let files = Argument("FILE", "Metadata that was signed on another machine, or is handed over to be signed.", .any)
  private static let yes = Option.flag("--yes", "Sign without asking.")

  static let verb = Verb(
    "sign", "Add your signatures to what is proposed; publish it when all thresholds are met.",
    arguments: [files],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, CeremonyOutput.trustedRoot, yes] + RepositoryOptions.passphrases,
    conflicts: [RepositoryOptions.passphraseConflict],
    discussion: [
      "Shows in words what the proposal changes, against the root that you trust yourself and against what is published, asks, and signs with every "
        + "key that is at hand: files in secrets, tokens and services. It works for every role: root, targets, teams, snapshot and timestamp.",
      "FILE brings signatures from other machines, in any order. A signature by a key that may not sign, or over other bytes than those that wait here, "
        + "refuses the file. Where nothing waits here, FILE is the proposal.",
      "A root needs the threshold of the old root and of the new one. Once every threshold is met, the new root and whatever its keys had to sign "
        + "again become visible at once.",
      RepositoryOptions.passphraseText,
      "SOURCE_DATE_EPOCH sets the time from which expiries of snapshot and timestamp are counted.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .locked, .malformed, .key],
    examples: [
      .init("manifest-sign sign", "sign what waits in pending"),
      .init("manifest-sign sign usb/root.json --yes", "take the signatures that somebody else made, and publish if that was the last one"),
    ],
    run: run)

  /// Tells what a command has published that broke off right after: nothing of it waits any more.
  private static func isFinished(_ ceremony: Ceremony, _ output: Output) -> Bool {
    guard ceremony.pending.isEmpty, !ceremony.finished.isEmpty else { return false }
    let roles = RoleGroups.list(ceremony.finished.map(\.role))
    output.line("All that waited was published before the last command broke off: \(roles). Nothing is left to sign.", style: .good)
    output.report("signed", .object([]))
    output.report("published", .object(ceremony.finished.map { .init($0.role.name.description, .integer($0.version.number)) }))
    output.report("waiting", .array([]))
    return true
  }

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let layout = RepositoryOptions.layout(invocation)
    let repository = try Repository(layout)
    let root = try TrustedRoot(layout, path: invocation.value(CeremonyOutput.trustedRoot.name))
    let now = try ReleaseClock.signingTime()
    let paths = invocation.values(files.name)
    if paths.isEmpty, try isFinished(repository.ceremony(), output) { return .done }
    let review = try repository.review(files: paths, trusting: root, now: now)
    CeremonyOutput.show(review, output)
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    let keys = try SigningKeys(layout, passphrases, notice: observer.notice)
    let own = review.ceremony.signable(with: keys)
    if !own.isEmpty, !invocation.flag(yes.name) {
      guard try Prompt.confirm("Sign \(RoleGroups.list(own))?", insteadOf: yes.name) else {
        throw Failure(.interrupted, "not signed", hint: "nothing was changed; drop the proposal with manifest-sign propose --abandon")
      }
    }
    let names = try KeyNames(layout)
    for added in review.added {
      output.line(
        added.signers.isEmpty
          ? "\(added.role.name): no signature that is new here."
          : "\(added.role.name): took the signatures of \(names.list(added.signers)).")
    }
    let report = try repository.sign(review, with: keys, now: now)
    try CeremonyOutput.show(report, layout, output)
    let isUseless = report.signed.isEmpty && report.publication == nil && review.added.allSatisfy { $0.signers.isEmpty && !$0.isAdopted }
    guard !isUseless else {
      throw Failure(
        .key, "no key at hand can add a signature to what waits", hint: "name the folder of your keys with --secrets, or hand the files on")
    }
    return .done
  }
}
