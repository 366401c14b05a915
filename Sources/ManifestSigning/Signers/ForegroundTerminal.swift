#if canImport(Darwin)
  internal import Darwin
#else
  internal import CFileCalls
  internal import Glibc
#endif

/// The terminal, where this process has it: lent to the process group of a program that is run, which may have to ask for a PIN there, and so
/// that Control-C reaches it; taken back when the value goes out of scope.
struct ForegroundTerminal: ~Copyable {
  /// Below 0 where there is none, or others have it.
  private let terminal: CInt

  init() {
    // The text is a constant.
    let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    if descriptor >= 0, tcgetpgrp(descriptor) != getpgrp() {
      _ = close(descriptor)
      terminal = -1
    } else {
      terminal = descriptor
    }
  }

  deinit {
    guard terminal >= 0 else { return }
    give(to: getpgrp())
    _ = close(terminal)
  }

  func lend(to group: pid_t) {
    guard terminal >= 0 else { return }
    give(to: group)
    // It may have asked before the terminal was its own, and been stopped for that.
    kill(-group, SIGCONT)
  }

  private func give(to group: pid_t) {
    // Who does not have the terminal is stopped for handing it on, unless that signal is held up.
    var (held, before) = (sigset_t(), sigset_t())
    // Both sets outlive the calls.
    unsafe sigemptyset(&held)
    unsafe sigaddset(&held, SIGTTOU)
    unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
    _ = tcsetpgrp(terminal, group)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }
}
