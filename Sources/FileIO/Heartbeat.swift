internal import Synchronization

/// Does something again and again, as a sign of life, on one thread for the whole process.
enum Heartbeat {
  private struct State {
    var beats: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
    var hasThread = false
  }

  private static let state = Mutex(State())
  private static let pause: UInt32 = 5000

  /// - Returns: by what it is ended.
  static func begin(_ beat: @escaping @Sendable () -> Void) throws(Errno) -> Int {
    let (number, needsThread) = state.withLock { state in
      state.lastNumber += 1
      state.beats[state.lastNumber] = beat
      defer { state.hasThread = true }
      return (state.lastNumber, !state.hasThread)
    }
    guard needsThread else { return number }
    do { try SystemCalls.startThread { run() } } catch {
      state.withLock { state in
        state.beats[number] = nil
        state.hasThread = false
      }
      throw error
    }
    return number
  }

  static func end(_ number: Int) { state.withLock { $0.beats[number] = nil } }

  private static func run() {
    while true {
      SystemCalls.sleep(milliseconds: pause)
      let beats: [@Sendable () -> Void] = state.withLock { state in
        state.hasThread = !state.beats.isEmpty
        return Array(state.beats.values)
      }
      guard !beats.isEmpty else { return }
      for beat in beats { beat() }
    }
  }
}
