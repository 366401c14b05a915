internal import CommandLineSupport
internal import DeviceCommands
internal import ModelInstaller

enum InitVerb {
  static let verb = Verb(
    "init", TrustBeginning.summary,
    arguments: [TrustBeginning.root],
    options: [DeviceState.state, MirrorOptions.metadata, MirrorOptions.targets],
    discussion: TrustBeginning.discussion + [
      "The URLs are remembered, in the order in which they are given, for the verbs that are given none; new ones replace them. Nothing is fetched.",
      MirrorOptions.discussion,
    ],
    exitCodes: TrustBeginning.exitCodes,
    examples: [
      .init(
        "manifest-install init --state trust --metadata-url https://example.org/metadata --targets-url https://example.org/targets 1.root.json",
        "trust what the keys in 1.root.json sign, and remember where it is published")
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let metadata = try MirrorOptions.checked(MirrorOptions.metadata, invocation)
    let targets = try MirrorOptions.checked(MirrorOptions.targets, invocation)
    let state = DeviceState.words(DeviceState.state, invocation)
    let next: EscapedText = "manifest-install refresh\(state)\(metadata.isEmpty ? " --metadata-url URL" : "")"
    try TrustBeginning.run(invocation, output, next: next) { folder in
      guard !metadata.isEmpty || !targets.isEmpty else { return false }
      // A list that can't be read is replaced: it is only a convenience.
      let former = (try? MirrorList(rememberedIn: folder)) ?? MirrorList()
      let list = MirrorList(
        metadata: metadata.isEmpty ? former.metadata : metadata, targets: targets.isEmpty ? former.targets : targets)
      guard list != former else { return false }
      try list.remember(in: folder)
      return true
    }
    return .done
  }
}
