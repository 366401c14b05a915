import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Questions to the person at the terminal, asked on `/dev/tty` and so independent of where the standard streams lead.
package enum Prompt {
  /// Asks for a secret without showing it, straight into memory of the caller's.
  /// - Parameters:
  ///   - question: Such as `Passphrase for root-1`.
  ///   - buffer: Where the answer goes, without its newline. What lies behind the answer is not changed.
  ///   - option: What to use where there is no terminal, for the error: `--passphrase-file`.
  /// - Returns: The length of the answer in bytes; 0 for an empty one.
  package static func secret(
    _ question: EscapedText, into buffer: UnsafeMutableRawBufferPointer, insteadOf option: String
  ) throws(PromptError) -> Int {
    let terminal = try open(question, option)
    defer { close(terminal) }
    // The buffer is the caller's for the time of the call.
    return try unsafe ask("\(question): ", on: terminal, echo: false, into: buffer)
  }

  /// Asks whether to go on; only `y` and `yes` agree.
  /// - Parameter option: What to use where there is no terminal, for the error: `--yes`.
  package static func confirm(_ question: EscapedText, insteadOf option: String) throws(PromptError) -> Bool {
    let terminal = try open(question, option)
    defer { close(terminal) }
    var answer = [UInt8](repeating: 0, count: 256)
    var count = 0
    var failure: PromptError?
    // The pointer is used within the closure only.
    unsafe answer.withUnsafeMutableBytes { buffer in
      do throws(PromptError) {
        // As above.
        count = try unsafe ask("\(question) [y/N] ", on: terminal, echo: true, into: buffer)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    let text = String(decoding: answer.prefix(count), as: UTF8.self).lowercased()
    return text == "y" || text == "yes"
  }

  private static func open(_ question: EscapedText, _ option: String) throws(PromptError) -> CInt {
    #if canImport(Darwin)
      let terminal = unsafe Darwin.open("/dev/tty", O_RDWR | O_CLOEXEC)
    #else
      // A constant path.
      let terminal = unsafe Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC)
    #endif
    guard terminal >= 0 else { throw .noTerminal(question: question.text, option: option) }
    return terminal
  }

  /// Asks once more where the process was stopped and continued in between.
  private static func ask(
    _ question: EscapedText, on terminal: CInt, echo: Bool, into buffer: UnsafeMutableRawBufferPointer
  ) throws(PromptError) -> Int {
    while true {
      let signals = TerminalSignals()
      // The buffer is the caller's for the time of the call.
      let answer = unsafe readLine(question, on: terminal, echo: echo, into: buffer)
      let number = signals.restore()
      guard number != 0 else { return try answer.get() }
      // The signal has its effect now that the terminal is as it was. To stop is the one after which life goes on.
      kill(getpid(), number)
      if number != SIGTSTP && number != SIGTTIN && number != SIGTTOU { throw .interrupted }
    }
  }

  private static func readLine(
    _ question: EscapedText, on terminal: CInt, echo: Bool, into buffer: UnsafeMutableRawBufferPointer
  ) -> Result<Int, PromptError> {
    var before = termios()
    // The call fills exactly this structure.
    guard unsafe tcgetattr(terminal, &before) == 0 else { return .failure(.terminal(errno)) }
    var during = before
    if !echo { during.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL) }
    // What was typed before the question is no answer to it.
    guard unsafe tcsetattr(terminal, TCSAFLUSH, &during) == 0 else { return .failure(.terminal(errno)) }
    defer {
      // The structure is the one that was read above.
      unsafe tcsetattr(terminal, TCSAFLUSH, &before)
      if !echo { _ = SystemCalls.write([UInt8(ascii: "\n")], to: terminal) }
    }
    let error = SystemCalls.write(Array(question.text.utf8), to: terminal)
    guard error == 0 else { return .failure(.terminal(error)) }

    var count = 0
    var isTooLong = false
    while true {
      if TerminalSignals.received != 0 || Interruption.isRequested { return .failure(.interrupted) }
      // Waits in short pieces: a signal between the look above and the wait would otherwise go unseen.
      guard SystemCalls.waitUntilReady(terminal, for: CInt(POLLIN), milliseconds: 100) else { continue }
      var byte: UInt8 = 0
      // One byte into one variable.
      let length = unsafe read(terminal, &byte, 1)
      if length < 0, errno == EINTR || errno == EAGAIN { continue }
      if length < 0 { return .failure(.terminal(errno)) }
      if length == 0 { return .failure(.noAnswer) }
      if byte == UInt8(ascii: "\n") { break }
      if count < buffer.count {
        // The index is below the count.
        unsafe buffer[count] = byte
        count += 1
      } else {
        isTooLong = true
      }
    }
    return isTooLong ? .failure(.tooLong(limit: buffer.count)) : .success(count)
  }
}

/// The signals that would leave the terminal without echo, held up while a question stands.
private struct TerminalSignals {
  private static let number = Atomic<CInt>(0)

  /// The last signal that came, 0 for none.
  static var received: CInt { number.load(ordering: .relaxed) }

  private let actions: [SignalAction]

  init() {
    Self.number.store(0, ordering: .relaxed)
    actions = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU].map {
      SignalAction.replace($0, ignoredStays: true) { TerminalSignals.number.store($0, ordering: .relaxed) }
    }
  }

  /// Puts the handlers back, and says which signal came meanwhile.
  func restore() -> CInt {
    for action in actions { action.restore() }
    return Self.received
  }
}
