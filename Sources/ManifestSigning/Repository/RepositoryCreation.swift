internal import Digests
internal import FileIO
public import ManifestVerifier
public import TUFMetadata

/// A new repository: its keys and its first root.
public struct RepositoryCreation {
  /// How many keys a role gets, and how many of them have to sign.
  public struct RoleSize: Equatable, Sendable {
    public let keyCount: Int
    public let threshold: Int

    /// The keys that one role can be given.
    public static let bounds = 1...100

    /// - Throws: `unmeetableThreshold` where more keys would have to sign than there are.
    public init(role: TopLevelRole, keyCount: Int, threshold: Int) throws(SigningError) {
      guard Self.bounds.contains(keyCount), (1...keyCount).contains(threshold) else {
        throw .unmeetableThreshold(role: role, keyCount: keyCount, threshold: threshold)
      }
      self.keyCount = keyCount
      self.threshold = threshold
    }
  }

  /// Where the secret keys come from.
  public enum Keys {
    /// New ones, protected by a passphrase.
    case generated(PassphraseSource)
    /// New ones in clear.
    case generatedUnencrypted
    /// Those that lie in the folder of the secret keys, or have an external signer, under the names that new ones would get.
    case existing(PassphraseSource)
  }

  /// What was made.
  public struct Result: Sendable {
    public let root: Trusted<Root>
    public let rootPath: String
    /// The names of the keys of each role.
    public let keyNames: [TopLevelRole: [String]]
  }

  private let layout: RepositoryLayout
  private let sizes: [TopLevelRole: RoleSize]
  private let policy: Policy

  public init(layout: RepositoryLayout, sizes: [TopLevelRole: RoleSize], policy: Policy) {
    self.layout = layout
    self.sizes = sizes
    self.policy = policy
  }

  /// Makes the keys and `1.root.json`, which comes last: a repository is there whole, or not at all.
  /// - Parameters:
  ///   - now: the time of signing, from which the expiry is counted.
  ///   - notice: told of each key without a passphrase.
  /// - Throws: `alreadyExists` before anything is written; nothing is ever overwritten.
  public func run(keys: Keys, now: UTCTime, notice: (KeyNotice) -> Void) throws(SigningError) -> Result {
    try onDisk { () throws(FileError) in try FileSystem.createDirectories(layout.folder) }
    let lock = try Repository.lock(layout)
    let result = try create(keys, now, notice)
    _ = consume lock  // Held until here.
    return result
  }

  private func create(_ keys: Keys, _ now: UTCTime, _ notice: (KeyNotice) -> Void) throws(SigningError) -> Result {
    var names: [TopLevelRole: [String]] = [:]
    for role in TopLevelRole.allCases { names[role] = (1...(sizes[role]?.keyCount ?? 1)).map { "\(role.rawValue)-\($0)" } }
    try requireNothingIsOverwritten(names, keys)
    var signers: [TopLevelRole: [any Signer]] = [:]
    for role in TopLevelRole.allCases {
      for name in names[role] ?? [] { signers[role, default: []].append(try signer(name, keys, notice)) }
    }
    let root = try SignedMetadata(rootPayload(signers, now), by: signers[.root] ?? [])
    let trusted: Trusted<Root>
    do { trusted = try Trusted(selfSigned: root.bytes) } catch { throw .published(error) }
    try ExampleKeys.refuse(in: trusted)
    for role in TopLevelRole.allCases {
      for (name, signer) in zip(names[role] ?? [], signers[role] ?? []) { try writePublicKey(signer.publicKey, name) }
    }
    try onDisk { () throws(FileError) in
      try replaceFile(at: layout.policy, with: PrettyJSON.bytes(policy.tree, order: []))
      try FileSystem.createDirectories(layout.metadata)
      try FileSystem.createDirectories(layout.targets)
      try createFile(at: layout.metadata(.root, .first), with: root.bytes)
    }
    return Result(root: trusted, rootPath: layout.metadata(.root, .first), keyNames: names)
  }

  private func requireNothingIsOverwritten(_ names: [TopLevelRole: [String]], _ keys: Keys) throws(SigningError) {
    try Self.requireMissing(layout.metadata(.root, .first))
    guard case .existing = keys else {
      for name in names.values.joined().sorted() {
        try Self.requireMissing(layout.secretKey(name))
        try Self.requireMissing(layout.publicKey(name))
      }
      return
    }
  }

  private static func requireMissing(_ path: String) throws(SigningError) {
    do throws(Errno) { _ = try FileSystem.status(of: path, followingLinks: false) } catch {
      guard error == .notFound || error == .notDirectory else { throw .file(.system(.inspect, path: path, error)) }
      return
    }
    throw .alreadyExists(path: path)
  }

  private func signer(_ name: String, _ keys: Keys, _ notice: (KeyNotice) -> Void) throws(SigningError) -> any Signer {
    let path = layout.secretKey(name)
    switch keys {
    case .generated(let passphrases):
      let key = try SecretKey.generate()
      try ignoreSecrets()
      try passphrases.withNewPassphrase(for: "the new keys") { (passphrase) throws(SigningError) in
        try SecretKeyFile.write(key, name: name, passphrase: passphrase, path: path)
      }
      return SecretKeySigner(key)
    case .generatedUnencrypted:
      let key = try SecretKey.generate()
      try ignoreSecrets()
      try SecretKeyFile.writeUnencrypted(key, name: name, path: path)
      notice(.unencrypted(name: name, path: path))
      return SecretKeySigner(key)
    case .existing(let passphrases):
      // The public half of an external signer's key was put into `keys` beforehand.
      if let external = try KeyRing(layout).externalSigner(named: name, passphrases) { return external }
      let file = try SecretKeyFile.read(path: path)
      if !file.isEncrypted { notice(.unencrypted(name: name, path: path)) }
      return SecretKeySigner(try passphrases.open(file))
    }
  }

  private func ignoreSecrets() throws(SigningError) { try SecretsFolder.prepare(layout) }

  private func writePublicKey(_ key: Ed25519PublicKey, _ name: String) throws(SigningError) {
    let path = layout.publicKey(name)
    do { try PublicKeyFile.write(key, path: path) } catch {
      guard case .key(.alreadyExists, _) = error else { throw error }
      guard try PublicKeyFile.read(path: path) == key else { throw .alreadyExists(path: path) }
    }
  }

  private func rootPayload(_ signers: [TopLevelRole: [any Signer]], _ now: UTCTime) throws(SigningError) -> JSONTree {
    var keys: [ByteString: JSONTree] = [:]
    var roles: [ByteString: JSONTree] = [:]
    for role in TopLevelRole.allCases {
      var ids: [KeyID] = []
      for signer in signers[role] ?? [] {
        let id = Key(signer.publicKey).id
        keys[ByteString(id.digest.hexadecimal)] = Key.tree(signer.publicKey)
        ids.append(id)
      }
      do { roles[role.name] = try RoleKeys(keyIDs: ids, threshold: sizes[role]?.threshold ?? 1).tree } catch {
        throw .metadata(path: layout.keys, error)
      }
    }
    var members = RoleHeader(version: .first, expires: now.adding(days: policy.lifetime(of: .root))).members(of: .root)
    members[.consistentSnapshot] = .boolean(true)
    members[.keys] = .object(keys)
    members[.roles] = .object(roles)
    return .object(members)
  }
}
