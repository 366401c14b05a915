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
        + "it is verified, so that trust never goes back. What can't be trusted is refused and not kept. Where keys were rotated, check and list go on with what was kept before "
        + "until the refresh has succeeded, unless the targets key is among them.",
      "Every delegated role is taken over as well. One that can't be trusted is left as it was kept before, the others are taken over, and the "
        + "command fails.",
      "Expiry is held against the clock of this machine. A clock that says a time more than a day before the newest refresh that succeeded is "
        + "refused. If the clock was ahead then, wait until that time, or begin anew in another folder.",
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .locked, .malformed],
    examples: [.init("manifest-verify refresh --state trust --metadata manifests/metadata", "from a folder that was copied or mounted")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let folder = try FolderLocation.path(of: invocation.required(metadata.name), option: metadata.name)
    try requireFolder(folder)
    let now = try ReportTime.now()
    var store = try TrustStore(DeviceState.folder(invocation))
    let beginning = try DeviceState.beginRefresh(invocation, store, at: now)
    let (manifest, changed, replaced) = try refresh(beginning.workflow, from: folder, keepingIn: &store)
    try DeviceState.tellRepairs(replaced, in: &store, output)
    let source = MetadataFolder(folder)
    let delegated = try DelegatedRefresh(over: manifest, at: now, keepingIn: &store, output) { request, walk in
      guard let bytes = try source.read(request) else {
        throw VerificationError.unavailable(role: request.role.name, urlPath: request.urlPath)
      }
      return try walk.supply(bytes)
    }
    RefreshReport.show(manifest, changed: changed, since: beginning.stored, oldRoot: beginning.oldRoot, now, output)
    delegated.report(changed: !changed.isEmpty, output)
    guard let refusal = delegated.refusals.first else { return .done }
    var failure = DeviceState.failure(of: delegated.refusals, first: refusal, invocation)
    if case .unavailable = refusal.error { failure.code = .disk }
    failure.place = folder
    throw failure
  }

  private static func requireFolder(_ path: String) throws {
    let status = try FileError.describing(.open, path) { () throws(Errno) in try FileSystem.status(of: path, followingLinks: true) }
    guard status.kind == .directory else {
      throw Failure(.disk, "\(path) is not a folder", expected: "the folder of published metadata", found: "a \(status.kind.rawValue)")
    }
  }

  private static func refresh(
    _ workflow: ClientWorkflow, from path: String, keepingIn store: inout TrustStore
  ) throws -> (manifest: TrustedManifest, roles: Set<TopLevelRole>, replaced: Set<TopLevelRole>) {
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
          case .metadata(.delegated, _, _), .supersedeTimestampAndSnapshot, .refreshed: break
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
    return (manifest, roles, workflow.replaced)
  }
}
