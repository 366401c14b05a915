internal import FileIO
public import TUFMetadata

/// The keys of a repository by their names: public halves in `keys`, secret ones in `secrets` as far as they are at hand.
public struct KeyRing: Sendable {
  /// The name of each key whose public half lies in `keys`.
  public let names: [KeyID: String]
  /// The files of the secret keys that are at hand.
  public let secrets: [KeyID: String]

  static let publicKeySuffix = ".pem"
  static let secretKeySuffix = ".key"

  /// Reads what lies in both folders; no secret key is opened.
  init(_ layout: RepositoryLayout) throws(SigningError) {
    var names: [KeyID: String] = [:]
    for name in try Self.names(in: layout.keys, suffix: Self.publicKeySuffix) {
      names[Key(try PublicKeyFile.read(path: layout.publicKey(name))).id] = name
    }
    var secrets: [KeyID: String] = [:]
    for name in try Self.names(in: layout.secrets, suffix: Self.secretKeySuffix) {
      let file = try SecretKeyFile.read(path: layout.secretKey(name))
      secrets[Key(file.publicKey).id] = file.path
    }
    self.names = names
    self.secrets = secrets
  }

  /// What people call a key: its name, or the beginning of its id where it has none.
  public func name(of id: KeyID) -> String { names[id] ?? "\(id.description.prefix(12))…" }

  /// Opens the keys of a role that are at hand.
  /// - Throws: `missingKeys` where there are fewer than the threshold.
  func signers(for role: TopLevelRole, _ keys: RoleKeys, _ passphrases: PassphraseSource, notice: (KeyNotice) -> Void) throws(SigningError)
    -> [any Signer]
  {
    let atHand = keys.keyIDs.filter { secrets[$0] != nil }
    guard atHand.count >= keys.threshold else {
      throw .missingKeys(
        role: role, threshold: keys.threshold, atHand: atHand.map(name), missing: keys.keyIDs.filter { secrets[$0] == nil }.map(name))
    }
    var signers: [any Signer] = []
    for id in atHand {
      guard let path = secrets[id] else { continue }
      let file = try SecretKeyFile.read(path: path)
      if !file.isEncrypted { notice(.unencrypted(name: file.name, path: path)) }
      signers.append(SecretKeySigner(try passphrases.open(file)))
    }
    return signers
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
}
