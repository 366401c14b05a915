internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

enum KeyListVerb {
  static let verb = Verb(
    "key list", "List the keys: who holds them, what they sign, and a fingerprint to compare by voice.",
    options: [RepositoryOptions.repository, RepositoryOptions.secrets],
    discussion: [
      "A fingerprint is the first 128 bits of the key id as eight numbers of five digits, each two bytes. Two people who read the same eight numbers "
        + "to each other have the same key.",
      "Roles are those of the newest root. Holders stand in keys/policy.json. No secret key is opened.",
    ],
    exitCodes: [.signature, .disk, .malformed, .key],
    run: run)

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let entries = try KeyOptions.store(RepositoryOptions.layout(invocation)).entries()
    if entries.isEmpty { output.line("There is no key in keys. Next: manifest-sign init, or manifest-sign key generate NAME") }
    for entry in entries {
      output.line("\(entry.name)\(entry.holder.map { ", held by \($0)" } ?? "")", style: .heading)
      output.line("  key id       \(entry.id)")
      output.line("  fingerprint  \(KeyFingerprint(entry.id).description)")
      output.line("  roles        \(roles(entry))")
      output.line("  secret half  \(place(entry))")
      if !entry.hasPublicHalf { output.line("  public half  MISSING in keys; to write it anew: manifest-sign key export \(entry.name)") }
    }
    output.report("keys", .array(entries.map(json)))
    return .done
  }

  private static func roles(_ entry: KeyStore.Entry) -> String {
    if let root = entry.retiredAfter { return "none: retired after root \(root)" }
    return entry.roles.isEmpty ? "none" : entry.roles.map(\.rawValue).joined(separator: ", ")
  }

  private static func place(_ entry: KeyStore.Entry) -> String {
    switch entry.place {
    case .file(let path, let isEncrypted): path + (isEncrypted ? "" : ", NOT ENCRYPTED: whoever can read it can sign")
    case .signer(let name): "the external signer \(name)"
    case .elsewhere: "not here"
    }
  }

  private static func json(_ entry: KeyStore.Entry) -> JSONResult {
    let place: JSONResult =
      switch entry.place {
      case .file(let path, let isEncrypted): ["kind": "file", "path": .string(path), "encrypted": .bool(isEncrypted)]
      case .signer(let name): ["kind": "signer", "name": .string(name)]
      case .elsewhere: ["kind": "elsewhere"]
      }
    return [
      "name": .string(entry.name), "holder": .optional(entry.holder), "key_id": .string(entry.id.description),
      "fingerprint": .string(KeyFingerprint(entry.id).description), "roles": .array(entry.roles.map { .string($0.rawValue) }),
      "public_half": .bool(entry.hasPublicHalf), "retired_after": entry.retiredAfter.map { .integer($0.number) } ?? .null, "secret": place,
    ]
  }
}
