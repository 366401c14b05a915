package import CommandLineSupport
package import ManifestVerifier
package import TUFMetadata

/// What a refresh changed, as each command of the device tells it.
package enum RefreshReport {
  /// The versions before the refresh of the roles that changed in it.
  private static func oldVersions(_ stored: StoredMetadata, root: Version, _ changed: Set<TopLevelRole>) -> [TopLevelRole: Version?] {
    var versions: [TopLevelRole: Version?] = [:]
    for role in changed {
      let version: Version? =
        switch role {
        case .root: root
        case .timestamp: version(stored.timestamp, Timestamp.self)
        case .snapshot: version(stored.snapshot, Snapshot.self)
        case .targets: version(stored.targets, Targets.self)
        }
      versions.updateValue(version, forKey: role)
    }
    return versions
  }

  private static func version<Payload: ReadableRolePayload>(_ bytes: [UInt8]?, _: Payload.Type) -> Version? {
    // What can't be read was replaced, and its version is not known.
    bytes.flatMap { try? UnverifiedMetadata<Payload>(parsing: $0).payload.version }
  }

  /// - Parameters:
  ///   - changed: the roles of which something was kept.
  ///   - stored: what was kept before the refresh.
  ///   - oldRoot: the newest root before the refresh.
  package static func show(
    _ manifest: TrustedManifest, changed: Set<TopLevelRole>, since stored: StoredMetadata, oldRoot: Version, _ now: UTCTime,
    _ output: Output
  ) {
    let old = oldVersions(stored, root: oldRoot, changed)
    var table = Table([("ROLE", .left), ("VERSION", .left), ("EXPIRES", .left), ("WHEN", .left)])
    var roles: [JSONResult.Member] = []
    for (role, version, expires) in manifest.roles {
      let from: Version? = old[role] ?? version
      let words = from == version ? "\(version)" : "\(from.map(\.description) ?? "none") → \(version)"
      table.append(["\(role.rawValue)", "\(words)", "\(expires)", "\(DeviceState.words(expires, now))"])
      let members: JSONResult = [
        "from": from.map { .integer($0.number) } ?? .null, "version": .integer(version.number),
        "expires": .string(expires.description), "seconds_left": .integer(expires.secondsSince1970 - now.secondsSince1970),
      ]
      roles.append(.init(role.rawValue, members))
    }
    output.table(table)
    let count = manifest.targets.payload.count
    let isDelegating = manifest.targets.payload.delegations.map { !$0.roles.isEmpty } ?? false
    let files = HumanReadable.files(count) + (isDelegating ? " of the targets role itself, and those of delegated roles" : "")
    output.line(old.isEmpty ? "Nothing changed. Trusted: \(files)." : "Trusted now: \(files).", style: .good)
    output.report("changed", .bool(!old.isEmpty))
    output.report("roles", .object(roles))
    output.report("files", .count(count))
  }
}
