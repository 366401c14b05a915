internal import FileIO
public import TUFMetadata

/// The keys of a repository by their names: public halves in `keys`, secret ones in `secrets` as far as they are at hand.
public struct KeyRing: Sendable {
  /// The name of each key whose public half lies in `keys`.
  public let names: [KeyID: String]
  /// The files of the secret keys that are at hand.
  public let secrets: [KeyID: String]
  /// The names of those files, without their suffix.
  let secretNames: [KeyID: String]
  /// The names of the external signers that are configured.
  public var signers: [KeyID: String] { external.names }
  /// The public halves that lie in `keys`.
  let publicKeys: [KeyID: Ed25519PublicKey]
  private let external: ExternalSigners

  static let publicKeySuffix = ".pem"
  static let secretKeySuffix = ".key"

  /// Reads what lies in both folders; no secret key is opened.
  init(_ layout: RepositoryLayout) throws(SigningError) {
    var names: [KeyID: String] = [:]
    var publicKeys: [KeyID: Ed25519PublicKey] = [:]
    for name in try Self.names(in: layout.keys, suffix: Self.publicKeySuffix) {
      let key = try PublicKeyFile.read(path: layout.publicKey(name))
      names[Key(key).id] = name
      publicKeys[Key(key).id] = key
    }
    var (secrets, secretNames): ([KeyID: String], [KeyID: String]) = ([:], [:])
    for name in try Self.names(in: layout.secrets, suffix: Self.secretKeySuffix) {
      let file = try SecretKeyFile.read(path: layout.secretKey(name))
      secrets[Key(file.publicKey).id] = file.path
      secretNames[Key(file.publicKey).id] = name
    }
    self.names = names
    self.publicKeys = publicKeys
    self.secrets = secrets
    self.secretNames = secretNames
    external = try ExternalSigners(configuredAt: layout.signers)
  }

  /// What people call a key: its name, or the beginning of its id where it has none.
  public func name(of id: KeyID) -> String { names[id] ?? "\(id.description.prefix(12))…" }

  /// Whether the key can sign here: through its secret half, or an external signer.
  public func isAtHand(_ id: KeyID) -> Bool { secrets[id] != nil || external[id] != nil }

  /// Whether enough keys of each of these roles are at hand.
  func canSign(_ roles: [TopLevelRole], _ root: Root) -> Bool {
    roles.allSatisfy { role in root[role].keyIDs.filter(isAtHand).count >= root[role].threshold }
  }

  /// Opens the keys of a role that are at hand; where a key has an external signer, that one is used.
  /// - Throws: `missingKeys` where there are fewer than the threshold.
  func signers(for role: TopLevelRole, _ keys: RoleKeys, _ passphrases: PassphraseSource, notice: (KeyNotice) -> Void) throws(SigningError)
    -> [any Signer]
  {
    let atHand = keys.keyIDs.filter(isAtHand)
    guard atHand.count >= keys.threshold else {
      throw .missingKeys(
        role: .topLevel(role), threshold: keys.threshold, atHand: atHand.map(name), missing: keys.keyIDs.filter { !isAtHand($0) }.map(name))
    }
    var signers: [any Signer] = []
    for id in atHand { if let signer = try signer(id, passphrases, notice: notice) { signers.append(signer) } }
    return signers
  }

  /// Opens a key; where it has an external signer, that one is used. Nil where it is not at hand.
  func signer(_ id: KeyID, _ passphrases: PassphraseSource, notice: (KeyNotice) -> Void) throws(SigningError) -> (any Signer)? {
    if let signer = try external.signer(for: id, publicKey: publicKeys[id], passphrases) { return signer }
    guard let path = secrets[id] else { return nil }
    let file = try SecretKeyFile.read(path: path)
    if !file.isEncrypted { notice(.unencrypted(name: file.name, path: path)) }
    return SecretKeySigner(try passphrases.open(file))
  }

  /// The external signer of a key whose public half lies in `keys` under a name; nil where none is configured.
  func externalSigner(named name: String, _ passphrases: PassphraseSource) throws(SigningError) -> (any Signer)? {
    guard let (id, _) = names.first(where: { $0.value == name }) else { return nil }
    return try external.signer(for: id, publicKey: publicKeys[id], passphrases)
  }

  /// Whether a key whose public half lies in `keys` under a name has an external signer.
  func hasExternalSigner(named name: String) -> Bool {
    names.contains { id, own in own == name && external[id] != nil }
  }

  private static func names(in folder: String, suffix: String) throws(SigningError) -> [String] {
    do throws(Errno) {
      return try FileSystem.names(inDirectory: folder).map { String(decoding: $0, as: UTF8.self) }
        .filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.map { String($0.dropLast(suffix.count)) }
    } catch {
      guard error == .notFound else { throw .file(.system(.list, path: folder, error)) }
      return []
    }
  }
}

/// What a person should know of a key that is used.
public enum KeyNotice: Hashable, Sendable {
  /// The secret key has no passphrase.
  case unencrypted(name: String, path: String)
  /// The secret key has a passphrase now, and had none before.
  case wasUnencrypted(name: String, path: String)
}
