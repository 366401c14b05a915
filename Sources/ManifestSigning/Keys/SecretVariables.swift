/// A passphrase that several owners use.
final class KeptPassphrase {
  let passphrase: Passphrase

  init(_ passphrase: consuming Passphrase) { self.passphrase = passphrase }
}

/// The secrets that came in the environment: taken out of it, all at once, and kept in locked memory until they are asked for.
final class SecretVariables {
  /// Variables with this beginning hold passphrases, PINs or choices of manifest-sign: no other program sees one.
  static let ownPrefix = "MANIFEST_SIGN_"

  private var taken: [String: Result<KeptPassphrase, KeyError>] = [:]

  /// - Throws: what `SecureBytes` throws. One that is too long is an error only where it is asked for.
  init() throws(SigningError) {
    for name in ProcessAccess.variableNames(withPrefix: Self.ownPrefix) {
      do throws(KeyError) { try reserve(name) } catch { throw .key(error, path: name) }
    }
  }

  /// Takes a variable out of the environment, where it is set and was not taken before.
  func reserve(_ name: String) throws(KeyError) {
    guard taken[name] == nil else { return }
    do throws(KeyError) {
      guard let value = try ProcessAccess.takeVariable(name, limit: Passphrase.byteLimit) else { return }
      taken[name] = .success(KeptPassphrase(try Passphrase(value)))
    } catch {
      guard case .passphraseTooLong = error else { throw error }
      taken[name] = .failure(error)
    }
  }

  /// What a variable held; nil where it was not set.
  /// - Throws: `KeyError.passphraseTooLong`, or what `SecureBytes` throws.
  func take(_ name: String) throws(KeyError) -> KeptPassphrase? {
    try reserve(name)
    return try taken[name]?.get()
  }
}
