internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import TUFMetadata

/// Prints why a file is trusted: from the file down to the root that was shipped.
struct ExplanationReport {
  private let output: Output
  private let now: UTCTime

  init(_ output: Output, _ now: UTCTime) {
    self.output = output
    self.now = now
  }

  func begin(state: String, base: String) {
    output.line("\(output.program) \(ToolVersion.current), \(now)", style: .heading)
    output.line("state    \(state)")
    output.line("base     \(base)")
    output.report("tool", .string(output.program))
    output.report("version", .string(ToolVersion.current))
    output.report("time", .string(now.description))
    output.report("state", .string(state))
    output.report("base", .string(base))
    output.report("trusted", .bool(false))
  }

  func tellNewestRefresh(_ stored: StoredMetadata) {
    output.line("refresh  \(stored.newestRefresh.map { "\($0) (\(DeviceState.words($0, now)))" } ?? "none has succeeded yet")")
    output.report("newest_refresh", .optional(stored.newestRefresh?.description))
    // Told and no failure: explain itself takes nothing for valid because of the clock.
    do throws(VerificationError) {
      try stored.requireClock(at: now)
      output.report("clock", ["verdict": "holds"])
    } catch {
      output.line("clock    \(error)", style: .bad)
      output.report("clock", ["verdict": "fails", "reason": .string(error.description)])
    }
  }

  /// What can be told where the state can't be used at all.
  func show(_ path: TargetPath, measurement: Result<FileMeasurement, FileError>, _ failure: Failure) {
    output.line()
    output.line("\(path): not reached", style: .bad)
    show(found: measurement)
    output.report("path", .string(path.description))
    output.report("file", .object([.init("verdict", "not reached")] + json(measurement)))
    output.line("state: FAILS: \(failure.message)", style: .bad)
    output.report(
      "links",
      .array([
        [
          "role": "state", "version": .null, "expires": .null, "expired": .null, "verdict": "fails", "signed": .array([]),
          "reason": .string(failure.message.description),
        ]
      ]))
  }

  func show(_ explanation: TrustExplanation) {
    output.line()
    showFile(explanation)
    // Roots on the way may have expired; only the newest counts.
    let newestRoot = explanation.links.last { $0.role == .root }
    for link in explanation.links.reversed() {
      show(link, isCurrent: link.role != .root || link == newestRoot)
      tellRotation(link, newestRoot?.version)
    }
    output.line("That root is where trust begins: the one that was shipped.")
    output.line()
    output.line(
      explanation.isTrusted ? "Trusted: every link holds." : "Not trusted: the link marked FAILS is the first that does not hold.",
      style: explanation.isTrusted ? .good : .bad)
    output.report("path", .string(explanation.path.description))
    output.report("trusted", .bool(explanation.isTrusted))
    var members: [JSONResult.Member] = [.init("verdict", .string(words(explanation.file)))]
    if let listed = explanation.listed {
      members += [.init("length", .integer(listed.byteCount)), .init("sha256", .string(listed.hashes.sha256.description))]
    }
    members += json(explanation.found ?? nil)
    if case .fails(let error) = explanation.file { members.append(.init("reason", .string(error.description))) }
    output.report("file", .object(members))
    output.report("searched", .array(explanation.searched.map { .string($0.description) }))
    output.report("links", .array(explanation.links.map(json)))
  }

  // MARK: The file

  private func showFile(_ explanation: TrustExplanation) {
    head("\(explanation.path)", explanation.file)
    if let listed = explanation.listed {
      output.line("  signed   \(HumanReadable.exactBytes(listed.byteCount)), sha256:\(listed.hashes.sha256)")
      if let fsverity = listed.fsverity { output.line("           fs-verity \(fsverity)") }
      if explanation.file == .holds { output.line("  found    the same, every digest computed") }
    }
    if let found = explanation.found { show(found: found) }
    guard explanation.listed == nil, !explanation.searched.isEmpty else { return }
    output.line("  searched targets, then the delegated roles \(explanation.searched.map(\.description).joined(separator: ", "))")
  }

  private func show(found: Result<FileMeasurement, FileError>) {
    switch found {
    case .success(let file): output.line("  found    \(HumanReadable.exactBytes(file.byteCount)), sha256:\(file.sha256)")
    case .failure(let error): output.line("  found    \(error)")
    }
  }

  // MARK: Links

  private func show(_ link: TrustExplanation.Link, isCurrent: Bool) {
    head("\(link.role.name)\(link.version.map { " version \($0)" } ?? "")", link.verdict)
    if let expires = link.expires {
      let isExpired = expires <= now
      output.line(
        "  \(isExpired ? "expired " : "expires ") \(expires), \(DeviceState.words(expires, now))"
          + (isExpired && isCurrent ? ": what is installed keeps working; refresh" : ""),
        style: isExpired && isCurrent ? .bad : .plain)
    }
    for signed in link.endorsements {
      let lister = signed.delegator == "itself" ? "it lists itself" : "\(signed.delegator) lists"
      output.line(
        "  signed   by \(signed.signers.count) of the \(signed.keys.keyIDs.count) keys that \(lister), \(signed.keys.threshold) needed")
      for key in signed.keys.keyIDs { output.line("           \(key)\(signed.signers.contains(key) ? "  signed" : "")") }
    }
  }

  /// Tells of keys that the newest root does not list any more.
  private func tellRotation(_ link: TrustExplanation.Link, _ newestRoot: Version?) {
    guard link.role == .timestamp || link.role == .snapshot, link.verdict == .holds, let newestRoot, let signed = link.endorsements.first,
      signed.delegator != ByteString("root version \(newestRoot)")
    else { return }
    output.line("  note     root version \(newestRoot) lists other keys: a rotation is half done here, and refresh completes it")
  }

  private func head(_ name: EscapedText, _ verdict: TrustExplanation.Verdict) {
    switch verdict {
    case .holds: output.line("\(name): holds", style: .good)
    case .notReached: output.line("\(name): not reached, and not verified", style: .faint)
    case .fails(let error): output.line("\(name): FAILS: \(error)", style: .bad)
    }
  }

  private func words(_ verdict: TrustExplanation.Verdict) -> String {
    switch verdict {
    case .holds: "holds"
    case .notReached: "not reached"
    case .fails: "fails"
    }
  }

  // MARK: JSON

  private func json(_ link: TrustExplanation.Link) -> JSONResult {
    var members: [JSONResult.Member] = [
      .init("role", .string(link.role.name.description)), .init("version", link.version.map { .integer($0.number) } ?? .null),
      .init("expires", .optional(link.expires?.description)), .init("expired", link.expires.map { .bool($0 <= now) } ?? .null),
      .init("verdict", .string(words(link.verdict))),
      .init(
        "signed",
        .array(
          link.endorsements.map { signed in
            [
              "delegator": .string(signed.delegator.description), "threshold": .count(signed.keys.threshold),
              "keys": .array(signed.keys.keyIDs.map { .string($0.description) }),
              "signers": .array(signed.signers.map { .string($0.description) }),
            ]
          })),
    ]
    if case .fails(let error) = link.verdict { members.append(.init("reason", .string(error.description))) }
    return .object(members)
  }

  private func json(_ found: Result<FileMeasurement, FileError>?) -> [JSONResult.Member] {
    switch found {
    case .success(let file): [.init("found", ["length": .integer(file.byteCount), "sha256": .string(file.sha256.description)])]
    case .failure(let error): [.init("found", .null), .init("unreadable", .string(error.description))]
    case nil: []
    }
  }
}
