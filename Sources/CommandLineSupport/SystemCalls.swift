#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The few calls to the operating system that printing needs.
enum SystemCalls {
  /// Writes all bytes. Returns 0, or the error number that stopped it.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
    // The pointer lives within the closure, and no call reaches past the buffer's count.
    unsafe bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        // The slice starts within the buffer.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        // Pointer and count come from the same buffer.
        #if canImport(Darwin)
          let count = unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
        #else
          let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
        #endif
        if count > 0 {
          written += count
        } else if count == 0 {
          return EIO
        } else if errno == EAGAIN {
          _ = waitUntilReady(descriptor, for: POLLOUT, milliseconds: -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }

  /// Waits until a descriptor can be read or written, or has failed. A signal ends the wait early.
  static func waitUntilReady(_ descriptor: CInt, for events: CInt, milliseconds: CInt) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
    // One structure, and the count 1.
    return unsafe poll(&request, 1, milliseconds) > 0
  }

  static func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

  /// The width of a terminal, 80 where it does not say.
  static func columns(_ descriptor: CInt) -> Int {
    var size = winsize()
    // The request fills exactly this structure.
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Nanoseconds of a clock that only goes forward.
  static func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    // The call fills exactly this structure.
    guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
    return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
  }

  /// An environment variable, nothing where it is unset or empty.
  static func environment(_ name: String) -> String? {
    // The text is copied at once; nothing in this module changes the environment.
    let value = unsafe getenv(name).map { unsafe String(cString: $0) }
    return value?.isEmpty == false ? value : nil
  }

  /// The operating system's words for an error number.
  static func message(_ code: CInt) -> String {
    // The text is copied before any other call can reuse the buffer.
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }

  /// Occupies the standard descriptors that are closed, so that no file opened later becomes "standard output". They are opened the wrong
  /// way round on purpose: results written to a closed output are an error rather than lost.
  static func occupyClosedStandardDescriptors() {
    for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is the one that is closed, as those below it are open.
      _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// A reader that went away is seen as a failed write, not as a signal that ends the process in the middle of its work.
  static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }

  /// The words of the command line after the program's name, each checked to be UTF-8.
  static func commandLineWords() throws(UsageError) -> [String] {
    var words: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // The system ends each argument with a zero byte and keeps it for the life of the process.
      guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
      // As above.
      guard let word = unsafe String(validatingCString: pointer) else { throw .notUTF8(word: index) }
      words.append(word)
    }
    return words
  }
}
