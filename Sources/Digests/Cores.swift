internal import CHashLanes
internal import Dispatch
internal import Synchronization

/// The processor's cores: the only place where work is shared out among them.
package enum Cores {
  /// The most threads that do work at once, whatever is asked for: more would only need more memory.
  private static let most = 64

  /// From this length on, in bytes, another core is worth waking.
  private static let longByteCount = 1 << 20

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

  /// What two pieces of work give, side by side where that is worth it.
  /// - Parameter byteCount: the number of bytes that each goes over.
  package static func both<First: Sendable, Second: Sendable>(
    over byteCount: Int, _ first: @Sendable () -> First, _ second: @Sendable () -> Second
  ) -> (First, Second) {
    guard byteCount >= longByteCount, count(nil) > 1 else { return (first(), second()) }
    let ofFirst = Mutex<First?>(nil)
    let ofSecond = Mutex<Second?>(nil)
    run(2) { number in
      if number == 0 {
        let result = first()
        ofFirst.withLock { $0 = result }
      } else {
        let result = second()
        ofSecond.withLock { $0 = result }
      }
    }
    // Both are there.
    return (ofFirst.withLock { $0 } ?? first(), ofSecond.withLock { $0 } ?? second())
  }

  /// What the work gives for each element, in their order; on several threads where there are enough of them to be worth it.
  /// - Parameters:
  ///   - jobs: the most threads, at least 1.
  ///   - fewest: the fewest elements for which a thread is woken; of those that take as long as a system call, more or less, 64.
  package static func map<Element: Sendable, Result: Sendable>(
    _ elements: [Element], jobs: Int, fewest: Int = 64, _ work: @Sendable (Element) -> Result
  ) -> [Result] {
    map(elements, jobs: jobs, fewest: fewest, with: ()) { _, element in work(element) }
  }

  /// As above, with a tool, of which each thread makes its own.
  package static func map<Element: Sendable, Tool, Result: Sendable>(
    _ elements: [Element], jobs: Int, fewest: Int = 64, with tool: @autoclosure @Sendable () -> Tool,
    _ work: @Sendable (inout Tool, Element) -> Result
  ) -> [Result] {
    let parts = max(1, min(jobs, elements.count / fewest))
    let results = Mutex([[Result]](repeating: [], count: parts))
    run(parts) { part in
      var tool = tool()
      let own = elements[elements.count * part / parts..<elements.count * (part + 1) / parts].map { work(&tool, $0) }
      results.withLock { $0[part] = own }
    }
    return results.withLock { $0 }.flatMap(\.self)
  }
}
