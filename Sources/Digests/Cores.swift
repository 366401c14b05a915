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
    _ elements: [Element], jobs: Int = Cores.count(nil), fewest: Int = 64, _ work: @Sendable (Element) -> Result
  ) -> [Result] {
    map(elements, jobs: jobs, fewest: fewest, with: ()) { _, element in work(element) }
  }

  /// As above, with a tool, of which each thread makes its own.
  ///
  /// The work may share out work itself. A thread that has done its share takes of what is left, for elements can differ much: files, and
  /// folders of them.
  package static func map<Element: Sendable, Tool, Result: Sendable>(
    _ elements: [Element], jobs: Int = Cores.count(nil), fewest: Int = 64, with tool: @autoclosure @Sendable () -> Tool,
    _ work: @Sendable (inout Tool, Element) -> Result
  ) -> [Result] {
    let threads = max(1, min(jobs, elements.count / fewest))
    let shares = threads == 1 ? 1 : min(threads * sharesPerThread, elements.count)
    let results = Mutex([[Result]](repeating: [], count: shares))
    let next = Atomic(0)
    run(threads) { _ in
      var tool = tool()
      while true {
        let share = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard share < shares else { return }
        let own = elements[elements.count * share / shares..<elements.count * (share + 1) / shares].map { work(&tool, $0) }
        results.withLock { $0[share] = own }
      }
    }
    return results.withLock { $0 }.flatMap(\.self)
  }

  private static let sharesPerThread = 8

  /// Lets go of a value on another thread, where nothing else refers to it any more: to free a hundred thousand objects takes time, and whoever is
  /// done with them need not wait for it.
  package static func release(_ value: consuming some Sendable) {
    DispatchQueue.global().async { [value] in withExtendedLifetime(value) {} }
  }

  /// So many elements, as ranges of their numbers that are each worth a thread, where the work with one takes less than a microsecond; one
  /// range where they are few, or one core is there.
  package static func ranges(of count: Int) -> [Range<Int>] {
    let parts = max(1, min(self.count(nil) * sharesPerThread, count / fewestShort))
    return (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
  }

  private static let fewestShort = 4096
}
