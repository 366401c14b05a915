internal import CSodium
internal import FileIO

#if canImport(Darwin)
  internal import Darwin
#else
  internal import CFileCalls
  internal import Glibc
#endif

/// What the process of a module asks the operating system: its streams, and its end.
enum TokenProcessCalls {
  /// Above what a parent hands on.
  private static let firstFreeDescriptor: CInt = 10
  private static let requestLimit = 1 << 30

  /// Where this program is; nil where that can't be told.
  static var ownProgram: String? {
    #if canImport(Darwin)
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      var size = UInt32(buffer.count)
      // Writes at most as many bytes as the array has.
      guard unsafe _NSGetExecutablePath(&buffer, &size) == 0 else { return nil }
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #else
      // The same file even where another has taken its name since.
      return "/proc/self/exe"
    #endif
  }

  /// Takes the request from the standard input, and the standard output away from what the module prints, which goes to the standard error.
  /// - Returns: the request and the descriptor for the answer; nil where there is none.
  static func takeStandardStreams() -> (request: [UInt8], answer: CInt)? {
    var request: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      // The array has as many bytes as its count says.
      let count = unsafe read(0, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0, request.count <= requestLimit else { return nil }
      if count == 0 { break }
      request += buffer[..<count]
    }
    let answer = fcntl(1, F_DUPFD_CLOEXEC, firstFreeDescriptor)
    // The text is a constant.
    let nothing = unsafe open("/dev/null", O_RDONLY)
    guard answer >= 0, nothing >= 0, dup2(nothing, 0) == 0, dup2(2, 1) == 1 else { return nil }
    // It may have become the PIN's number, where there is no PIN.
    if nothing > 2 { _ = close(nothing) }
    return (request, answer)
  }

  /// Writes the answer, as far as somebody takes it, and closes the descriptor.
  static func answer(_ bytes: [UInt8], to descriptor: CInt) { try? FileDescriptor(owning: descriptor).write(all: bytes.span) }

  /// Has the system end this process when the one that started it has ended.
  static func endWithParent() {
    #if !canImport(Darwin)
      _ = shim_end_with_parent()
    #endif
  }

  /// Has the system end this process in some seconds, if it has not ended by then.
  static func endLater(seconds: UInt32) {
    _ = signal(SIGALRM, SIG_DFL)
    // Whoever started this program may have held it up.
    var alarms = sigset_t()
    // The set outlives the calls.
    unsafe sigemptyset(&alarms)
    unsafe sigaddset(&alarms, SIGALRM)
    unsafe pthread_sigmask(SIG_UNBLOCK, &alarms, nil)
    _ = alarm(seconds)
  }

  /// Ends this process at once, whatever a module would still do at its exit.
  static func end(status: CInt) -> Never { _exit(status) }
}
