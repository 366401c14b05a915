internal import CSodium

/// libsodium, made ready once for the whole process.
enum Sodium {
  private static let isReady = sodium_init() >= 0

  /// To be called before anything random or secret is made.
  /// - Throws: `KeyError.cryptographyUnavailable` where the system has no source of random numbers.
  static func prepare() throws(KeyError) {
    guard isReady else { throw .cryptographyUnavailable }
  }
}
