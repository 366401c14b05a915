internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import HTTPTransport
internal import ManifestVerifier
internal import ModelInstaller
internal import TUFMetadata
internal import TrustStore

enum RefreshVerb {
  private static let withoutDelegated = Option.flag(
    "--without-delegated",
    "Leave delegated roles alone: where there are thousands of them and few files are wanted. get fetches those that it needs.")

  static let verb = Verb(
    "refresh", "Fetch newer metadata, as far as it can be trusted.",
    options: [DeviceState.state, MirrorOptions.metadata, withoutDelegated, DeviceState.root] + Network.options,
    discussion: [
      "Walks the chain of roots, then verifies timestamp, snapshot and targets (The Update Framework 1.0.34, section 5). Each file is kept as soon as "
        + "it is verified, so that trust never goes back. What can't be trusted is refused and not kept. Where keys were rotated, check and list go on with what was kept before "
        + "until the refresh has succeeded, unless the targets key is among them.",
      "Every delegated role is taken over as well, so that check, list and explain need no network afterwards; of these only what has changed is "
        + "fetched. One that can't be trusted is left as it was kept before, the others are taken over, and the command fails.",
      "Where a mirror fails, or serves what can't be trusted, the next one is asked, and each failure is told. Where what a timestamp names can't be had from "
        + "any mirror, the next mirror's own timestamp is asked for. That there is no newer root must be said by every mirror: one "
        + "that fails may have it, and the refresh fails then. Leave such a mirror out by giving --metadata-url for each of the others.",
      "Other processes may check files meanwhile; a second refresh waits for this one, ten seconds at most.",
      "Expiry is held against the clock of this machine.",
      Network.discussion, MirrorOptions.discussion,
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .network, .disk, .locked, .malformed],
    examples: [.init("manifest-install refresh --state trust --metadata-url https://example.org/metadata", "from a web server")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let wantsDelegated = !invocation.flag(withoutDelegated.name)
    var delegated: DelegatedRefresh?
    let refresh = try DeviceRefresh(invocation, over: Network.transport(invocation), output) { refresh, mirrors, store in
      guard wantsDelegated else { return true }
      let walk = try DelegatedRefresh(over: refresh.manifest, at: refresh.now, after: delegated, keepingIn: &store, output) {
        request, walk in
        try mirrors.answer(request, of: &walk)
      }
      delegated = walk
      return walk.refusals.isEmpty
    }
    RefreshReport.show(refresh.manifest, changed: refresh.changed, since: refresh.stored, oldRoot: refresh.oldRoot, refresh.now, output)
    delegated?.report(changed: !refresh.changed.isEmpty, output)
    guard let refusals = delegated?.refusals, let refusal = refusals.first else { return .done }
    throw DeviceState.failure(of: refusals, first: refusal, invocation)
  }
}
