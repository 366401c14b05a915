internal import FileIO

#if canImport(Darwin)
  internal import Darwin
#else
  internal import CFileCalls
  internal import Glibc
#endif

/// Runs a program, one that signs say: no shell, no inherited descriptor or passphrase, bounded in time and output.
package enum ChildProcess {
  package enum End: Equatable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  package struct Outcome {
    package let end: End
    /// Empty where there was more than the limit.
    package let output: [UInt8]
    let outputByteCount: Int
    /// The last bytes of standard error.
    package let messages: [UInt8]
  }

  /// How much of standard error is kept.
  static let messageByteLimit = 1000
  static let interruptSignal = SIGINT

  /// - Parameter isCancelled: whether the person wants to end it all; then the program is ended, and its process group.
  package static func run(
    _ words: [String], input: [UInt8], outputLimit: Int, seconds: Int, isCancelled: () -> Bool
  ) throws(SignerFault) -> Outcome {
    try run(words, input: input, secret: nil, outputLimit: outputLimit, seconds: seconds, isCancelled: isCancelled)
  }

  /// - Parameter secret: a pipe whose reading end the program gets as descriptor 3.
  static func run(
    _ words: [String], input: [UInt8], secret: PipeEnds?, outputLimit: Int, seconds: Int, isCancelled: () -> Bool
  ) throws(SignerFault) -> Outcome {
    let standardInput = try PipeEnds()
    let standardOutput = try PipeEnds()
    let standardError = try PipeEnds()
    let terminal = ForegroundTerminal()
    let process = try start(
      words, [standardInput.readEnd, standardOutput.writeEnd, standardError.writeEnd] + (secret.map { [$0.readEnd] } ?? []))
    secret?.closeReadEnd()
    terminal.lend(to: process)
    standardInput.closeReadEnd()
    standardOutput.closeWriteEnd()
    standardError.closeWriteEnd()
    let deadline = Deadline(seconds: seconds)
    var transfer = Transfer(input: input, outputLimit: outputLimit)
    let isComplete = transfer.run(standardInput, standardOutput, standardError, deadline, isCancelled) {
      continueIfStopped(process)
      return hasEnded(process)
    }
    standardInput.closeWriteEnd()
    guard isComplete, let end = wait(for: process, deadline, isCancelled) else {
      endGroup(process)
      throw isCancelled() ? .interrupted : .timedOut(seconds: seconds)
    }
    return Outcome(
      end: end, output: transfer.outputByteCount > outputLimit ? [] : transfer.output, outputByteCount: transfer.outputByteCount,
      messages: transfer.messages)
  }

  // MARK: Starting

  /// - Parameter descriptors: what it gets as its descriptors 0, 1, 2 and so on. None of them has one of these numbers before, but the last one may.
  private static func start(_ words: [String], _ descriptors: [CInt]) throws(SignerFault) -> pid_t {
    guard let program = words.first else { throw .notStarted(Errno(ENOENT)) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    // Both structures outlive every call that fills or reads them.
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    for (number, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(number))
    }
    // Signals that this process catches or ignores have their usual effect again.
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    // A process group of its own, so that what it starts can be ended with it.
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    #if canImport(Darwin)
      unsafe posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT))
    #else
      // A descriptor that came from outside, such as that of --passphrase-fd, is not marked to be closed.
      unsafe posix_spawn_file_actions_addclosefrom_np(&actions, CInt(descriptors.count))
      unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    #endif
    var process: pid_t = 0
    let result = unsafe withCStrings(words) { arguments in
      // Both arrays end with nil, and all that they point to outlives the call.
      unsafe posix_spawn(&process, program, &actions, &attributes, arguments, environment)
    }
    guard result == 0 else { throw .notStarted(Errno(result)) }
    return process
  }

  /// This process's environment without what a signing program has no business with; nothing of it is copied. PINs under other names were taken
  /// out of it before.
  private static var environment: [UnsafeMutablePointer<CChar>?] {
    let prefix = SecretVariables.ownPrefix.utf8.map { CChar(bitPattern: $0) }
    var result: [UnsafeMutablePointer<CChar>?] = unsafe []
    #if canImport(Darwin)
      var next = unsafe _NSGetEnviron().pointee
    #else
      var next = unsafe environ
    #endif
    // The environment ends with nil, and each entry with a zero byte; no other thread changes it.
    while let entry = unsafe next.pointee {
      if unsafe strncmp(entry, prefix, prefix.count) != 0 { unsafe result.append(entry) }
      unsafe next = unsafe next.successor()
    }
    return unsafe result + [nil]
  }

  /// Lends an array of C strings that ends with nil.
  private static func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    let pointers = unsafe texts.map { unsafe strdup($0) }
    // Each came from strdup.
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe body(pointers + [nil])
  }

  // MARK: Waiting

  private static func wait(for process: pid_t, _ deadline: Deadline, _ isCancelled: () -> Bool) -> End? {
    while true {
      var status: CInt = 0
      // `status` outlives the call.
      let result = unsafe waitpid(process, &status, WNOHANG)
      if result == process {
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
      }
      if result < 0, errno != EINTR { return nil }
      guard deadline.milliseconds > 0, !isCancelled() else { return nil }
      continueIfStopped(process)
      // Nothing to wait on but time: 2 ms cost nothing beside a signature.
      usleep(2000)
    }
  }

  /// Ends a program and its process group, in which is all that it started, unless that has left it: with a request first, so that it can clear up.
  private static func endGroup(_ process: pid_t) {
    kill(-process, SIGTERM)
    let deadline = Deadline(seconds: 1)
    while deadline.milliseconds > 0, !hasEnded(process) { usleep(2000) }
    // Not waited for yet, it keeps the number of its group, so no other process is hit.
    kill(-process, SIGKILL)
    _ = wait(for: process, Deadline(seconds: 5)) { false }
  }

  private static func hasEnded(_ process: pid_t) -> Bool {
    var information = unsafe siginfo_t()
    // `information` outlives the call, which leaves the process to be waited for.
    let result = unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
    return unsafe result != 0 || information.si_signo == SIGCHLD
  }

  /// One that Control-Z has stopped goes on at once: no shell looks after it that could have it go on later.
  private static func continueIfStopped(_ process: pid_t) {
    var information = unsafe siginfo_t()
    // `information` outlives the call, which fills it as one of SIGCHLD.
    guard unsafe waitid(P_PID, id_t(process), &information, WSTOPPED | WNOHANG) == 0, unsafe information.si_signo == SIGCHLD else { return }
    #if canImport(Darwin)
      let signal = unsafe information.si_status
    #else
      let signal = unsafe information._sifields._sigchld.si_status
    #endif
    if signal == SIGTSTP { kill(-process, SIGCONT) }
  }
}
