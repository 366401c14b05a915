internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import HTTPTransport
internal import ManifestVerifier
internal import ModelInstaller
internal import TUFMetadata
internal import TrustStore

enum RefreshVerb {
  static let verb = Verb(
    "refresh", "Fetch newer metadata, as far as it can be trusted.",
    options: [DeviceState.state, MirrorOptions.metadata, DeviceState.root] + Network.options,
    discussion: [
      "Walks the chain of roots, then verifies timestamp, snapshot and targets (The Update Framework 1.0.34, section 5). Each file is kept as soon as "
        + "it is verified, so that trust never goes back. What can't be trusted is refused, and what was trusted stays so.",
      "Where a mirror fails, or serves what can't be trusted, the next one is asked. That there is no newer root must be said by every mirror: one "
        + "that can't be reached may have it.",
      "Expiry is held against the clock of this machine.",
      Network.discussion, MirrorOptions.discussion,
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .network, .disk, .locked, .malformed],
    examples: [.init("manifest-install refresh --state trust --metadata-url https://example.org/metadata", "from a web server")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    try DeviceRefresh(invocation, over: Network.transport(invocation)) { refresh, _, _ in
      RefreshReport.show(refresh.manifest, changed: refresh.changed, since: refresh.stored, oldRoot: refresh.oldRoot, refresh.now, output)
    }
    return .done
  }
}
