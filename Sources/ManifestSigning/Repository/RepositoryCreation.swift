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

  /// The names of the keys that roles of such sizes get.
  public static func keyNames(_ sizes: [TopLevelRole: RoleSize]) -> [TopLevelRole: [String]] {
    var names: [TopLevelRole: [String]] = [:]
    for role in TopLevelRole.allCases { names[role] = (1...(sizes[role]?.keyCount ?? 1)).map { "\(role.rawValue)-\($0)" } }
    return names
  }

  /// Makes the keys and `1.root.json`, which comes last: a repository is there whole, or not at all.
  /// - Parameters:
  ///   - now: the time of signing, from which the expiry is counted.
  ///   - isCancelled: is asked before each key.
  ///   - notice: told of each key without a passphrase.
  /// - Throws: `alreadyExists`, or what is wrong with the passphrase, before anything is written; nothing is ever overwritten. A later
  ///   failure takes away again what was written.
  public func run(
    keys: Keys, now: UTCTime, isCancelled: () -> Bool = { false }, notice: (KeyNotice) -> Void
  ) throws(SigningError) -> Result {
    try PublishedSecrets.refuse(in: layout)
    let names = Self.keyNames(sizes)
    try requireNothingIsOverwritten(names, keys)
    // Asked for before the first folder is made: without a passphrase there is nothing to make.
    if case .generated(let passphrases) = keys {
      try passphrases.withNewPassphrase(for: "the new keys") { (_: borrowing Passphrase) throws(SigningError) in }
    }
    var signers: [TopLevelRole: [any Signer]] = [:]
    if case .existing(let passphrases) = keys {
      signers = try existingSigners(names, passphrases, notice)
    }
    // Keys that are there sign before anything is made: what refuses to, or is refused, leaves nothing behind.
    let early: Trusted<Root>? = signers.isEmpty ? nil : try signedRoot(names, signers, now)
    // Keys that were made elsewhere may lie where nothing can be written, and in a folder that no new key is to be put in.
    let makesSecretsFolder = signers.isEmpty || layout.secrets == RepositoryLayout(layout.folder).secrets
    if makesSecretsFolder { try SecretsFolder.check(layout) }
    let folders = try missingFolders()
    try onDisk { () throws(FileError) in try FileSystem.createDirectories(layout.folder) }
    let lock = try Repository.lock(layout)
    var written: [String] = []
    do {
      try requireNothingIsOverwritten(names, keys)
      if makesSecretsFolder, let path = try SecretsFolder.prepare(layout) { written.append(path) }
      if signers.isEmpty { signers = try newSigners(names, keys, &written, isCancelled, notice) }
      let root = if let early { early } else { try signedRoot(names, signers, now) }
      let result = try create(names, signers, root, &written)
      _ = consume lock  // Held until here.
      return result
    } catch {
      takeBack(written, folders)
      throw error
    }
  }

  private func create(
    _ names: [TopLevelRole: [String]], _ signers: [TopLevelRole: [any Signer]], _ root: Trusted<Root>, _ written: inout [String]
  ) throws(SigningError) -> Result {
    for role in TopLevelRole.allCases {
      for (name, signer) in zip(names[role] ?? [], signers[role] ?? []) { try writePublicKey(signer.publicKey, name, &written) }
    }
    try writePolicy(&written)
    try onDisk { () throws(FileError) in
      try FileSystem.createDirectories(layout.metadata)
      try FileSystem.createDirectories(layout.targets)
      try createFile(at: layout.metadata(.root, .first), with: root.bytes)
    }
    TrustedRoot.keep(root.bytes, layout)
    return Result(root: root, rootPath: layout.metadata(.root, .first), keyNames: names)
  }

  /// - Throws: `published` also where a key is one of the worked example's, and the root is not.
  private func signedRoot(
    _ names: [TopLevelRole: [String]], _ signers: [TopLevelRole: [any Signer]], _ now: UTCTime
  ) throws(SigningError) -> Trusted<Root> {
    try requireDistinctKeys(names, signers)
    let root = try SignedMetadata(rootPayload(signers, now).canonicalBytes, by: signers[.root] ?? [])
    do { return try Trusted(selfSigned: root.bytes) } catch {
      if case .exampleKey(let id) = error { throw .exampleKey(id: id) }
      throw .published(error)
    }
  }

  /// A key that signs every day must not be the root key as well.
  private func requireDistinctKeys(_ names: [TopLevelRole: [String]], _ signers: [TopLevelRole: [any Signer]]) throws(SigningError) {
    var seen: [KeyID: String] = [:]
    for role in TopLevelRole.allCases {
      for (name, signer) in zip(names[role] ?? [], signers[role] ?? []) {
        let id = Key(signer.publicKey).id
        if let other = seen.updateValue(name, forKey: id) { throw .sharedKey(names: [other, name], id: id.description) }
      }
    }
  }

  /// Removes what this run made, as far as it can be: no root names these keys, so nothing was signed with them that anyone trusts.
  private func takeBack(_ written: [String], _ folders: [String]) {
    do throws(Errno) {
      _ = try FileSystem.status(of: layout.metadata(.root, .first), followingLinks: false)
    } catch {
      guard error == .notFound || error == .notDirectory else { return }
      for path in written.reversed() { do { try FileSystem.remove(path) } catch {} }
      // A folder that this run made holds nothing but the lock, which nobody else can be waiting for.
      if folders.contains(layout.folder) { do { try FileSystem.remove(layout.lock) } catch {} }
      for path in folders.reversed() { do { try FileSystem.removeDirectory(path) } catch {} }
    }
  }

  /// The folders that this run will make, those that hold others first.
  private func missingFolders() throws(SigningError) -> [String] {
    var folders: [String] = []
    for path in [layout.folder, "\(layout.folder)/manifests", layout.metadata, layout.targets, layout.keys, layout.secrets]
    where try !isPresent(path) {
      folders.append(path)
    }
    return folders
  }

  private func requireNothingIsOverwritten(_ names: [TopLevelRole: [String]], _ keys: Keys) throws(SigningError) {
    try Self.requireMissing(layout.metadata(.root, .first))
    // Metadata of another repository would belong to this one from then on.
    for name in try publishedNames().sorted() where name.hasSuffix(".json") { throw .alreadyExists(path: "\(layout.metadata)/\(name)") }
    guard case .existing = keys else {
      for name in names.values.joined().sorted() {
        try Self.requireMissing(layout.secretKey(name))
        try Self.requireMissing(layout.publicKey(name))
      }
      return try Self.requireMissing(layout.policy)
    }
  }

  private func publishedNames() throws(SigningError) -> [String] {
    do throws(Errno) {
      return try FileSystem.names(inDirectory: layout.metadata).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      guard error == .notFound || error == .notDirectory else { throw .file(.system(.list, path: layout.metadata, error)) }
      return []
    }
  }

  private static func requireMissing(_ path: String) throws(SigningError) {
    guard try !isPresent(path) else { throw .alreadyExists(path: path) }
  }

  private func existingSigners(
    _ names: [TopLevelRole: [String]], _ passphrases: PassphraseSource, _ notice: (KeyNotice) -> Void
  ) throws(SigningError) -> [TopLevelRole: [any Signer]] {
    // The public half of an external signer's key was put into `keys` beforehand.
    let ring = try KeyRing(layout)
    var signers: [TopLevelRole: [any Signer]] = [:]
    for role in TopLevelRole.allCases {
      var missing: [String] = []
      for name in names[role] ?? [] where !ring.hasExternalSigner(named: name) {
        if try !isPresent(layout.secretKey(name)) { missing.append(name) }
      }
      guard missing.isEmpty else {
        let atHand = (names[role] ?? []).filter { !missing.contains($0) }
        throw .missingKeys(role: .topLevel(role), threshold: sizes[role]?.threshold ?? 1, atHand: atHand, missing: missing)
      }
      for name in names[role] ?? [] {
        if let signer = try ring.externalSigner(named: name, passphrases) {
          signers[role, default: []].append(signer)
          continue
        }
        let file = try SecretKeyFile.read(path: layout.secretKey(name))
        if !file.isEncrypted { notice(.unencrypted(name: name, path: file.path)) }
        signers[role, default: []].append(SecretKeySigner(try passphrases.open(file)))
      }
    }
    return signers
  }

  private func newSigners(
    _ names: [TopLevelRole: [String]], _ keys: Keys, _ written: inout [String], _ isCancelled: () -> Bool, _ notice: (KeyNotice) -> Void
  ) throws(SigningError) -> [TopLevelRole: [any Signer]] {
    var signers: [TopLevelRole: [any Signer]] = [:]
    for role in TopLevelRole.allCases {
      for name in names[role] ?? [] {
        guard !isCancelled() else { throw .cancelled }
        signers[role, default: []].append(SecretKeySigner(try newKey(name, keys, &written, notice)))
      }
    }
    return signers
  }

  private func newKey(
    _ name: String, _ keys: Keys, _ written: inout [String], _ notice: (KeyNotice) -> Void
  ) throws(SigningError) -> SecretKey {
    let path = layout.secretKey(name)
    let key = try SecretKey.generate()
    if case .generated(let passphrases) = keys {
      try passphrases.withNewPassphrase(for: "the new keys") { (passphrase) throws(SigningError) in
        try SecretKeyFile.write(key, name: name, passphrase: passphrase, path: path)
      }
    } else {
      try SecretKeyFile.writeUnencrypted(key, name: name, path: path)
      notice(.unencrypted(name: name, path: path))
    }
    written.append(path)
    return key
  }

  private func writePublicKey(_ key: Ed25519PublicKey, _ name: String, _ written: inout [String]) throws(SigningError) {
    let path = layout.publicKey(name)
    do { try PublicKeyFile.write(key, path: path) } catch {
      guard case .key(.alreadyExists, _) = error else { throw error }
      guard try PublicKeyFile.read(path: path) == key else { throw .alreadyExists(path: path) }
      return
    }
    written.append(path)
  }

  private func writePolicy(_ written: inout [String]) throws(SigningError) {
    do throws(FileError) {
      try createFile(at: layout.policy, with: policy.bytes)
      written.append(layout.policy)
    } catch {
      guard error.errno == .exists else { throw .file(error) }
      guard try Policy.read(layout.policy) == policy else { throw .alreadyExists(path: layout.policy) }
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
