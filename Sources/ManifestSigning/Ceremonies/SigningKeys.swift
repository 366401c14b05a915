public import TUFMetadata

/// The keys at hand of whoever signs: secret key files and external signers, or keys in memory. Each is opened once, when it first signs.
///
/// Not safe to use from several threads.
public final class SigningKeys {
  private let ring: KeyRing?
  private let passphrases: PassphraseSource?
  private let notice: (KeyNotice) -> Void
  private var opened: [KeyID: any Signer] = [:]
  private var names: [KeyID: String]
  private let rehearsed: SigningKeys?

  /// The keys of a repository's folders, and the external signers of whoever runs the command.
  /// - Parameters:
  ///   - passphrases: asked when a key is opened.
  ///   - notice: told of each key without a passphrase.
  public init(_ layout: RepositoryLayout, _ passphrases: PassphraseSource, notice: @escaping (KeyNotice) -> Void) throws(SigningError) {
    let ring = try KeyRing(layout)
    self.ring = ring
    self.passphrases = passphrases
    self.notice = notice
    names = ring.names
    rehearsed = nil
  }

  /// Keys in memory.
  package init(_ signers: [(name: String, signer: any Signer)]) {
    ring = nil
    passphrases = nil
    notice = { _ in }
    rehearsed = nil
    names = [:]
    for (name, signer) in signers {
      names[Key(signer.publicKey).id] = name
      opened[Key(signer.publicKey).id] = signer
    }
  }

  private init(rehearsing keys: SigningKeys) {
    ring = keys.ring
    passphrases = keys.passphrases
    notice = { _ in }
    names = keys.names
    rehearsed = keys
  }

  /// The same keys, which sign nothing: they ask the limits of external signers, and give signatures of zeros.
  func rehearsal() -> SigningKeys { SigningKeys(rehearsing: self) }

  var isRehearsal: Bool { rehearsed != nil }

  /// Whether a program or a token may sign, which leaves a trace there.
  var hasExternalSigners: Bool { ring.map { !$0.signers.isEmpty } ?? false }

  /// What people call a key: its name, or the beginning of its id where it has none.
  public func name(of id: KeyID) -> String { names[id] ?? ring?.name(of: id) ?? "\(id.description.prefix(12))…" }

  /// Whether the key can sign here.
  public func isAtHand(_ id: KeyID) -> Bool { opened[id] != nil || ring?.isAtHand(id) ?? false || rehearsed?.isAtHand(id) ?? false }

  /// How many of a role's keys can sign here.
  func countAtHand(_ keys: RoleKeys) -> Int { keys.keyIDs.filter(isAtHand).count }

  /// Opens a key, where it is at hand.
  func signer(_ id: KeyID) throws(SigningError) -> (any Signer)? {
    if let known = opened[id] { return known }
    if let rehearsed {
      guard let signer = try rehearsed.signer(id) else { return nil }
      return SignerRehearsal(signer)
    }
    guard let ring, let passphrases, let signer = try ring.signer(id, passphrases, notice: notice) else { return nil }
    opened[id] = signer
    return signer
  }

  /// Signs a file with each of these keys that is at hand and has not signed yet.
  /// - Returns: who has signed now.
  func sign(_ file: inout MetadataEnvelope, for requirements: [SigningRequirement]) throws(SigningError) -> [KeyID] {
    var signers: [(KeyID, any Signer)] = []
    for requirement in requirements {
      for id in requirement.keys.keyIDs where isAtHand(id) && !signers.contains(where: { $0.0 == id }) {
        guard let key = requirement.publicKey(id), !file.isSigned(by: id, key, isRehearsal: isRehearsal) else { continue }
        if let signer = try signer(id) { signers.append((id, signer)) }
      }
    }
    // All are asked before one signs.
    for (_, signer) in signers { try signer.requireRoom(forMessageOf: file.message.count) }
    for (id, signer) in signers { file.add(try signer.sign(file.message), by: id) }
    return signers.map(\.0)
  }
}
