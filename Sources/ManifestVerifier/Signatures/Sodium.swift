internal import CSodium

/// libsodium, which every signature is checked with.
enum Sodium {
  /// Makes libsodium ready; safe to call from any thread, and only the first call does anything.
  static let isReady: Bool = sodium_init() >= 0
}
