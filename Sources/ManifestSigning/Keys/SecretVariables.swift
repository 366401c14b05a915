internal import Synchronization

/// A passphrase that several owners use.
final class KeptPassphrase: Sendable {
  let passphrase: Passphrase

  init(_ passphrase: consuming Passphrase) { self.passphrase = passphrase }
}

/// The secrets that came in the environment: taken out of it, all at once, and kept in locked memory until they are asked for.
final class SecretVariables {
  /// Variables with this beginning hold passphrases, PINs or choices of manifest-sign: no other program sees one.
  static let ownPrefix = "MANIFEST_SIGN_"

  private typealias Taken = [String: Result<KeptPassphrase, KeyError>]

  /// What was taken when the process started.
  private static let takenAtStart = Mutex<Taken>([:])

  private var taken: Taken

  /// Takes them before anyone asks for one: a command that needs none does not leave them lying around either.
  /// - Parameter names: of those that do not begin with `ownPrefix`.
  static func takeAtStart(_ names: [String] = []) {
    for name in ProcessAccess.variableNames(withPrefix: ownPrefix) + names {
      guard let value = takeFromEnvironment(name) else { continue }
      takenAtStart.withLock { $0[name] = value }
    }
  }

  init() {
    taken = Self.takenAtStart.withLock { $0 }
    for name in ProcessAccess.variableNames(withPrefix: Self.ownPrefix) { taken[name] = Self.takeFromEnvironment(name) }
  }

  /// Takes a variable out of the environment, where it is set and was not taken before.
  func reserve(_ name: String) {
    if taken[name] == nil { taken[name] = Self.takeFromEnvironment(name) }
  }

  /// What a variable held; nil where it was not set.
  /// - Throws: `KeyError.passphraseTooLong`, or what `SecureBytes` throws.
  func take(_ name: String) throws(KeyError) -> KeptPassphrase? {
    reserve(name)
    return try taken[name]?.get()
  }

  /// What can't be kept is wiped all the same, and is an error only for whoever asks for it.
  private static func takeFromEnvironment(_ name: String) -> Result<KeptPassphrase, KeyError>? {
    do throws(KeyError) {
      guard let value = try ProcessAccess.takeVariable(name, limit: Passphrase.byteLimit) else { return nil }
      return .success(KeptPassphrase(try Passphrase(value)))
    } catch { return .failure(error) }
  }
}
