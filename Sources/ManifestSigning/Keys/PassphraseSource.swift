public import FileIO

/// Where a passphrase comes from: the environment, else the file or descriptor of an option, else a prompt without echo.
///
/// It is asked for once and kept, in locked memory, for every key that it opens. Not safe to use from several threads.
@safe public final class PassphraseSource {
  /// What the person chose by an option.
  public enum Option: Equatable, Sendable {
    /// `--passphrase-file FILE`
    case file(String)
    /// `--passphrase-fd N`
    case descriptor(Int32)
    /// A file that a configuration names for good, which a variable outweighs without a word.
    case configuredFile(String)
  }

  /// What became of a prompt.
  public enum Answer: Equatable, Sendable {
    /// So many bytes were typed, without the line end, and stand at the start of the buffer.
    case typed(byteCount: Int)
    /// There was more than the buffer holds.
    case tooLong
    /// There is no terminal.
    case noTerminal
    /// The person pressed Control-C or Control-D.
    case interrupted
    /// The terminal failed.
    case failed(Errno)
  }

  /// Shows a text (the prompt adds the colon) and reads one line without echo straight into the buffer.
  public typealias Prompt = (_ text: String, _ buffer: UnsafeMutableRawBufferPointer) -> Answer

  /// The environment variable that is read unless told otherwise.
  public static let standardVariable = "MANIFEST_SIGN_PASSPHRASE"
  /// The one for what is written, where a command opens one thing and writes another.
  public static let newVariable = "MANIFEST_SIGN_NEW_PASSPHRASE"
  /// How often a wrong passphrase may be typed for one key.
  private static let attempts = 3

  private let variable: String
  private let option: Option?
  // The prompt gets a buffer for the time of its call only.
  private let prompt: Prompt?
  private let notice: (PassphraseNotice) -> Void
  private let variables: SecretVariables
  private var kept: KeptPassphrase?
  private var keptIsTyped = false
  /// Whether the variable is set, to nothing maybe, which the standard one may be on purpose.
  private let hasVariable: Bool
  private var others: [String: PassphraseSource] = [:]
  /// Whether the person wants the command to end; asked while a signer works.
  let isCancelled: () -> Bool

  /// Takes all of manifest-sign's variables out of the environment at once, where `ProcessHardening` has not done so before: no program or module
  /// that is started later sees one, whether it is needed or not.
  ///
  /// To be called before any thread is started.
  /// - Parameters:
  ///   - variable: where it is set, even to nothing, the option is not used.
  ///   - prompt: nil where nothing may be asked.
  ///   - isCancelled: whether the person wants the command to end; asked while a signer works.
  ///   - notice: told what the person should know of where the passphrase came from.
  /// - Throws: `KeyError.passphraseTooLong`, or what `SecureBytes` throws.
  public convenience init(
    variable: String = PassphraseSource.standardVariable, option: Option?, prompt: Prompt?,
    isCancelled: @escaping () -> Bool = { false }, notice: @escaping (PassphraseNotice) -> Void = { _ in }
  ) throws(SigningError) {
    // Handed on, not called.
    try unsafe self.init(variable, option, prompt, isCancelled, notice, SecretVariables())
  }

  private init(
    _ variable: String, _ option: Option?, _ prompt: Prompt?, _ isCancelled: @escaping () -> Bool,
    _ notice: @escaping (PassphraseNotice) -> Void, _ variables: SecretVariables
  ) throws(SigningError) {
    self.variable = variable
    self.option = option
    // Kept, not called.
    unsafe self.prompt = prompt
    self.isCancelled = isCancelled
    self.notice = notice
    self.variables = variables
    do throws(KeyError) { kept = try variables.take(variable) } catch { throw .key(error, path: variable) }
    hasVariable = kept != nil
    guard hasVariable else { return }
    switch option {
    case .file(let path): notice(.unused(path, variable: variable))
    case .descriptor(let number): notice(.unused("file descriptor \(number)", variable: variable))
    case .configuredFile, nil: break
    }
  }

  /// Opens a key, with a passphrase where it has one.
  ///
  /// A passphrase that was typed for another key is tried first; then the person is asked, three times at most.
  /// - Throws: `KeyError.wrongPassphrase`, `KeyError.passphraseMissing`, and what `SecretKeyFile.open` throws.
  public func open(_ file: borrowing SecretKeyFile) throws(SigningError) -> SecretKey {
    guard file.isEncrypted else { return try file.openUnencrypted() }
    try readOption()
    var attempt = 0
    while true {
      if kept != nil {
        do throws(SigningError) {
          return try withKept { (passphrase) throws(SigningError) in try file.open(with: passphrase) }
        } catch {
          guard case .key(.wrongPassphrase, _) = error, keptIsTyped, attempt < Self.attempts else { throw error }
        }
      }
      attempt += 1
      let again = attempt > 1 ? "Wrong passphrase. Again, the passphrase" : "Passphrase"
      kept = KeptPassphrase(try ask("\(again) of the key \"\(file.name)\""))
      keptIsTyped = true
    }
  }

  /// Lends a passphrase for a new key; typed, it must be typed twice. The same one serves all keys made in one go.
  /// - Parameters:
  ///   - name: what is being protected, for the prompt.
  ///   - body: must not use this source.
  /// - Throws: `KeyError.passphrasesDiffer`, `KeyError.passphraseEmpty` (but where the standard variable is set to nothing), `KeyError.passphraseMissing`.
  public func withNewPassphrase<R: ~Copyable>(
    for name: String, _ body: (borrowing Passphrase) throws(SigningError) -> R
  ) throws(SigningError) -> R {
    try askForNew(name)
    return try withKept(body)
  }

  /// Sees to it that there is a passphrase for a new key.
  func askForNew(_ name: String) throws(SigningError) {
    try readOption()
    if let kept {
      // A command that failed, or a pipe that was read before, would leave a key that anyone can open.
      guard kept.passphrase.isEmpty, !isChosenEmpty else { return }
      throw .key(.passphraseEmpty, path: place)
    }
    let first = try ask("New passphrase for \(name)")
    guard !first.isEmpty else { throw .key(.passphraseEmpty, path: "") }
    let second = try ask("The same passphrase again")
    guard first.isEqual(to: second) else { throw .key(.passphrasesDiffer, path: "") }
    kept = KeptPassphrase(first)
    keptIsTyped = true
  }

  /// Sees to it that there is a passphrase for something that exists.
  func askOnce(_ text: String) throws(SigningError) {
    try readOption()
    guard kept == nil else { return }
    kept = KeptPassphrase(try ask(text))
    keptIsTyped = true
  }

  /// The text of a new file for a key, under the passphrase that was asked for before.
  func encrypt(_ key: borrowing SecretKey, name: String, path: String) throws(SigningError) -> SecureBytes {
    switch kept {
    case .none: throw .key(.passphraseMissing(variable: variable), path: path)
    case .some(let kept):
      do throws(KeyError) {
        return try SecretKeyFile.encrypt(key, name: name, passphrase: kept.passphrase, costs: .standard)
      } catch { throw .key(error, path: path) }
    }
  }

  /// Opens the file of another program with the passphrase that was asked for before.
  func openKept(_ file: borrowing ForeignKeyFile) throws(SigningError) -> ForeignKeyFile.Opened {
    switch kept {
    case .none: throw .key(.passphraseMissing(variable: variable), path: file.path)
    case .some(let kept): return try file.open(with: kept.passphrase)
    }
  }

  /// Lends a passphrase, or PIN, that opens something else than a secret key file; typed, it is asked for once.
  /// - Parameters:
  ///   - name: what it opens, for the prompt: `the file backup.pem`.
  ///   - body: must not use this source.
  public func withPassphrase<R: ~Copyable>(
    for name: String, _ body: (borrowing Passphrase) throws(SigningError) -> R
  ) throws(SigningError) -> R {
    try askOnce(name)
    return try withKept(body)
  }

  /// The source of another secret, asked for by the same prompt, and kept as long as this source.
  /// - Parameter purpose: what the secret opens; the same source serves the same purpose again. What one was typed for is never tried on another.
  public func another(variable: String, option: Option?, for purpose: String) throws(SigningError) -> PassphraseSource {
    if let known = others[purpose] { return known }
    // Handed on, not called.
    let new = try unsafe PassphraseSource(variable, option, prompt, isCancelled, notice, variables)
    others[purpose] = new
    return new
  }

  /// Takes another variable out of the environment, for a source that may be wanted later.
  func reserve(_ variable: String) {
    variables.reserve(variable)
  }

  private var isChosenEmpty: Bool { hasVariable && variable == Self.standardVariable }

  /// Where the passphrase comes from, for messages.
  private var place: String {
    guard !hasVariable else { return variable }
    return switch option {
    case .file(let path), .configuredFile(let path): path
    case .descriptor(let number): "file descriptor \(number)"
    case nil: ""
    }
  }

  /// Whether the passphrase that was used is empty, as an unset variable of a CI leaves it: the person should know.
  public var isEmpty: Bool { kept?.passphrase.isEmpty ?? false }

  private func withKept<R: ~Copyable>(_ body: (borrowing Passphrase) throws(SigningError) -> R) throws(SigningError) -> R {
    switch kept {
    case .some(let kept): return try body(kept.passphrase)
    case .none: throw .key(.passphraseMissing(variable: variable), path: "")
    }
  }

  private func readOption() throws(SigningError) {
    guard kept == nil, let option else { return }
    let content: SecureBytes
    let path: String
    switch option {
    case .file(let file), .configuredFile(let file):
      path = file
      content = try KeyFileAccess.readPassphrase(path: file, notice: notice)
    case .descriptor(let number):
      path = "file descriptor \(number)"
      content = try KeyFileAccess.readPassphrase(descriptor: number)
    }
    do throws(KeyError) {
      kept = KeptPassphrase(try Passphrase(fileContent: content))
    } catch { throw .key(error, path: path) }
  }

  private func ask(_ text: String) throws(SigningError) -> Passphrase {
    guard let prompt = unsafe prompt else { throw .key(.passphraseMissing(variable: variable), path: "") }
    var buffer = try KeyFileAccess.secureBytes(capacity: Passphrase.byteLimit)
    var answer = Answer.noTerminal
    // The prompt gets the room and its length for the time of the call.
    unsafe buffer.append { free, room in
      answer = unsafe prompt(text, UnsafeMutableRawBufferPointer(start: free, count: room))
      if case .typed(let count) = answer { return count }
      return 0
    }
    switch answer {
    case .typed: break
    case .tooLong: throw .key(.passphraseTooLong(limit: Passphrase.byteLimit), path: "")
    case .noTerminal: throw .key(.passphraseMissing(variable: variable), path: "")
    case .interrupted: throw .key(.interrupted, path: "")
    case .failed(let errno): throw .system(errno, operation: "read a passphrase from", path: "the terminal")
    }
    do throws(KeyError) {
      return try Passphrase(buffer)
    } catch { throw .key(error, path: "") }
  }
}
