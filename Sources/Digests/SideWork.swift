internal import Dispatch
internal import Synchronization

/// A piece of work that goes on beside what its maker does meanwhile. It has ended before the value goes away, whether anybody asks for its
/// result or not: nothing runs on behind a function that has failed.
package final class SideWork<Value: Sendable>: Sendable {
  /// What the work gives, and how it is waited for. The work holds this alone, so that the value itself can go away before it has ended.
  private final class Result: Sendable {
    let value = Mutex<Value?>(nil)
    let group = DispatchGroup()
  }

  private let result = Result()
  private let work: @Sendable () -> Value

  package init(_ work: @escaping @Sendable () -> Value) {
    self.work = work
    DispatchQueue.global().async(group: result.group) { [result] in
      let value = work()
      result.value.withLock { $0 = value }
    }
  }

  /// What the work gave, which is waited for.
  package var value: Value {
    result.group.wait()
    // It is there.
    return result.value.withLock { $0 } ?? work()
  }

  deinit { result.group.wait() }
}
