internal import CommandLineSupport
internal import DeviceCommands

/// The device side, without a network: trust, and what is trusted from there.
@main
struct Main {
  static func main() {
    let command = Command(
      name: "manifest-verify", version: ToolVersion.current,
      summary: "Verifies AI model files against a signed manifest, which is metadata of The Update Framework.",
      verbs: [InitVerb.verb, RefreshVerb.verb, ListVerb.verb, ShowVerb.verb, CheckVerb.verb],
      explain: { error in Failure(explaining: error, program: "manifest-verify") })
    command.main()
  }
}
