internal import Synchronization

/// One installation that several callers wait for: each has its own progress, and may go away without ending it for the others.
final class SharedInstallation: Sendable {
  typealias Outcome = Result<InstalledModel, InstallationError>

  private struct Caller {
    let progress: @Sendable (InstallEvent) -> Void
    let resume: @Sendable (Outcome) -> Void
  }

  private struct State {
    var callers: [Int: Caller] = [:]
    var isOver = false
  }

  private let state = Mutex(State())

  /// Whether nobody waits any more.
  var isAbandoned: Bool { state.withLock { $0.callers.isEmpty } }

  /// - Returns: whether the caller could join: not where all others have gone, or where it is over.
  func join(
    _ number: Int, isFirst: Bool, progress: @escaping @Sendable (InstallEvent) -> Void, resume: @escaping @Sendable (Outcome) -> Void
  ) -> Bool {
    state.withLock { state in
      guard !state.isOver, isFirst || !state.callers.isEmpty else { return false }
      state.callers[number] = Caller(progress: progress, resume: resume)
      return true
    }
  }

  /// A caller goes away, and has its answer at once.
  func leave(_ number: Int) {
    let caller = state.withLock { $0.callers.removeValue(forKey: number) }
    caller?.resume(.failure(.cancelled))
  }

  func report(_ event: InstallEvent) {
    for caller in state.withLock({ $0.callers.values.map(\.progress) }) { caller(event) }
  }

  func finish(_ outcome: Outcome) {
    let callers = state.withLock { state in
      defer { state = State(callers: [:], isOver: true) }
      return Array(state.callers.values)
    }
    for caller in callers { caller.resume(outcome) }
  }
}
