internal import FileIO
internal import Synchronization

/// The end of a publisher's process between two files: from then on none of its calls does anything.
final class Crash: Sendable {
  private let placed = Mutex(0)
  private let count: Int

  /// - Parameter count: how many files it still places.
  init(after count: Int) { self.count = count }

  var hasHappened: Bool { placed.withLock { $0 > count } }

  func action(_ call: FaultInjection.Call) -> FaultInjection.Action {
    placed.withLock { placed in
      switch call.name {
      case .rename, .link: placed = min(placed + 1, count + 1)
      default: break
      }
      return placed > count ? .fail(.inputOutput) : .proceed
    }
  }
}
