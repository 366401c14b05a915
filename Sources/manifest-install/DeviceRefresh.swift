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

  /// - Parameter then: what is done before another process may refresh, with the same mirrors.
  @discardableResult
  init(
    _ invocation: Invocation, over network: HTTPTransport, _ output: Output,
    then: (DeviceRefresh, inout MetadataMirrors<HTTPTransport>, inout TrustStore) throws -> Void
  ) throws {
    var mirrors = MetadataMirrors(
      try MirrorOptions.mirrors(MirrorOptions.metadata, invocation, remembered: \.metadata), over: network)
    let now = try ReportTime.now()
    var store = try TrustStore(DeviceState.folder(invocation))
    let beginning = try DeviceState.beginRefresh(invocation, store, at: now)
    let replaced: Set<TopLevelRole>
    (manifest, changed, replaced) = try mirrors.refresh(beginning.workflow, keepingIn: &store)
    try DeviceState.tellRepairs(replaced, in: &store, output)
    (stored, oldRoot, self.now) = (beginning.stored, beginning.oldRoot, now)
    try then(self, &mirrors, &store)
  }
}
