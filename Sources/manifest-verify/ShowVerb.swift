internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import Digests
internal import ManifestVerifier
internal import TUFMetadata
internal import TrustStore

enum ShowVerb {
  private static let path = Argument("PATH", "A file of the manifest. Without it: the four roles and the root keys.", .optional)

  static let verb = Verb(
    "show", "Tell what is trusted: the four roles, or one file.",
    arguments: [path],
    options: [DeviceState.state, DeviceState.root, ReportTime.option],
    exitCodes: [.signature, .expiredOrRolledBack, .fileMismatch, .disk, .locked, .malformed],
    examples: [
      .init("manifest-verify show --state trust", "versions, expiries and signatures"),
      .init("manifest-verify show --state trust org/name/1.0/weights.gguf", "length and digests of one file"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let now = try ReportTime.of(invocation)
    if let text = invocation.value(path.name) {
      try show(text, invocation, now, output)
    } else {
      try showRoles(invocation, now, output)
    }
    return .done
  }

  private static func show(_ text: String, _ invocation: Invocation, _ now: UTCTime, _ output: Output) throws {
    let path: TargetPath
    do { path = try TargetPath(text) } catch {
      var failure = Failure(.fileMismatch, "no file of a manifest can have this path")
      (failure.expected, failure.found, _) = Failure.details(of: error)
      throw failure
    }
    var lookup: KeptManifest.Lookup?
    let kept = try DeviceState.kept(invocation, at: now, output) { kept, read throws(VerificationError) in
      lookup = try kept.find(path, read)
    }
    DeviceState.warnOfExpiry(kept.expired(at: now, visiting: lookup?.visited ?? []), at: now, invocation, output)
    guard let finding = lookup?.finding else { throw VerificationError.notListed(path: path) }
    let file = finding.file
    output.line("\(path)", style: .heading)
    output.line("length    \(HumanReadable.exactBytes(file.byteCount))")
    output.line("sha256    \(file.hashes.sha256)")
    if let sha512 = file.hashes.sha512 { output.line("sha512    \(sha512)") }
    if let fsverity = file.fsverity { output.line("fsverity  \(fsverity)") }
    for (delegator, link) in zip(finding.chain, finding.chain.dropFirst()) {
      output.line("listed by \(link.role.name), which \(delegator.role.name) delegates to")
    }
    output.report("file", ListVerb.json(path, file))
    output.report("roles", .array(finding.chain.map { .string($0.role.name.description) }))
  }

  // MARK: Roles

  /// One role as it is shown.
  private struct Row {
    let role: TopLevelRole
    let version: Version
    let expires: UTCTime
    let signers: [KeyID]
    let keys: RoleKeys

    init<Payload: ReadableRolePayload>(_ trusted: Trusted<Payload>) {
      role = Payload.role
      version = trusted.payload.version
      expires = trusted.payload.expires
      signers = trusted.signers
      keys = trusted.keys
    }
  }

  private static func showRoles(_ invocation: Invocation, _ now: UTCTime, _ output: Output) throws {
    let store = try TrustReader(DeviceState.folder(invocation))
    let (anchor, stored) = (try DeviceState.anchor(invocation, store), try store.metadata())
    let root = try DeviceState.explaining(invocation) { () throws(VerificationError) in
      try TrustedManifest.newestRoot(anchor: anchor, stored: stored)
    }
    var rows = [Row(root)]
    var count: Int?
    var delegated = 0
    if stored.timestamp != nil || stored.snapshot != nil || stored.targets != nil {
      let manifest = try DeviceState.explaining(invocation) { () throws(VerificationError) in
        try TrustedManifest(anchor: anchor, stored: stored)
      }
      try DeviceState.judgeClock(stored, now, output)
      DeviceState.warnOfExpiry(manifest.expired(at: now).map { (.topLevel($0.role), $0.since) }, at: now, invocation, output)
      rows += [Row(manifest.timestamp), Row(manifest.snapshot), Row(manifest.targets)]
      count = manifest.targets.payload.count
      delegated = manifest.targets.payload.delegations?.roles.count ?? 0
    }
    var table = Table([("ROLE", .left), ("VERSION", .right), ("EXPIRES", .left), ("WHEN", .left), ("SIGNED BY", .left)])
    for row in rows {
      table.append([
        "\(row.role.rawValue)", "\(row.version)", "\(row.expires)", "\(DeviceState.words(row.expires, now))",
        "\(row.signers.count) of \(row.keys.keyIDs.count) keys, \(row.keys.threshold) needed",
      ])
    }
    output.table(table)
    output.line("Root keys, of which \(root.keys.threshold) must sign:")
    for key in root.keys.keyIDs { output.line("  \(key)\(root.signers.contains(key) ? "  signed" : "")") }
    if let count {
      let more = delegated == 0 ? "" : ", and those of the \(HumanReadable.grouped(delegated)) roles that targets delegates to"
      output.line("\(HumanReadable.files(count)) \(count == 1 ? "is" : "are") trusted\(more).")
    } else {
      output.line("No files are trusted yet. Next: \(DeviceState.refreshCommand(invocation))")
    }
    output.report("newest_refresh", .optional(stored.newestRefresh?.description))
    output.report("time", .string(now.description))
    output.report("roles", .object(rows.map { .init($0.role.rawValue, json($0, now)) }))
    output.report("files", count.map { .count($0) } ?? .null)
  }

  private static func json(_ row: Row, _ now: UTCTime) -> JSONResult {
    [
      "version": .integer(row.version.number), "expires": .string(row.expires.description),
      "seconds_left": .integer(row.expires.secondsSince1970 - now.secondsSince1970), "threshold": .count(row.keys.threshold),
      "keys": .array(row.keys.keyIDs.map { .string($0.description) }), "signers": .array(row.signers.map { .string($0.description) }),
    ]
  }
}
