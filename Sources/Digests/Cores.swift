internal import CHashLanes
internal import Dispatch

/// The processor's cores: the only place where work is shared out among them.
package enum Cores {
  /// The most threads that do work at once, whatever is asked for: more would only need more memory.
  private static let most = 64

  /// - Parameter jobs: what the caller wants; nil for as many as there are cores.
  package static func count(_ jobs: Int?) -> Int {
    min(max(jobs ?? Int(usableCoreCount()), 1), most)
  }

  /// Runs the work once for each number from 0 to less than `count`, on as many threads as there are cores, and returns when all have ended.
  ///
  /// The work with one number may wait for no other.
  package static func run(_ count: Int, _ work: @Sendable (Int) -> Void) {
    if count == 1 { return work(0) }
    DispatchQueue.concurrentPerform(iterations: count, execute: work)
  }
}
