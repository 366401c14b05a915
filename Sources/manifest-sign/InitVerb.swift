internal import CommandLineSupport
internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

enum InitVerb {
  private static let unprotected = Option.flag("--no-passphrase", "Write the secret keys unencrypted. Whoever reads them can sign.")
  private static let existing = Option.flag(
    "--existing-keys", "Use the secret keys that lie in secrets as root-1.key and so on, instead of new ones.")
  private static let lifetime = Option.repeated(
    "--lifetime", "ROLE=DAYS",
    "How long metadata of a role is valid: root and targets 365, snapshot 30, timestamp 14 unless told otherwise.")
  private static let holder = Option.repeated("--holder", "KEY=NAME", "Who holds a key, such as root-1=Alice; kept in keys/policy.json.")

  private static let bins = Option.integer(
    "--bins", "N", "Spread the files of a large catalog over N roles, a power of two; see Documentation/large-catalogs.md.",
    in: 1...HashBins.greatestCount, default: 1)

  private static func keyCount(_ role: TopLevelRole) -> Option {
    .integer("--\(role)-keys", "N", "The number of \(role) keys.", in: RepositoryCreation.RoleSize.bounds, default: 1)
  }

  private static func threshold(_ role: TopLevelRole) -> Option {
    .integer("--\(role)-threshold", "M", "How many of them have to sign.", in: RepositoryCreation.RoleSize.bounds, default: 1)
  }

  static let verb = Verb(
    "init", "Make the keys of a new repository and its first root.",
    options: [RepositoryOptions.repository, RepositoryOptions.secrets] + TopLevelRole.allCases.flatMap { [keyCount($0), threshold($0)] }
      + [lifetime, holder, bins, unprotected, existing] + RepositoryOptions.passphrases,
    conflicts: [
      RepositoryOptions.passphraseConflict, [unprotected.name, existing.name],
      [unprotected.name, RepositoryOptions.passphraseFile.name], [unprotected.name, RepositoryOptions.passphraseDescriptor.name],
    ],
    discussion: [
      "Makes Ed25519 keys for the four roles, and manifests/metadata/1.root.json, which names them. Ship that file with your app: a device trusts "
        + "everything from there. Nothing is ever overwritten.",
      "Where it fails or is interrupted, it takes away again what it wrote. Only if it is killed can key files be left without a 1.root.json: they have "
        + "signed nothing, so remove them and begin anew, or, if all of them are there, go on with --existing-keys.",
      "With --bins the files are listed by N roles, by the hashes of their paths, and a device fetches the one that lists what it looks for.",
      RepositoryOptions.passphraseText,
      "SOURCE_DATE_EPOCH sets the time from which expiries are counted.",
    ],
    exitCodes: [.disk, .locked, .key],
    examples: [
      .init("manifest-sign init --root-keys 3 --root-threshold 2", "three root keys, any two of which can sign the next root"),
      .init("manifest-sign init --no-passphrase --repository /tmp/trial", "keys without a passphrase, to try things out"),
    ],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    var sizes: [TopLevelRole: RepositoryCreation.RoleSize] = [:]
    for role in TopLevelRole.allCases {
      sizes[role] = try RepositoryCreation.RoleSize(
        role: role, keyCount: invocation.requiredInteger(keyCount(role).name), threshold: invocation.requiredInteger(threshold(role).name))
    }
    let passphrases = try RepositoryOptions.passphraseSource(invocation, output)
    let keys: RepositoryCreation.Keys =
      if invocation.flag(unprotected.name) {
        .generatedUnencrypted
      } else if invocation.flag(existing.name) {
        .existing(passphrases)
      } else {
        .generated(passphrases)
      }
    let layout = RepositoryOptions.layout(invocation)
    let creation = RepositoryCreation(layout: layout, sizes: sizes, policy: try policy(invocation, sizes))
    let observer = CommandLineObserver(output)
    defer { observer.finish() }
    // However often Control-C is pressed: half a repository's keys are never left behind.
    let now = try ReleaseClock.signingTime()
    let result = try Interruption.withoutForce { () throws(SigningError) in
      try creation.run(keys: keys, now: now, isCancelled: { Interruption.isRequested }, notice: observer.notice)
    }
    if passphrases.isEmpty {
      output.warning("the passphrase is empty: whoever can read the secret keys can sign; set one with manifest-sign key passphrase NAME")
    }
    report(result, layout, output)
    return .done
  }

  private static func policy(_ invocation: Invocation, _ sizes: [TopLevelRole: RepositoryCreation.RoleSize]) throws -> Policy {
    var policy = Policy()
    let binCount = invocation.requiredInteger(bins.name)
    policy.bins = HashBins(count: binCount)
    guard policy.bins != nil || binCount == 1 else { throw SigningError.binCount(binCount) }
    var stated: Set<TopLevelRole> = []
    for text in invocation.values(lifetime.name) {
      let (name, value) = try split(text, lifetime)
      guard let role = TopLevelRole(rawValue: name), let days = Int(value), Policy.lifetimeBounds.contains(days) else {
        throw Failure(
          .usage, "\(lifetime.name) \(text) is not a lifetime",
          expected: "a role, \"=\", and \(Policy.lifetimeBounds.lowerBound) to \(Policy.lifetimeBounds.upperBound) days",
          found: "\"\(text)\"")
      }
      guard stated.insert(role).inserted else {
        throw Failure(.usage, "\(lifetime.name) is given twice for \(role)", expected: "one lifetime for each role", found: "\"\(text)\"")
      }
      policy.lifetimes[role] = days
    }
    for text in invocation.values(holder.name) {
      let (key, name) = try split(text, holder)
      guard RepositoryCreation.keyNames(sizes).values.contains(where: { $0.contains(key) }) else {
        throw Failure(.usage, "\(holder.name) \(text) names no key that is made", expected: "a key, such as root-1", found: "\"\(key)\"")
      }
      guard policy.holders.updateValue(name, forKey: key) == nil else {
        throw Failure(.usage, "\(holder.name) is given twice for \(key)", expected: "one holder for each key", found: "\"\(text)\"")
      }
    }
    return policy
  }

  private static func split(_ text: String, _ option: Option) throws -> (String, String) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex, text.index(after: equals) != text.endIndex else {
      throw Failure(.usage, "\(option.name) \(text) is incomplete", expected: option.placeholder, found: "\"\(text)\"")
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  private static func report(_ result: RepositoryCreation.Result, _ layout: RepositoryLayout, _ output: Output) {
    let root = result.root.payload
    output.line("The repository is ready.", style: .good)
    var table = Table([("ROLE", .left), ("KEYS", .left), ("MUST SIGN", .left)])
    for role in TopLevelRole.allCases {
      let names = result.keyNames[role] ?? []
      table.append(["\(role)", "\(names.joined(separator: " "))", "\(root[role].threshold) of \(names.count)"])
    }
    output.table(table)
    output.line("Ship with your app:  \(result.rootPath), valid until \(root.expires)")
    output.line("Back up and hide:    \(layout.secrets)")
    output.line("Next:                manifest-sign publish DIR --repository \(layout.folder)")
    output.report("root", .string(result.rootPath))
    output.report("expires", .string(root.expires.description))
    output.report("secrets", .string(layout.secrets))
    output.report(
      "roles",
      .object(TopLevelRole.allCases.map { JSONResult.Member($0.rawValue, json(result.keyNames[$0] ?? [], root[$0])) }))
  }

  private static func json(_ names: [String], _ keys: RoleKeys) -> JSONResult {
    [
      "keys": .array(names.map(JSONResult.string)),
      "key_ids": .array(keys.keyIDs.map { JSONResult.string($0.description) }),
      "threshold": .count(keys.threshold),
    ]
  }
}
