internal import Dispatch
internal import Synchronization

/// Which segments of one file are there, which are being fetched, and which sources are worth asking: shared by the threads that fetch them.
final class SegmentWork: Sendable {
  private enum State: UInt8 { case missing, taken, left, finished }

  private struct Contents {
    var states: [State]
    /// Where to look for the next one that is missing.
    var next = 0
    var blames: [Int]
    /// How many segments each source has brought.
    var deliveries: [Int]
    var excluded: Set<Int> = []
    var streams: Set<Int> = []
    var error: InstallationError?
    var threadCount = 0
    var endedCount = 0
  }

  private let contents: Mutex<Contents>
  private let changed = DispatchSemaphore(value: 0)

  /// Bad answers after which a source is asked for nothing more of this file.
  private static let patience = 3

  init(count: Int, sourceCount: Int) {
    let none = [Int](repeating: 0, count: sourceCount)
    contents = Mutex(Contents(states: .init(repeating: .missing, count: count), blames: none, deliveries: none))
  }

  // MARK: Segments

  /// The next segment to fetch; nil where there is none, or no sense in it.
  func take() -> Int? {
    contents.withLock { contents in
      guard contents.error == nil else { return nil }
      while contents.next < contents.states.count {
        let segment = contents.next
        contents.next += 1
        if contents.states[segment] == .missing {
          contents.states[segment] = .taken
          return segment
        }
      }
      return nil
    }
  }

  /// - Parameter source: that brought it; nil where it was there, or came otherwise.
  func finish(_ segment: Int, from source: Int? = nil) {
    contents.withLock { contents in
      contents.states[segment] = .finished
      if let source { contents.deliveries[source] += 1 }
    }
    changed.signal()
  }

  /// Says that no source has this segment by itself.
  func leave(_ segment: Int) {
    contents.withLock { $0.states[segment] = .left }
    changed.signal()
  }

  var finished: [Int] { contents.withLock { contents in contents.states.indices.filter { contents.states[$0] == .finished } } }

  /// How many segments are not there.
  var leftCount: Int { contents.withLock { contents in contents.states.count { $0 != .finished } } }

  /// Waits until a segment is there.
  /// - Returns: false where it will not be.
  func waitFor(_ segment: Int) -> Bool {
    while true {
      let isThere: Bool? = contents.withLock { contents in
        if contents.states[segment] == .finished { return true }
        if contents.error != nil || contents.states[segment] == .left { return false }
        return contents.endedCount > 0 && contents.endedCount == contents.threadCount ? false : nil
      }
      if let isThere { return isThere }
      // A signal too many only has this look again.
      changed.wait()
    }
  }

  // MARK: Threads

  func threadsStart(_ count: Int) { contents.withLock { $0.threadCount = count } }

  func threadEnded() {
    contents.withLock { $0.endedCount += 1 }
    changed.signal()
  }

  var error: InstallationError? { contents.withLock { $0.error } }

  func fail(_ error: InstallationError) {
    contents.withLock { contents in
      if contents.error == nil { contents.error = error }
    }
    changed.signal()
  }

  // MARK: Sources

  /// The sources that are worth asking for a segment, in their order.
  var usableSources: [Int] {
    contents.withLock { contents in contents.blames.indices.filter { !contents.excluded.contains($0) } }
  }

  /// Those that give only the whole file.
  var streamSources: [Int] { contents.withLock { $0.streams.sorted() } }

  var hasStreams: Bool { contents.withLock { !$0.streams.isEmpty } }

  func deliveryCount(of source: Int) -> Int { contents.withLock { $0.deliveries[source] } }

  func exclude(_ source: Int, onlyFromSegments: Bool) {
    contents.withLock { contents in
      contents.excluded.insert(source)
      if onlyFromSegments { contents.streams.insert(source) }
    }
  }

  /// Notes that a source failed for one segment. One that fails again and again is not asked any more, unless it is the only one.
  /// - Returns: whether it is the first time.
  func blame(_ source: Int) -> Bool {
    contents.withLock { contents in
      contents.blames[source] += 1
      if contents.blames[source] >= Self.patience, contents.excluded.count + 1 < contents.blames.count { contents.excluded.insert(source) }
      return contents.blames[source] == 1
    }
  }
}
