import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a long work throws when the person wants it to end.
package struct Interrupted: Error, Hashable, Sendable, CustomStringConvertible {
  package init() {}
  package var description: String { "interrupted" }
}

/// Whether SIGINT or SIGTERM has asked the process to end. Long work asks now and then, and leaves nothing half done; a second signal ends
/// the process at once.
package enum Interruption {
  private static let requested = Atomic(false)
  private static let isHeld = Atomic(false)

  /// Whether the process was asked to end.
  package static var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// - Throws: `Interrupted` where the process was asked to end.
  package static func check() throws(Interrupted) {
    if isRequested { throw Interrupted() }
  }

  /// Takes the signals over. System calls that wait return with `EINTR`. A signal that is ignored, as under `nohup`, stays so.
  package static func install() {
    // Touched here, so that a handler never is the first to do so.
    requested.store(false, ordering: .relaxed)
    isHeld.store(false, ordering: .relaxed)
    takeOver()
  }

  /// Does something that must end by itself, and asks often whether to: a second signal does not end the process before it has tidied up.
  package static func withoutForce<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    isHeld.store(true, ordering: .sequentiallyConsistent)
    // A first signal that came before gave both their default effect.
    takeOver()
    // Where it was asked to end, the process is about to, with its own exit code however often it is asked.
    defer { if !isRequested { isHeld.store(false, ordering: .sequentiallyConsistent) } }
    return try body()
  }

  private static func takeOver() {
    for number in [SIGINT, SIGTERM] {
      SignalAction.replace(number, ignoredStays: true) { _ in
        Interruption.requested.store(true, ordering: .relaxed)
        guard !Interruption.isHeld.load(ordering: .relaxed) else { return }
        // From now on either signal has its default effect. Both calls are safe in a handler.
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
      }
    }
  }
}

/// What a signal did before it was taken over.
struct SignalAction {
  private let number: CInt
  private let previous: sigaction

  /// Installs a handler, which must do only what is allowed in one, and returns what stood there.
  @discardableResult
  static func replace(_ number: CInt, ignoredStays: Bool, with handler: @escaping @convention(c) (CInt) -> Void) -> SignalAction {
    var action = sigaction()
    var previous = sigaction()
    #if canImport(Darwin)
      // Written, and read by the call below as the member that the flags say.
      unsafe action.__sigaction_u.__sa_handler = handler
    #else
      // Written, and read by the call below as the member that the flags say.
      unsafe action.__sigaction_handler.sa_handler = handler
    #endif
    // Both structures live through the calls.
    unsafe sigemptyset(&action.sa_mask)
    // As above.
    unsafe sigaction(number, &action, &previous)
    let result = SignalAction(number: number, previous: previous)
    if ignoredStays, result.wasIgnored { result.restore() }
    return result
  }

  /// Puts back what stood there.
  func restore() {
    var action = previous
    // The structure lives through the call, and what stood there before is valid to stand there again.
    unsafe sigaction(number, &action, nil)
  }

  private var wasIgnored: Bool {
    #if canImport(Darwin)
      // Either member of the union is the address of a function, and only the address is looked at.
      let handler = unsafe previous.__sigaction_u.__sa_handler
    #else
      // Either member of the union is the address of a function, and only the address is looked at.
      let handler = unsafe previous.__sigaction_handler.sa_handler
    #endif
    // An optional function pointer is as wide as an integer; `SIG_IGN` is the address 1.
    return unsafe unsafeBitCast(handler, to: UInt.self) == 1
  }
}
