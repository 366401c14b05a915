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
    _ = try refresh(invocation, over: Network.transport(invocation)) { manifest, changed, stored, oldRoot, now in
      RefreshReport.show(manifest, changed: changed, since: stored, oldRoot: oldRoot, now, output)
    }
    return .done
  }

  /// Refreshes, holding the state's lock meanwhile.
  /// - Returns: what is trusted now.
  static func refresh(
    _ invocation: Invocation, over network: HTTPTransport,
    report: (TrustedManifest, Set<TopLevelRole>, StoredMetadata, _ oldRoot: Version, _ now: UTCTime) -> Void
  ) throws -> TrustedManifest {
    let mirrors = try MirrorOptions.mirrors(MirrorOptions.metadata, invocation, remembered: \.metadata)
    let now = try ReportTime.now()
    var store = try TrustStore(DeviceState.folder(invocation))
    let (anchor, stored) = (try DeviceState.anchor(invocation, store), try store.metadata())
    let (oldRoot, workflow) = try DeviceState.explaining(invocation) { () throws(VerificationError) in
      (
        try TrustedManifest.newestRoot(anchor: anchor, stored: stored).payload.version,
        try ClientWorkflow(anchor: anchor, stored: stored, now: now)
      )
    }
    var source = MetadataMirrors(mirrors, over: network)
    let (manifest, changed) = try source.refresh(workflow, keepingIn: &store)
    report(manifest, changed, stored, oldRoot, now)
    return manifest
  }
}
