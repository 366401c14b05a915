internal import CommandLineSupport

/// The device side, with a network: trust, and what is fetched from there.
@main
struct Main {
  static func main() {
    let command = Command(
      name: "manifest-install", version: ToolVersion.current,
      summary: "Fetches AI model files that a signed manifest lists, which is metadata of The Update Framework.",
      verbs: [
        InitVerb.verb, RefreshVerb.verb, GetVerb.verb, InstallVerb.verb, ListVerb.verb, RollbackVerb.verb, RepairVerb.verb, PruneVerb.verb,
      ],
      explain: { error in Failure(explainingInstallation: error) })
    command.main()
  }
}
