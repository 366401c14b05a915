/// What a person should know of where a passphrase, or a PIN, came from.
public enum PassphraseNotice: Hashable, Sendable {
  /// An option was given, and a variable of the environment outweighs it.
  case unused(String, variable: String)
  /// Other users can read the file.
  /// - `mends`: the command that mends it; nil where the file is not this user's to change.
  case readable(path: String, mode: UInt32, mends: String?)
  /// The file belongs to another user, who can read it.
  case foreign(path: String, owner: UInt32)
}

extension PassphraseNotice: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unused(let option, let variable): "\(variable) is set and comes first: \(option) is not read"
    case .readable(let path, let mode, let command?):
      "other users can read the secret in \(path) (mode 0\(String(mode, radix: 8))); run: \(command)"
    case .readable(let path, let mode, nil):
      "other users can read the secret in \(path) (mode 0\(String(mode, radix: 8))); have it mounted with mode 0400 (Kubernetes: defaultMode: 0400)"
    case .foreign(let path, let owner): "the secret in \(path) belongs to user \(owner), who can read and change it"
    }
  }
}
