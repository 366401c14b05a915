internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata
internal import TrustStore

enum RefreshVerb {
  private static let metadata = Option.value(
    "--metadata", "DIR", "The folder of published metadata, the one that holds 1.root.json; a path or a file: URL.", required: true)

  static let verb = Verb(
    "refresh", "Take over newer metadata from a folder, as far as it can be trusted.",
    options: [DeviceState.state, metadata, DeviceState.root],
    discussion: [
      "Walks the chain of roots, then verifies timestamp, snapshot and targets (The Update Framework 1.0.34, section 5). Each file is kept as soon as "
        + "it is verified, so that trust never goes back. What can't be trusted is refused, and what was trusted stays so.",
      "Expiry is held against the clock of this machine.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .locked, .malformed],
    examples: [.init("manifest-verify refresh --state trust --metadata manifests/metadata", "from a folder that was copied or mounted")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let folder = try FolderLocation.path(of: invocation.required(metadata.name), option: metadata.name)
    try requireFolder(folder)
    let now = try ReportTime.now()
    var store = try TrustStore(DeviceState.folder(invocation))
    let (anchor, stored) = (try DeviceState.anchor(invocation, store), try store.metadata())
    let (oldRoot, workflow) = try DeviceState.explaining(invocation) { () throws(VerificationError) in
      (
        try TrustedManifest.newestRoot(anchor: anchor, stored: stored).payload.version,
        try ClientWorkflow(anchor: anchor, stored: stored, now: now)
      )
    }
    let (manifest, changed) = try refresh(workflow, from: folder, keepingIn: &store)
    RefreshReport.show(manifest, changed: changed, since: stored, oldRoot: oldRoot, now, output)
    return .done
  }

  private static func requireFolder(_ path: String) throws {
    let status = try FileError.describing(.open, path) { () throws(Errno) in try FileSystem.status(of: path, followingLinks: true) }
    guard status.kind == .directory else {
      throw Failure(.disk, "\(path) is not a folder", expected: "the folder of published metadata", found: "a \(status.kind.rawValue)")
    }
  }

  private static func refresh(
    _ workflow: ClientWorkflow, from path: String, keepingIn store: inout TrustStore
  ) throws -> (manifest: TrustedManifest, roles: Set<TopLevelRole>) {
    var workflow = workflow
    var roles: Set<TopLevelRole> = []
    let folder = MetadataFolder(path)
    do {
      while let changes = try workflow.step(from: folder) {
        for change in changes {
          // Durable before the next step, or a crash could make an older state of what has been trusted.
          try store.keep(change)
          switch change {
          case .root: roles.insert(.root)
          case .metadata(.topLevel(let role), _, _): roles.insert(role)
          case .metadata(.delegated, _, _), .discardTimestampAndSnapshot: break
          }
        }
        try Interruption.check()
      }
    } catch VerificationError.unavailable(let role, let urlPath) {
      var failure = Failure(VerificationError.unavailable(role: role, urlPath: urlPath))
      failure.code = .disk
      failure.place = path
      failure.hint = "check that this is the folder of the metadata, the one that holds 1.root.json, and that it is complete"
      throw failure
    }
    guard let manifest = workflow.manifest else { throw VerificationError.neverRefreshed(role: TopLevelRole.timestamp.name) }
    return (manifest, roles)
  }
}
