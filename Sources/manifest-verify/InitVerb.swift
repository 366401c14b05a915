internal import CommandLineSupport
internal import DeviceCommands

enum InitVerb {
  static let verb = Verb(
    "init", TrustBeginning.summary,
    arguments: [TrustBeginning.root],
    options: [DeviceState.state],
    discussion: TrustBeginning.discussion,
    exitCodes: TrustBeginning.exitCodes,
    examples: [.init("manifest-verify init --state trust 1.root.json", "trust what the keys in 1.root.json sign")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let state = DeviceState.words(DeviceState.state, invocation)
    try TrustBeginning.run(invocation, output, next: "manifest-verify refresh\(state) --metadata DIR")
    return .done
  }
}
