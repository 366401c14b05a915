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
  /// Input is malformed, or the trusted state that a device keeps is damaged.
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

extension ExitCode {
  /// The name that stands for the code in JSON output; it does not change once published.
  package var name: String {
    switch self {
    case .done: "done"
    case .failure: "failure"
    case .usage: "usage"
    case .signature: "signature"
    case .expiredOrRolledBack: "expired-or-rolled-back"
    case .fileMismatch: "file-mismatch"
    case .network: "network"
    case .disk: "disk"
    case .locked: "locked"
    case .malformed: "malformed"
    case .key: "key"
    case .nothingForDevice: "nothing-for-device"
    case .found: "found"
    case .interrupted: "interrupted"
    }
  }

  /// What help texts say about the code.
  package var summary: String {
    switch self {
    case .done: "done, or nothing to do"
    case .failure: "another failure"
    case .usage: "the command line is wrong"
    case .signature: "a signature is invalid, or too few are valid"
    case .expiredOrRolledBack: "metadata has expired, or is older than what was trusted"
    case .fileMismatch: "a file does not have its signed length or digest"
    case .network: "the network failed"
    case .disk: "the disk failed, is full, or refuses access"
    case .locked: "another process holds the lock"
    case .malformed: "input is malformed, or the kept state damaged"
    case .key: "a key or passphrase is missing or unusable"
    case .nothingForDevice: "nothing here for this device or its runtime"
    case .found: "the check ran to its end and found something"
    case .interrupted: "interrupted"
    }
  }
}
