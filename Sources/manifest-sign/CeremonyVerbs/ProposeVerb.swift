internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum ProposeVerb {
  private static let abandon = Option.flag("--abandon", "Drop what waits for signatures.")

  static let verb = Verb(
    "propose", "Propose the next root, or another delegation to a team, for others to sign.",
    options: [RepositoryOptions.repository, RepositoryOptions.secrets] + EditOptions.all + [CeremonyOutput.allowShared, abandon],
    conflicts: EditOptions.all.map { [$0.name, abandon.name] },
    discussion: [
      "ROLE is root, targets, snapshot, timestamp, or a team. KEY is the name of a public key in keys, or for a key that goes, the beginning of its id. "
        + "Several edits make one proposal, applied in the order of this list of options, and for each option in the order given.",
      "The proposal waits in pending, outside of what is served, with whatever has to be signed again because its keys change. Everybody concerned adds "
        + "a signature with sign; the last one publishes.",
      "Refused is what would strand devices: a threshold above the number of keys, a role without keys, a key in two roles without --allow-shared, a "
        + "key that was retired. What is fragile is warned of.",
      "A team signs its own list of files, below targets: devices look there for the paths that it is trusted with. * and ? do not cross a /.",
      "SOURCE_DATE_EPOCH sets the time from which expiries are counted.",
    ],
    exitCodes: [.disk, .locked, .malformed, .key],
    examples: [
      .init("manifest-sign propose --replace-key root=root-1,root-4", "exchange one root key"),
      .init("manifest-sign propose --add-key targets=targets-2 --threshold targets=2", "two people sign the catalog from now on"),
      .init(
        "manifest-sign propose --add-team speech --add-path 'speech=snakers4/*/*/*' --add-key speech=speech-1",
        "hand the models of one organisation to a team"),
      .init("manifest-sign propose --renew", "the same root with a new expiry, a year on"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let layout = RepositoryOptions.layout(invocation)
    let repository = try Repository(layout)
    if invocation.flag(abandon.name) {
      let dropped = try repository.abandon()
      output.line(dropped.isEmpty ? "Nothing waited." : "Dropped \(dropped.joined(separator: ", ")).")
      output.report("dropped", .array(dropped.map(JSONResult.string)))
      return .done
    }
    let edits = try EditOptions.edits(invocation, layout, repository.ceremony())
    let review = try repository.propose(
      edits, allowsShared: invocation.flag(CeremonyOutput.allowShared.name), now: ReleaseClock.signingTime())
    CeremonyOutput.show(review, output)
    try CeremonyOutput.show(review.ceremony.waiting, layout, output)
    output.report("waiting", CeremonyOutput.json(review.ceremony.waiting))
    output.line("Next: manifest-sign sign, here and wherever the other keys are; hand on keys, manifests and pending.")
    return .done
  }
}
