internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import HTTPTransport
internal import ManifestVerifier
internal import ModelInstaller
internal import TUFMetadata
internal import TrustStore

/// One refresh of the device's trust, as every verb begins that fetches something.
struct DeviceRefresh {
  let manifest: TrustedManifest
  /// The roles of which something was kept.
  let changed: Set<TopLevelRole>
  /// What was kept before.
  let stored: StoredMetadata
  /// The newest root before.
  let oldRoot: Version
  let now: UTCTime

  /// - Parameter then: what is done while the state is still locked, with the same mirrors.
  @discardableResult
  init(
    _ invocation: Invocation, over network: HTTPTransport,
    then: (DeviceRefresh, inout MetadataMirrors<HTTPTransport>, inout TrustStore) throws -> Void
  ) throws {
    var mirrors = MetadataMirrors(
      try MirrorOptions.mirrors(MirrorOptions.metadata, invocation, remembered: \.metadata), over: network)
    let now = try ReportTime.now()
    var store = try TrustStore(DeviceState.folder(invocation))
    let (anchor, stored) = (try DeviceState.anchor(invocation, store), try store.metadata())
    let (oldRoot, workflow) = try DeviceState.explaining(invocation) { () throws(VerificationError) in
      (
        try TrustedManifest.newestRoot(anchor: anchor, stored: stored).payload.version,
        try ClientWorkflow(anchor: anchor, stored: stored, now: now)
      )
    }
    (manifest, changed) = try mirrors.refresh(workflow, keepingIn: &store)
    (self.stored, self.oldRoot, self.now) = (stored, oldRoot, now)
    try then(self, &mirrors, &store)
  }
}
