internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

/// How ceremonies are shown: what changes, who has signed, who must still.
enum CeremonyOutput {
  static let trustedRoot = Option.value(
    "--trusted-root", "FILE", "The root that you trust, if not the copy beside your secret keys (secrets/trusted-root.json).")
  static let allowShared = Option.flag("--allow-shared", "Let one key have several roles.")

  static let passphraseText = RepositoryOptions.passphraseText

  /// What a person sees before signing.
  static func show(_ review: CeremonyReview, _ output: Output) {
    if !review.sinceTrusted.isEmpty {
      output.line("Since the root that you trust, as it was published", style: .heading)
      for line in review.sinceTrusted { output.line("  \(line)") }
    }
    for group in RoleGroups.of(review.changes, role: \.role, said: { $0.words.joined(separator: "\n") }) {
      output.line("\(RoleGroups.name(group.map(\.role)))", style: .heading)
      for line in group.first?.words ?? [] { output.line("  \(line)") }
    }
    show(review.warnings, output)
    output.report("since_trusted", .array(review.sinceTrusted.map(JSONResult.string)))
    output.report(
      "changes",
      .object(review.changes.map { JSONResult.Member($0.role.name.description, .array($0.words.map(JSONResult.string))) }))
  }

  static func show(_ warnings: [StructureWarning], _ output: Output) {
    for warning in warnings { output.warning("\(warning.description)") }
    output.report("warnings", .array(warnings.map { .string($0.description) }))
  }

  /// Who has signed what waits, and who must still.
  static func show(_ waiting: [WaitingFile], _ layout: RepositoryLayout, _ output: Output) throws {
    guard !waiting.isEmpty else { return }
    let names = try KeyNames(layout)
    func lines(_ file: WaitingFile) -> [String] {
      file.thresholds.map { threshold in
        let signed = threshold.signed.isEmpty ? "" : " by \(names.list(threshold.signed))"
        let rest = threshold.threshold - threshold.signed.count
        let missing = threshold.isMet ? "complete" : "\(rest) more of \(names.list(threshold.missing))"
        return "\(threshold.delegator): \(threshold.signed.count) of \(threshold.threshold) signed\(signed); \(missing)"
      }
    }
    for group in RoleGroups.of(waiting, role: \.role, said: { "\($0.expires) \(lines($0))" }) {
      guard let file = group.first else { continue }
      output.line(
        group.count == 1
          ? "\(layout.pending)/\(file.role.fileName), version \(file.version), valid until \(file.expires)"
          : "\(RoleGroups.name(group.map(\.role))) in \(layout.pending), valid until \(file.expires)", style: .heading)
      for line in lines(file) { output.line("  \(line)") }
    }
    if waiting.allSatisfy(\.isComplete) {
      output.line("All signatures are there; it is published by manifest-sign sign where the keys of snapshot and timestamp are.")
    }
  }

  static func json(_ waiting: [WaitingFile]) -> JSONResult {
    .array(
      waiting.map { file in
        [
          "role": .string(file.role.name.description), "version": .integer(file.version.number),
          "expires": .string(file.expires.description),
          "file": .string(file.role.fileName), "complete": .bool(file.isComplete),
          "thresholds": .array(
            file.thresholds.map {
              [
                "delegator": .string($0.delegator), "threshold": .count($0.threshold),
                "signed": .array($0.signed.map { .string($0.description) }), "missing": .array($0.missing.map { .string($0.description) }),
              ]
            }),
        ]
      })
  }

  /// What a step did.
  static func show(_ report: CeremonyReport, _ layout: RepositoryLayout, _ output: Output) throws {
    let names = try KeyNames(layout)
    for group in RoleGroups.of(report.signed, role: \.role, said: { names.list($0.signers) }) {
      output.line("Signed \(RoleGroups.name(group.map(\.role))) with \(names.list(group.first?.signers ?? [])).", style: .good)
    }
    if let publication = report.publication { show(publication, output) }
    try show(report.waiting, layout, output)
    if !report.waiting.isEmpty { output.line("Hand on the files of \(layout.pending); they hold no secret.") }
    output.report(
      "signed",
      .object(report.signed.map { .init($0.role.name.description, .array($0.signers.map { .string($0.description) })) }))
    output.report("published", report.publication.map(json) ?? .null)
    output.report("waiting", json(report.waiting))
  }

  static func show(_ publication: Publication, _ output: Output) {
    let groups = RoleGroups.of(publication.files, role: \.role).map { group in
      RoleGroups.name(group.map(\.role)) + (group.count == 1 ? " \(group.first?.version.description ?? "")" : "")
    }
    output.line("Published \(groups.joined(separator: ", ")).", style: .good)
  }

  static func json(_ publication: Publication) -> JSONResult {
    .object(publication.files.map { .init($0.role.name.description, .integer($0.version.number)) })
  }
}

/// Names of keys with their holders, for lists.
struct KeyNames {
  private let names: [KeyID: String]

  init(_ layout: RepositoryLayout) throws(SigningError) {
    var names: [KeyID: String] = [:]
    for entry in try KeyStore(layout).entries() { names[entry.id] = entry.name + (entry.holder.map { " (\($0))" } ?? "") }
    self.names = names
  }

  func name(_ id: KeyID) -> String { names[id] ?? "\(id.description.prefix(12))…" }

  func list(_ ids: [KeyID]) -> String { ids.map(name).joined(separator: ", ") }
}
