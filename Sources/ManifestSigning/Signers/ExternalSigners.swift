internal import TUFMetadata

/// The external signers at hand, made ready when a role needs them.
struct ExternalSigners {
  private let entries: [KeyID: SignersConfiguration.Entry]

  /// - Parameter path: the configuration; nil for none.
  init(configuredAt path: String?) throws(SigningError) {
    let configuration = if let path { try SignersConfiguration.read(path: path) } else { SignersConfiguration() }
    entries = Dictionary(configuration.entries.map { ($0.keyID, $0) }, uniquingKeysWith: { first, _ in first })
  }

  subscript(id: KeyID) -> SignersConfiguration.Entry? { entries[id] }

  var names: [KeyID: String] { entries.mapValues(\.name) }

  /// The signer of a key.
  /// - Parameters:
  ///   - publicKey: from `keys`, for a configuration that gives the key id only.
  ///   - passphrases: whose prompt also asks for PINs.
  /// - Returns: nil where none is configured.
  func signer(for id: KeyID, publicKey: Ed25519PublicKey?, _ passphrases: PassphraseSource) throws(SigningError) -> ExternalSigner? {
    guard let entry = entries[id] else { return nil }
    guard let key = entry.publicKey ?? publicKey else { throw .signer(name: entry.name, .unknownPublicKey) }
    // Those of other tokens too: no module or program sees a PIN that is not meant for it.
    for case .token(_, _, let variable, _) in entries.values.map(\.kind) { passphrases.reserve(variable) }
    return ExternalSigner(
      name: entry.name, publicKey: key, longestMessage: entry.longestMessage, source: try source(of: entry, passphrases))
  }

  private func source(of entry: SignersConfiguration.Entry, _ passphrases: PassphraseSource) throws(SigningError) -> any SignatureSource {
    switch entry.kind {
    case .command(let words, let seconds):
      try FileSafety.requireOwn(words[0], allowsRoot: true)
      return CommandSource(words: words, seconds: seconds, isCancelled: passphrases.isCancelled)
    case .token(let text, let pinFile, let pinVariable, let seconds):
      let uri: PKCS11URI
      do { uri = try PKCS11URI(text) } catch { throw .signer(name: entry.name, .module(path: text, reason: error.reason)) }
      let modulePath = uri.modulePath ?? ""
      try FileSafety.requireOwn(modulePath, allowsRoot: true)
      let pins = try passphrases.another(variable: pinVariable, option: pinFile.map { .configuredFile($0) }, for: uri.tokenDescription)
      let settings = PKCS11Source.Settings(uri: text, modulePath: modulePath, seconds: seconds)
      return PKCS11Source(settings, isCancelled: passphrases.isCancelled) { (use) throws(SignerFault) in
        do throws(SigningError) {
          try pins.withPassphrase(for: "PIN of \(entry.name)") { (pin) throws(SigningError) in
            do throws(SignerFault) { try use(pin) } catch { throw .signer(name: entry.name, error) }
          }
        } catch {
          switch error {
          case .signer(_, let fault): throw fault
          case .key(.passphraseMissing(let variable), _): throw .noPIN(variable: variable)
          case .key(.interrupted, _): throw .interrupted
          case .key(let error, let path): throw .unusablePIN(error, path: path)
          case .system(let errno, _, let path): throw .pinFile(path: path, errno)
          default: throw .noPIN(variable: pinVariable)
          }
        }
      }
    }
  }
}
