internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

/// All bins of a repository in one row of `status`: the one that expires first stands for them.
struct BinsSummary {
  private let bins: [RepositoryStatus.Role]
  private let now: UTCTime

  init(_ bins: [RepositoryStatus.Role], _ now: UTCTime) {
    self.bins = bins
    self.now = now
  }

  private var first: UTCTime? { bins.compactMap(\.expires).min() }
  private var versions: [Version] { bins.compactMap(\.version) }
  private var expired: [RepositoryStatus.Role] { bins.filter { $0.expires.map { $0 <= now } ?? false } }
  private var due: [RepositoryStatus.Role] { bins.filter(\.isDue) }

  /// - Parameter words: for a key.
  func row(_ words: (RepositoryStatus.HeldKey) -> String) -> [EscapedText] {
    let versions = [versions.min(), versions.max()].compactMap { $0?.description }
    let keys = bins.first?.keys ?? []
    return [
      "\(RoleGroups.name(bins.map(\.role)))", "\(Set(versions).count == 1 ? versions[0] : versions.joined(separator: " to "))",
      "\(first?.description ?? "-")", "\(state)", "\(bins.first?.threshold ?? 0) of \(keys.count)",
      "\(keys.map(words).joined(separator: ", "))",
    ]
  }

  private var state: String {
    guard let first else { return "not published" }
    let when = HumanReadable.relative(first.secondsSince1970, to: now.secondsSince1970)
    if !expired.isEmpty { return "\(expired.count) of \(bins.count) expired, the first \(when)" }
    if !due.isEmpty { return "\(due.count) of \(bins.count) due, the first expires \(when)" }
    return "the first expires \(when)"
  }

  /// Times are those of the bin that expires first.
  var json: JSONResult {
    [
      "count": .count(bins.count),
      "version": bins.compactMap(\.version).max().map { .integer($0.number) } ?? .null,
      "expires": .optional(first?.description),
      "days_left": first.map { .integer(($0.secondsSince1970 - now.secondsSince1970) / 86_400) } ?? .null,
      "seconds_left": first.map { .integer($0.secondsSince1970 - now.secondsSince1970) } ?? .null,
      "due": .array(due.map { .string($0.role.name.description) }),
      "expired": .array(expired.map { .string($0.role.name.description) }),
    ]
  }
}
