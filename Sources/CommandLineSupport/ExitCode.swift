/// The exit codes of all commands, part of their documented interface.
package enum ExitCode: Int32, Sendable, CaseIterable {
  /// Done, or nothing to do.
  case done = 0
  /// A failure that no other code names.
  case failure = 1
  /// The command line itself is wrong.
  case usage = 2
  /// A signature is invalid, or too few of them are valid.
  case signature = 10
  /// Metadata has expired, or is older than what was already trusted.
  case expiredOrRolledBack = 11
  /// A file does not have the length or the digest that was signed.
  case fileMismatch = 12
  /// The network failed.
  case network = 13
  /// The disk failed, is full, or refuses access.
  case disk = 14
  /// Another process holds the lock.
  case locked = 15
  /// Input is malformed.
  case malformed = 16
  /// A key or a passphrase is missing or unusable.
  case key = 17
  /// There is nothing here for this device, or its runtime can't load the format.
  case nothingForDevice = 18
  /// A check ran to its end and found something.
  case found = 19
  /// The person interrupted.
  case interrupted = 130
}
