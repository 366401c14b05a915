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
  private(set) var manifest: TrustedManifest
  /// The roles of which something was kept.
  private(set) var changed: Set<TopLevelRole>
  /// What was kept before.
  let stored: StoredMetadata
  /// The newest root before.
  let oldRoot: Version
  let now: UTCTime

  /// - Parameter then: what is done before another process may refresh, with the same mirrors; says whether it got all that it needs. Where
  ///   it did not, or fails for what a mirror serves, it is done again with what the next mirror's own timestamp names, if that leads on.
  @discardableResult
  init(
    _ invocation: Invocation, over network: HTTPTransport, _ output: Output,
    then: (DeviceRefresh, inout MetadataMirrors<HTTPTransport>, inout TrustStore) throws -> Bool
  ) throws {
    var mirrors = MetadataMirrors(
      try MirrorOptions.mirrors(MirrorOptions.metadata, invocation, remembered: \.metadata), over: network
    ) { mirror, error in output.warning("the metadata mirror \(mirror.description) did not bring what was asked for: \(error.reason)") }
    let now = try ReportTime.now()
    var store = try TrustStore(DeviceState.folder(invocation))
    let beginning = try DeviceState.beginRefresh(invocation, store, at: now)
    let outcome = try mirrors.refresh(beginning.workflow, keepingIn: &store)
    try DeviceState.tellRepairs(outcome.replaced, in: &store, output)
    (manifest, changed) = (outcome.manifest, outcome.changed)
    (stored, oldRoot, self.now) = (beginning.stored, beginning.oldRoot, now)
    while true {
      var failure: InstallationError?
      do { if try then(self, &mirrors, &store) { return } } catch let error as InstallationError where error.isOfMirror { failure = error }
      guard let further = try mirrors.refreshFurther(keepingIn: &store) else {
        guard let failure else { return }
        throw failure
      }
      (manifest, changed) = (further.manifest, further.changed)
    }
  }
}
