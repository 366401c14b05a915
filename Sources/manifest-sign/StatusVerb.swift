internal import CommandFailures
internal import CommandLineSupport
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

enum StatusVerb {
  private static let failWithin = Option.value(
    "--fail-within", "DAYS",
    "End with exit code 19 where something expires within so many days, 14d say, or devices can't use a team or find a model.")

  static let verb = Verb(
    "status", "Tell each role's version, expiry, keys and threshold, and what waits for signatures.",
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, ReportTime.option, failWithin],
    discussion: ["Metadata is due for renewal in the last third of its lifetime. A key that is at hand has its secret half in secrets."],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .malformed, .key, .found],
    examples: [.init("manifest-sign status --fail-within 14d", "a check to run every day")],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let layout = RepositoryOptions.layout(invocation)
    let now = try ReportTime.of(invocation)
    let days = try invocation.value(failWithin.name).map(dayCount)
    let status = try RepositoryStatus(layout, at: now)
    var table = Table([("ROLE", .left), ("VERSION", .right), ("EXPIRES", .left), ("STATE", .left), ("MUST SIGN", .left), ("KEYS", .left)])
    for role in status.roles {
      table.append([
        "\(role.role.name)", "\(role.version.map(\.description) ?? "-")", "\(role.expires.map(\.description) ?? "-")",
        "\(words(role, now))",
        "\(role.threshold) of \(role.keys.count)", "\(role.keys.map(words).joined(separator: ", "))",
      ])
    }
    if !status.bins.isEmpty { table.append(BinsSummary(status.bins, now).row(words)) }
    output.table(table)
    if status.targetCount == nil { output.line("Nothing is published yet. Next: manifest-sign publish DIR") }
    output.line("Roots 1 to \(status.rootCount) are a complete chain.")
    if !status.idleKeys.isEmpty { output.line("Keys that sign nothing: \(status.idleKeys.map { $0.name }.joined(separator: ", "))") }
    for refusal in status.refusals { output.warning("devices can't use \(refusal.role): \(refusal.error.description)") }
    for path in status.lostModels {
      output.warning("the list of models names \(path), which devices can't find: run manifest-sign publish DIR")
    }
    if !status.waiting.isEmpty {
      output.line("Waiting for signatures:")
      try CeremonyOutput.show(status.waiting, layout, output)
    }
    output.report("roots", .count(status.rootCount))
    output.report("idle_keys", .array(status.idleKeys.map { .string($0.name) }))
    output.report("waiting", CeremonyOutput.json(status.waiting))
    output.report(
      "refused", .array(status.refusals.map { ["role": .string($0.role.description), "reason": .string($0.error.description)] }))
    output.report("lost_models", .array(status.lostModels.map { .string($0.description) }))
    output.report("bins", status.bins.isEmpty ? .null : BinsSummary(status.bins, now).json)
    output.report("time", .string(now.description))
    output.report("targets", status.targetCount.map { .count($0) } ?? .null)
    output.report("roles", .object(status.roles.map { .init($0.role.name.description, json($0, now)) }))
    let expired = (status.roles + status.bins).filter { $0.expires.map { $0 <= now } ?? false }
    guard expired.isEmpty else {
      output.warning(
        "\(RoleGroups.list(expired.map(\.role))) expired: devices can't refresh until \(expired.count == 1 ? "it is" : "they are") signed again"
      )
      return .expiredOrRolledBack
    }
    guard let days else { return .done }
    let soon = (status.roles + status.bins).filter { $0.expires.map { $0 <= now.adding(days: days) } ?? false }
    for group in RoleGroups.of(soon, role: \.role) {
      guard let first = group.min(by: { ($0.expires ?? now) < ($1.expires ?? now) }) else { continue }
      let verb = group.count == 1 ? "expires" : "expire"
      output.warning(
        "\(RoleGroups.name(group.map(\.role))) \(verb) within \(days) \(days == 1 ? "day" : "days"): \(group.count == 1 ? "" : "the first ")\(words(first, now))"
      )
    }
    return soon.isEmpty && status.refusals.isEmpty && status.lostModels.isEmpty ? .done : .found
  }

  private static func dayCount(_ text: String) throws(Failure) -> Int {
    guard let days = Int(text.hasSuffix("d") ? String(text.dropLast()) : text), Policy.lifetimeBounds.contains(days) else {
      throw Failure(
        .usage, "\(failWithin.name) is not a time span", expected: "a number of days, 14d say", found: "\"\(text)\"")
    }
    return days
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
      "days_left": role.expires.map { .integer(($0.secondsSince1970 - now.secondsSince1970) / 86_400) } ?? .null,
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
