internal import CSodium
internal import FileIO

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What this process asks the operating system about itself: limits, environment, dumps.
enum ProcessAccess {
  #if canImport(Darwin)
    private static let lockedMemory = RLIMIT_MEMLOCK
    private static let coreFile = RLIMIT_CORE
  #else
    private static let lockedMemory = CInt(__RLIMIT_MEMLOCK.rawValue)
    private static let coreFile = CInt(RLIMIT_CORE.rawValue)
  #endif

  /// The user whose rights the process has.
  static var user: UInt32 { geteuid() }

  /// The error of the call before.
  static var lastErrno: Errno { Errno(errno) }

  private static func lockedMemoryLimits() -> rlimit? {
    var limits = rlimit()
    // `limits` outlives the call.
    return unsafe getrlimit(lockedMemory, &limits) == 0 ? limits : nil
  }

  /// `RLIMIT_MEMLOCK` in bytes; nil where it is unlimited or unknown.
  static var lockedMemoryLimit: UInt64? {
    guard let limits = lockedMemoryLimits(), limits.rlim_cur != UInt64.max else { return nil }
    return UInt64(limits.rlim_cur)
  }

  /// Uses all that the process may lock without asking anyone: raises the soft limit to the hard one.
  static func raiseLockedMemoryLimit() {
    guard var limits = lockedMemoryLimits(), limits.rlim_cur < limits.rlim_max else { return }
    limits.rlim_cur = limits.rlim_max
    // `limits` outlives the call; where it fails, locking fails again and says why.
    _ = unsafe setrlimit(lockedMemory, &limits)
  }

  /// The names of the variables that begin in some way. No value is copied.
  static func variableNames(withPrefix prefix: String) -> [String] {
    let prefix = prefix.utf8.map { CChar(bitPattern: $0) }
    var names: [String] = []
    #if canImport(Darwin)
      var next = unsafe _NSGetEnviron().pointee
    #else
      var next = unsafe environ
    #endif
    // The environment ends with nil, and each entry with a zero byte; commands call this before they start a thread.
    while let entry = unsafe next.pointee {
      unsafe next = unsafe next.successor()
      guard unsafe strncmp(entry, prefix, prefix.count) == 0 else { continue }
      var name: [UInt8] = []
      var index = 0
      while unsafe entry[index] != 0, unsafe entry[index] != CChar(bitPattern: UInt8(ascii: "=")) {
        unsafe name.append(UInt8(bitPattern: entry[index]))
        index += 1
      }
      names.append(String(decoding: name, as: UTF8.self))
    }
    return names
  }

  /// Takes a secret out of the environment: the value is copied, wiped where it stood, and the variable unset.
  /// - Parameter limit: the longest value, in bytes.
  /// - Returns: nil where the variable is not set.
  static func takeVariable(_ name: String, limit: Int) throws(KeyError) -> SecureBytes? {
    // The pointer stays valid until `unsetenv`; commands call this before they start a thread.
    guard let value = unsafe getenv(name) else { return nil }
    let length = unsafe strlen(value)
    defer {
      // The old value must not stay in the block that the kernel shows as /proc/PID/environ.
      unsafe sodium_memzero(value, length)
      unsafe unsetenv(name)
    }
    guard length <= limit else { throw .passphraseTooLong(limit: limit) }
    var taken = try SecureBytes(capacity: length)
    // There is room for `length` bytes, and the value has that many.
    unsafe taken.append { free, _ in
      for index in 0..<length { unsafe free[index] = UInt8(bitPattern: value[index]) }
      return length
    }
    return taken
  }

  /// No core file, of this process or of one that it starts.
  static func forbidCoreFiles() throws(Errno) {
    var limits = rlimit(rlim_cur: 0, rlim_max: 0)
    // `limits` outlives the call.
    guard unsafe setrlimit(coreFile, &limits) == 0 else { throw lastErrno }
  }

  /// No report of a crash: Swift's runtime would print registers and the memory that they point to.
  static func forbidCrashReports() {
    // The default actions need no handler that could go away.
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { _ = signal(number, SIG_DFL) }
  }

  /// No debugger, and no other process of the same user, may read this one's memory.
  static func forbidTracing() throws(Errno) {
    #if canImport(Darwin)
      guard unsafe ptrace(PT_DENY_ATTACH, 0, nil, 0) == 0 else { throw lastErrno }
    #else
      guard shim_disable_dumping() == 0, shim_dumping() == 0 else { throw lastErrno }
    #endif
  }
}
