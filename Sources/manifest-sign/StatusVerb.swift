internal import CommandFailures
internal import CommandLineSupport
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

enum StatusVerb {
  static let verb = Verb(
    "status", "Tell each role's version, expiry, keys and threshold.",
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, ReportTime.option],
    discussion: ["Metadata is due for renewal in the last third of its lifetime. A key that is at hand has its secret half in secrets."],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .malformed, .key],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    try ProcessHardening.apply()
    let layout = RepositoryOptions.layout(invocation)
    let now = try ReportTime.of(invocation)
    let status = try RepositoryStatus(layout, at: now)
    var table = Table([("ROLE", .left), ("VERSION", .right), ("EXPIRES", .left), ("STATE", .left), ("MUST SIGN", .left), ("KEYS", .left)])
    for role in status.roles {
      table.append([
        "\(role.role)", "\(role.version.map(\.description) ?? "-")", "\(role.expires.map(\.description) ?? "-")", "\(words(role, now))",
        "\(role.threshold) of \(role.keys.count)", "\(role.keys.map(words).joined(separator: ", "))",
      ])
    }
    output.table(table)
    if status.targetCount == nil { output.line("Nothing is published yet. Next: manifest-sign publish DIR") }
    output.report("time", .string(now.description))
    output.report("targets", status.targetCount.map { .count($0) } ?? .null)
    output.report("roles", .object(status.roles.map { .init($0.role.rawValue, json($0, now)) }))
    let expired = status.roles.filter { $0.expires.map { $0 <= now } ?? false }
    guard expired.isEmpty else {
      output.warning("\(expired.map(\.role.rawValue).joined(separator: ", ")) expired: devices can't refresh until it is signed again")
      return .expiredOrRolledBack
    }
    return .done
  }

  private static func words(_ role: RepositoryStatus.Role, _ now: UTCTime) -> String {
    guard let expires = role.expires else { return "not published" }
    let days = HumanReadable.relative(expires.secondsSince1970, to: now.secondsSince1970)
    return expires <= now ? "expired \(days)" : role.isDue ? "due, expires \(days)" : "expires \(days)"
  }

  private static func words(_ key: RepositoryStatus.HeldKey) -> String {
    let holder = key.holder.map { " (\($0))" } ?? ""
    return key.name + holder + (key.isAtHand ? "" : ", not at hand")
  }

  private static func json(_ role: RepositoryStatus.Role, _ now: UTCTime) -> JSONResult {
    [
      "version": role.version.map { .integer($0.number) } ?? .null,
      "expires": .optional(role.expires?.description),
      "seconds_left": role.expires.map { .integer($0.secondsSince1970 - now.secondsSince1970) } ?? .null,
      "due": .bool(role.isDue),
      "threshold": .count(role.threshold),
      "keys": .array(
        role.keys.map {
          ["id": .string($0.id.description), "name": .string($0.name), "holder": .optional($0.holder), "at_hand": .bool($0.isAtHand)]
        }),
    ]
  }
}
