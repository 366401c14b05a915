internal import FileIO
internal import ManifestVerifier
public import TUFMetadata

/// The keys of a repository, one by one: what the `key` verbs work on. A repository need not have been created yet.
public struct KeyStore {
  /// How a secret half is to be written.
  public enum Protection {
    case passphrase(PassphraseSource)
    /// In clear, by explicit wish.
    case none
  }

  /// Where the secret half of a key is.
  public enum Place: Equatable, Sendable {
    case file(path: String, isEncrypted: Bool)
    /// An external signer that is configured for whoever runs the command.
    case signer(name: String)
    /// Not here.
    case elsewhere
  }

  /// One key whose public half lies in `keys`.
  public struct Entry: Sendable {
    public let name: String
    public let holder: String?
    public let id: KeyID
    public let publicKey: Ed25519PublicKey
    /// In the newest root.
    public let roles: [TopLevelRole]
    /// The last root that listed it, where the newest does not.
    public let retiredAfter: Version?
    public let place: Place
    /// Whether `keys` holds the public half; else it was read from the file of the secret one, as a process leaves it that was killed between the
    /// two.
    public let hasPublicHalf: Bool
  }

  let layout: RepositoryLayout
  private let state: PublishedState?
  private let retired: RetiredKeys?

  /// Reads what is published; where nothing is, no key has a role. What killed processes left half written beside the keys is taken away.
  public init(_ layout: RepositoryLayout) throws(SigningError) {
    self.layout = layout
    for folder in [layout.secrets, layout.keys] { KeyFileAccess.removeLeftovers(in: folder) }
    do {
      state = try PublishedState(layout)
    } catch {
      guard case .noRepository = error else { throw error }
      state = nil
    }
    retired = if let state { try RetiredKeys(state) } else { nil }
  }

  /// Every key in `keys`, and every one whose secret half is here alone, in the order of the names.
  public func entries() throws(SigningError) -> [Entry] {
    let ring = try KeyRing(layout)
    let policy = try? Policy.read(layout.policy)
    var entries: [Entry] = []
    for (id, name) in ring.names.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      guard let key = ring.publicKeys[id] else { continue }
      let place: Place =
        if let signer = ring.signers[id] {
          .signer(name: signer)
        } else if let path = ring.secrets[id] {
          .file(path: path, isEncrypted: try SecretKeyFile.read(path: path).isEncrypted)
        } else {
          .elsewhere
        }
      entries.append(
        Entry(
          name: name, holder: policy?.holders[name], id: id, publicKey: key, roles: roles(of: id), retiredAfter: retired?.lastRoots[id],
          place: place, hasPublicHalf: true))
    }
    for (id, path) in ring.secrets where ring.names[id] == nil {
      let file = try SecretKeyFile.read(path: path)
      entries.append(
        Entry(
          name: ring.secretNames[id] ?? file.name, holder: nil, id: id, publicKey: file.publicKey, roles: roles(of: id),
          retiredAfter: retired?.lastRoots[id], place: .file(path: path, isEncrypted: file.isEncrypted), hasPublicHalf: false))
    }
    return entries.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  /// The roles of a key in the newest root.
  public func roles(of id: KeyID) -> [TopLevelRole] {
    guard let state else { return [] }
    return TopLevelRole.allCases.filter { state.root.payload[$0].keyIDs.contains(id) }
  }

  /// The last root that listed a key which the newest does not list.
  public func retiredAfter(_ id: KeyID) -> Version? { retired?.lastRoots[id] }

  /// The public half of a key, from `keys`.
  public func publicKey(named name: String) throws(SigningError) -> Ed25519PublicKey {
    try Self.requireName(name)
    let path = layout.publicKey(name)
    do { return try PublicKeyFile.read(path: path) } catch {
      guard case .system(.notFound, _, _) = error else { throw error }
      throw .noSuchKey(name: name, path: path)
    }
  }

  /// Writes `keys/NAME.pem` anew where it is missing, from the secret half, which is opened for that: so a key is whole again whose making was
  /// interrupted, or whose public half was lost.
  /// - Returns: nil where `keys/NAME.pem` is there, or `secrets/NAME.key` is not.
  /// - Parameter notice: told of a key that has no passphrase.
  public func restorePublicHalf(
    of name: String, _ passphrases: PassphraseSource, notice: (KeyNotice) -> Void
  ) throws(SigningError) -> Ed25519PublicKey? {
    try Self.requireName(name)
    guard try !isPresent(layout.publicKey(name)), try isPresent(layout.secretKey(name)) else { return nil }
    let file = try SecretKeyFile.read(path: layout.secretKey(name))
    let publicKey = try passphrases.open(file).publicKey
    if !file.isEncrypted { notice(.unencrypted(name: file.name, path: file.path)) }
    try PublicKeyFile.write(publicKey, path: layout.publicKey(name))
    return publicKey
  }

  // MARK: Adding

  /// Refuses, before anything is asked or made, a name under which no key can be added.
  /// - Parameter publicKeyMayExist: for a key that is brought along, whose public half may have come before it.
  public func requireFree(_ name: String, publicKeyMayExist: Bool = false) throws(SigningError) {
    try Self.requireName(name)
    for path in [layout.secretKey(name)] + (publicKeyMayExist ? [] : [layout.publicKey(name)]) where try isPresent(path) {
      throw .alreadyExists(path: path)
    }
  }

  /// Refuses a key that is not to be used anew: one of the worked example's, one that the roots have left behind, one that is there already under
  /// another name.
  public func requireFresh(_ publicKey: Ed25519PublicKey, name: String) throws(SigningError) {
    let id = Key(publicKey).id
    guard !ExampleKeys.contains(id) else { throw .exampleKey(id: id.description) }
    try retired?.refuse(id)
    if let other = try KeyRing(layout).names[id], other != name { throw .keyExists(name: other, id: id.description) }
  }

  /// Writes `secrets/NAME.key`, then `keys/NAME.pem`. Never overwrites; where the public half is there already, it has to be that of the key.
  public func add(
    _ key: borrowing SecretKey, name: String, _ protection: Protection, publicKeyMayExist: Bool = false
  ) throws(SigningError) {
    try requireFree(name, publicKeyMayExist: publicKeyMayExist)
    try requireFresh(key.publicKey, name: name)
    let hasPublicKey = publicKeyMayExist ? try isPresent(layout.publicKey(name)) : false
    if hasPublicKey, try publicKey(named: name) != key.publicKey { throw .key(.otherPublicKey, path: layout.publicKey(name)) }
    try SecretsFolder.check(layout)
    let path = layout.secretKey(name)
    // Before the first folder is made: without a passphrase there is nothing to make.
    let content: SecureBytes
    switch protection {
    case .none: do throws(KeyError) { content = try SecretKeyFile.clearText(key, name: name) } catch { throw .key(error, path: path) }
    case .passphrase(let source): content = try Self.encrypted(key, name, source, path)
    }
    var folders: [String] = []
    for folder in [layout.folder, layout.secrets, layout.keys] where try !isPresent(folder) { folders.append(folder) }
    var written: [String] = []
    do throws(SigningError) {
      if let ignored = try SecretsFolder.prepare(layout) { written.append(ignored) }
      try onDisk { () throws(FileError) in try FileSystem.createDirectories(layout.keys) }
      try KeyFileAccess.writeNew(path: path, content: content, isSecret: true)
      written.append(path)
      if !hasPublicKey { try PublicKeyFile.write(key.publicKey, path: layout.publicKey(name)) }
    } catch {
      Self.takeBack(written, folders)
      throw error
    }
  }

  /// Removes what was just made, as far as it can be.
  private static func takeBack(_ files: [String], _ folders: [String]) {
    for path in files.reversed() { do { try FileSystem.remove(path) } catch {} }
    for path in folders.reversed() { do { try FileSystem.removeDirectory(path) } catch {} }
  }

  /// Takes keys away again that were made for work that failed, and that no published or pending file names.
  /// - Returns: the names of those that are gone.
  public static func removeUnused(_ names: [String], _ layout: RepositoryLayout) -> [String] {
    let texts = [layout.metadata, layout.pending].flatMap { folder in
      ((try? FileSystem.names(inDirectory: folder)) ?? []).map { "\(folder)/\(String(decoding: $0, as: UTF8.self))" }
    }.filter { $0.hasSuffix(".json") }
    return names.filter { name in
      guard let id = try? Key(PublicKeyFile.read(path: layout.publicKey(name))).id else { return false }
      let isNamed = texts.contains { path in
        // What can't be read may name it.
        guard let text = try? readFile(path, limit: VerificationLimits().metadataByteCount) else { return true }
        return String(decoding: text, as: UTF8.self).contains(id.description)
      }
      if !isNamed { takeBack([layout.publicKey(name), layout.secretKey(name)], []) }
      return !isNamed
    }
  }

  private static func encrypted(
    _ key: borrowing SecretKey, _ name: String, _ source: PassphraseSource, _ path: String
  ) throws(SigningError) -> SecureBytes {
    try source.askForNew("the key \(name)")
    return try source.encrypt(key, name: name, path: path)
  }

  // MARK: Changing the passphrase

  /// Opens a secret key file and writes it anew under another passphrase, or none. The old content stays until the new one was opened and found to
  /// hold the same key.
  /// - Parameter notice: told of a key that has no passphrase, or had none: then its old content may still be read from the disk.
  /// - Returns: false where there was none, and is none now.
  @discardableResult public func changePassphrase(
    of name: String, from old: PassphraseSource, to protection: Protection, notice: (KeyNotice) -> Void
  ) throws(SigningError) -> Bool {
    try Self.requireName(name)
    let path = layout.secretKey(name)
    let file = try SecretKeyFile.read(path: path)
    let key = try old.open(file)
    let (keyName, wasEncrypted) = (file.name, file.isEncrypted)
    switch protection {
    case .none:
      let content: SecureBytes
      do throws(KeyError) { content = try SecretKeyFile.clearText(key, name: keyName) } catch { throw .key(error, path: path) }
      let publicKey = key.publicKey
      try KeyFileAccess.replaceSecret(path: path, content: content) { (written) throws(SigningError) in
        let proven = try SecretKeyFile(content: written, path: path).openUnencrypted()
        guard proven.publicKey == publicKey else { throw .key(.publicKeyMismatch, path: path) }
      }
      notice(.unencrypted(name: keyName, path: path))
      return wasEncrypted
    case .passphrase(let source):
      let content = try Self.encrypted(key, keyName, source, path)
      let publicKey = key.publicKey
      try KeyFileAccess.replaceSecret(path: path, content: content) { (written) throws(SigningError) in
        let proven = try source.open(SecretKeyFile(content: written, path: path))
        guard proven.publicKey == publicKey else { throw .key(.publicKeyMismatch, path: path) }
      }
      if !wasEncrypted { notice(.wasUnencrypted(name: keyName, path: path)) }
    }
    return true
  }

  // MARK: Names

  /// A name that is a file's name everywhere: no separator, nothing hidden, nothing that reads as an option.
  public static func requireName(_ name: String) throws(SigningError) {
    guard isName(name) else { throw .keyName(name) }
  }

  private static func isName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: false
      }
    }
    let others = Array("-_.".utf8)
    guard (1...SecretKeyText.nameByteLimit).contains(bytes.count), let first = bytes.first, isAlphanumeric(first) else { return false }
    return bytes.allSatisfy { isAlphanumeric($0) || others.contains($0) }
  }
}
