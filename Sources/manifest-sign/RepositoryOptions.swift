internal import CommandLineSupport
internal import ManifestSigning
internal import TUFMetadata

/// The options that say where the repository lies and how its keys are opened.
enum RepositoryOptions {
  static let repository = Option.value(
    "--repository", "DIR", "The folder that holds manifests, keys and secrets.", default: ".")
  static let secrets = Option.value("--secrets", "DIR", "Where the secret keys lie, if not in secrets of the repository.")
  static let passphraseFile = Option.value("--passphrase-file", "FILE", "Read the passphrase from a file.")
  static let passphraseDescriptor = Option.integer(
    "--passphrase-fd", "N", "Read the passphrase from an open file descriptor.", in: 0...65_535)

  static let passphrases = [passphraseFile, passphraseDescriptor]
  static let passphraseConflict = [passphraseFile.name, passphraseDescriptor.name]
  /// What help says of passphrases.
  static let passphraseText =
    "A passphrase comes from the environment variable MANIFEST_SIGN_PASSPHRASE, else from --passphrase-file or --passphrase-fd, else it is "
    + "asked for at the terminal, without echo. It is never an argument."

  static func layout(_ invocation: Invocation) -> RepositoryLayout {
    RepositoryLayout(
      invocation.required(repository.name), secrets: invocation.value(secrets.name), signers: signersPath)
  }

  /// The configuration of the external signers of whoever runs the command.
  static var signersPath: String? {
    SignersConfiguration.standardPath(configurationHome: Surroundings.variable("XDG_CONFIG_HOME"), home: Surroundings.variable("HOME"))
  }

  /// The layout for a verb that touches no secret key.
  static func publishedLayout(_ invocation: Invocation) -> RepositoryLayout { RepositoryLayout(invocation.required(repository.name)) }

  /// - Parameter output: where the person is told what there is to know of the passphrase's source.
  static func passphraseSource(_ invocation: Invocation, _ output: Output) throws(SigningError) -> PassphraseSource {
    let option: PassphraseSource.Option? =
      if let file = invocation.value(passphraseFile.name) {
        .file(file)
      } else if let number = invocation.integer(passphraseDescriptor.name) {
        .descriptor(Int32(number))
      } else {
        nil
      }
    // The prompt writes into locked memory that PassphraseSource lends it for the call.
    return try unsafe PassphraseSource(
      option: option,
      prompt: { text, buffer in
        do throws(PromptError) {
          return .typed(byteCount: try unsafe Prompt.secret("\(text)", into: buffer, insteadOf: passphraseFile.name))
        } catch {
          return error.passphraseAnswer
        }
      }, isCancelled: { Interruption.isRequested }, notice: { notice in output.warning("\(notice)") })
  }
}

extension PromptError {
  /// What became of a question for a passphrase.
  fileprivate var passphraseAnswer: PassphraseSource.Answer {
    switch self {
    case .noTerminal: .noTerminal
    default: .interrupted
    }
  }
}
