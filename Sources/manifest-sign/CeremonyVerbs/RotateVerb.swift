internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum RotateVerb {
  private static let role = Argument("ROLE", "root, targets, snapshot, timestamp, or a team.")
  private static let key = Option.repeated(
    "--key", "OLD[=NEW]",
    "Exchange this key only, for the key NEW of keys, which is made where it is missing; with --drop-old, the key that goes.")
  private static let compromised = Option.flag(
    "--compromised", "A key was stolen: sign again all that the role stands above, and tell which signatures stop counting.")
  private static let overlap = Option.flag("--overlap", "Leave the old keys beside the new ones for a while.")
  private static let dropOld = Option.flag("--drop-old", "Take away the old keys that an overlap has left.")

  static let verb = Verb(
    "rotate", "Exchange the keys of a role: propose, sign and publish in one.",
    arguments: [role],
    options: [RepositoryOptions.repository, RepositoryOptions.secrets, key, compromised, overlap, dropOld, KeyOptions.unprotected]
      + [CeremonyOutput.trustedRoot, CeremonyOutput.allowShared] + RepositoryOptions.passphrases + KeyOptions.newPassphrases,
    conflicts: [
      [compromised.name, overlap.name, dropOld.name], RepositoryOptions.passphraseConflict,
      KeyOptions.newConflict,
    ],
    discussion: [
      "Makes a new key for each old one, root-4 after root-3, and the next root or, for a team, the next targets. Needs root keys at hand, for a team "
        + "those of targets; where too few are, the proposal waits for the others' sign.",
      "Without --overlap the old keys count no longer from the moment of publication, and all that only they had signed is signed again. With it, old and "
        + "new keys both count until rotate ROLE --drop-old: for machines that take time to get the new key. Never use it where a key was stolen.",
      RepositoryOptions.passphraseText, KeyOptions.newText,
    ],
    exitCodes: [.signature, .expiredOrRolledBack, .disk, .locked, .malformed, .key],
    examples: [
      .init("manifest-sign rotate timestamp", "a new timestamp key at once"),
      .init("manifest-sign rotate targets --compromised", "the key that signs catalogs was stolen"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let protection = try KeyOptions.newProtection(invocation, beside: passphrases)
    let layout = RepositoryOptions.layout(invocation)
    let repository = try Repository(layout)
    let root = try TrustedRoot(layout, path: invocation.value(CeremonyOutput.trustedRoot.name))
    let mode: RotationMode =
      invocation.flag(compromised.name)
      ? .compromised : invocation.flag(overlap.name) ? .overlap : invocation.flag(dropOld.name) ? .dropOld : .replace
    let role = EditOptions.role(invocation.required(role.name))
    let ceremony = try repository.ceremony()
    try ceremony.requireNothingPending()
    try root.require(ceremony.state)
    let dropped: [KeyID]
    if mode == .dropOld {
      let store = try KeyStore(layout)
      dropped = try invocation.values(key.name).map { try EditOptions.keyID($0, store, ceremony) }
    } else {
      dropped = []
    }
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    var made: [String] = []
    let report: RotationReport
    do {
      let exchanged = mode == .dropOld ? [] : try exchanges(invocation, role, ceremony, layout, protection, &made, output)
      report = try repository.rotate(
        role, exchanged, dropping: dropped, mode, trusting: root, allowsShared: invocation.flag(CeremonyOutput.allowShared.name),
        with: SigningKeys(layout, passphrases, notice: observer.notice), now: ReleaseClock.signingTime())
    } catch {
      for name in KeyStore.removeUnused(made, layout) { output.note("the key \(name) is taken away again: nothing names it") }
      throw error
    }
    CeremonyOutput.show(report.warnings, output)
    try CeremonyOutput.show(report.ceremony, layout, output)
    let names = try KeyNames(layout)
    let isPublished = report.ceremony.publication != nil
    for group in RoleGroups.of(report.stopped, role: \.role, said: { names.name($0.key) }) {
      guard let stopped = group.first else { continue }
      if group.count == 1 {
        let when = isPublished ? "counts no longer" : "will stop counting"
        output.line("The signature of \(names.name(stopped.key)) under \(stopped.role.name) version \(stopped.version) \(when).")
      } else {
        let when = isPublished ? "count no longer" : "will stop counting"
        output.line("The signatures of \(names.name(stopped.key)) under \(RoleGroups.name(group.map(\.role))) \(when).")
      }
    }
    if !report.leftAsTheyAre.isEmpty {
      output.note(
        "\(report.leftAsTheyAre.map(\.description).joined(separator: ", ")): not signed again, for too few keys are at hand; what their own keys "
          + "have signed goes on counting")
    }
    output.report("left", .array(report.leftAsTheyAre.map { .string($0.description) }))
    output.report(
      "stopped",
      .array(
        report.stopped.map {
          ["role": .string($0.role.name.description), "version": .integer($0.version.number), "key": .string($0.key.description)]
        }))
    if mode == .replace, role != .root { output.note("The old keys count no longer; with --overlap they would for a while.") }
    if mode == .overlap { output.line("Later: manifest-sign rotate \(role.name) --drop-old") }
    return .done
  }

  /// The old keys with the new ones, which are made where they are missing.
  private static func exchanges(
    _ invocation: Invocation, _ role: MetadataRole, _ ceremony: Ceremony, _ layout: RepositoryLayout, _ protection: KeyStore.Protection,
    _ made: inout [String], _ output: Output
  ) throws -> [(old: KeyID, new: Ed25519PublicKey)] {
    let store = try KeyStore(layout)
    guard let keys = ceremony.requirements(for: role).first?.keys else { throw SigningError.ceremony(.noSuchRole("\(role.name)")) }
    var taken = Set(try store.entries().map(\.name))
    let names = try KeyNames(layout)
    let chosen = invocation.values(key.name)
    var wanted: [(KeyID, String?)] = keys.keyIDs.map { ($0, nil) }
    if !chosen.isEmpty {
      wanted = try chosen.map { text in
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let id = try EditOptions.keyID(parts.first ?? "", store, ceremony)
        guard keys.keyIDs.contains(id) else {
          throw SigningError.ceremony(.keyNotInRole(key: parts.first ?? "", role: "\(role.name)"))
        }
        return (id, parts.count > 1 ? parts[1] : nil)
      }
    }
    return try wanted.map { id, given in
      if let given, taken.contains(given) { return (id, try store.publicKey(named: given)) }
      let name = given ?? nextName(after: names.name(id), role, taken)
      taken.insert(name)
      let key = try SecretKey.generate()
      let publicKey = key.publicKey
      try store.requireFree(name)
      try store.add(key, name: name, protection)
      made.append(name)
      if case .none = protection { KeyOptions.warnUnencrypted("\(layout.secrets)/\(name).key", output) }
      output.line("Made the key \(name), fingerprint \(KeyFingerprint(Key(publicKey).id).description). Back it up.", style: .good)
      return (id, publicKey)
    }
  }

  /// `targets-2` after `targets-1`; for a key without such a name, the role's.
  private static func nextName(after old: String, _ role: MetadataRole, _ taken: Set<String>) -> String {
    let plain = old.split(separator: " ").first.map(String.init) ?? old
    let stem: String
    if let dash = plain.lastIndex(of: "-"), Int(plain[plain.index(after: dash)...]) != nil {
      stem = String(plain[..<dash])
    } else {
      stem = String(decoding: role.name.bytes.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: ".") : $0 }, as: UTF8.self)
    }
    var number = 1
    while taken.contains("\(stem)-\(number)") { number += 1 }
    // Never a number between: what comes later has the higher one.
    while taken.contains(where: { $0.hasPrefix("\(stem)-") && (Int($0.dropFirst(stem.utf8.count + 1)) ?? 0) >= number }) { number += 1 }
    return "\(stem)-\(number)"
  }
}
