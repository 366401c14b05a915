#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A command that the person gave to be run at some point, in the words of a shell.
package struct ShellCommand: Sendable {
  package enum End: Equatable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    case notStarted(String)
  }

  package let text: String

  package init(_ text: String) { self.text = text }

  /// Runs it to its end. What it prints goes to standard error, for standard output is for results; it reads nothing.
  /// - Parameter variables: are added to its environment.
  package func run(_ variables: [String: String]) -> End {
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
    // The path is a literal.
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 2, 1)
    // Signals that this process catches have their usual effect again.
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in [SIGINT, SIGTERM] { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var process: pid_t = 0
    let result = unsafe Self.withCStrings(["/bin/sh", "-c", text]) { arguments in
      unsafe Self.withCStrings(Self.environment(adding: variables)) { environment in
        // Both arrays end with nil, and all that they point to outlives the call.
        unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environment)
      }
    }
    guard result == 0 else { return .notStarted(SystemCalls.message(result)) }
    return Self.wait(for: process)
  }

  private static func wait(for process: pid_t) -> End {
    while true {
      var status: CInt = 0
      // `status` outlives the call.
      let found = unsafe waitpid(process, &status, 0)
      if found == process {
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
      }
      if found < 0, errno != EINTR { return .notStarted(SystemCalls.message(errno)) }
    }
  }

  private static func environment(adding variables: [String: String]) -> [String] {
    var result = variables.map { "\($0.key)=\($0.value)" }
    #if canImport(Darwin)
      var next = unsafe _NSGetEnviron().pointee
    #else
      var next = unsafe environ
    #endif
    // The environment ends with nil; no other thread changes it.
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      let name = String(text.prefix { $0 != "=" })
      // A check has no business with what the mirrors are told.
      if variables[name] == nil, name != "SIGNED_MANIFEST_CREDENTIALS", name != "HF_TOKEN" { result.append(text) }
      unsafe next = unsafe next.successor()
    }
    return result
  }

  /// Lends an array of C strings that ends with nil.
  private static func withCStrings<R>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    let pointers = unsafe texts.map { unsafe strdup($0) }
    // Each came from strdup.
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe body(pointers + [nil])
  }
}
