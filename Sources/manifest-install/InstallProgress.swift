internal import CommandLineSupport
internal import ModelInstaller
internal import Synchronization

/// Shows how an installation goes: a bar for the file and below it one for the whole on a terminal, plain lines elsewhere, one event a line with
/// `--json`.
final class InstallProgress: Sendable {
  private struct State {
    var words = ""
    var path = ""
    var fileTotal: Int64 = 0
    var fileDone: Int64 = 0
    var total: Int64 = 0
    var done: Int64 = 0
    var lastShown: UInt64
    var doneWhenShown: Int64 = 0
    /// Bytes a second, smoothed over a few seconds.
    var rate: Double = 0
    var lastEvent: UInt64 = 0
  }

  private let output: Output
  private let state: Mutex<State>

  init(_ output: Output) {
    self.output = output
    state = Mutex(State(lastShown: Surroundings.monotonicNanoseconds))
  }

  func take(_ event: InstallEvent) {
    switch event {
    case .state(let words):
      state.withLock { state in
        state.words = words.rawValue
        // Each version is counted by itself.
        guard words == .checking else { return }
        (state.path, state.fileTotal, state.fileDone) = ("", 0, 0)
        (state.total, state.done, state.doneWhenShown) = (0, 0, 0)
      }
      output.event(["event": "state", "state": .string(words.rawValue)])
      show(isForced: true)
    case .planned(let plan):
      state.withLock { $0.total = plan.byteCount }
      output.event([
        "event": "planned", "model": .string(plan.model), "version": .string(plan.version), "variant": .string(plan.variant),
        "download": .integer(plan.downloadByteCount), "disk": .integer(plan.diskByteCount), "bytes": .integer(plan.byteCount),
      ])
    case .file(let path, let byteCount, let present):
      state.withLock { state in
        (state.path, state.fileTotal, state.fileDone) = (path, byteCount, present)
        state.done = state.done &+ present
        // What was there already is no speed.
        state.doneWhenShown = state.doneWhenShown &+ present
      }
      output.event(["event": "file", "path": .string(path), "bytes": .integer(byteCount), "present": .integer(present)])
    case .received(_, let count):
      state.withLock { state in
        state.fileDone = state.fileDone &+ count
        state.done = state.done &+ count
      }
      show(isForced: false)
    case .discarded(let path, let count):
      state.withLock { state in
        state.fileDone = state.fileDone &- count
        state.done = state.done &- count
      }
      output.event(["event": "discarded", "path": .string(path), "bytes": .integer(count)])
    case .verified(let path):
      output.event(["event": "verified", "path": .string(path)])
    case .retrying(let path, let source, let milliseconds, let reason):
      output.event([
        "event": "retrying", "path": .string(path), "source": .string(source), "milliseconds": .count(milliseconds),
        "reason": .string(reason),
      ])
      if !output.isJSON {
        output.note("\(path): \(reason); asking again in \(HumanReadable.duration(seconds: Int64(milliseconds) / 1000 + 1))")
      }
    case .sourceFailed(let path, let source, let reason):
      output.event(["event": "source_failed", "path": .string(path), "source": .string(source), "reason": .string(reason)])
      if !output.isJSON { output.note("\(path): \(reason)") }
    case .warning(let text):
      output.event(["event": "warning", "text": .string(text)])
      output.warning("\(text)")
    }
  }

  func finish() { output.draw([]) }

  private func show(isForced: Bool) {
    let lines: [EscapedText]? = state.withLock { state in
      let now = Surroundings.monotonicNanoseconds
      let elapsed = now >= state.lastShown ? now - state.lastShown : 0
      let interval: UInt64 = output.drawsProgress || output.isJSON ? 100_000_000 : 30_000_000_000
      guard isForced && output.drawsProgress || elapsed >= interval else { return nil }
      if elapsed >= 50_000_000 {
        let seconds = Double(elapsed) / 1e9
        let current = max(0, Double(state.done - state.doneWhenShown) / seconds)
        state.rate += (current - state.rate) * (state.rate == 0 ? 1 : min(1, seconds / 3))
        (state.lastShown, state.doneWhenShown) = (now, state.done)
      }
      return Self.lines(state, columns: output.progressColumns)
    }
    guard let lines else { return }
    if output.isJSON {
      let (path, done, total) = state.withLock { ($0.path, $0.done, $0.total) }
      guard !path.isEmpty else { return }
      output.event(["event": "progress", "path": .string(path), "done": .integer(done), "total": .integer(total)])
    } else if output.drawsProgress {
      output.draw(lines)
    } else {
      output.note(lines.dropFirst().reduce(lines[0]) { $0 + EscapedText.spaces(2) + $1 })
    }
  }

  /// What is done and the file's bar, and below them the bar of the whole, speed and time left:
  /// ```
  /// downloading  weights.gguf  [####------] 40 %
  /// total [##--------] 20 %  1.2 GB of 6.0 GB  80 MB/s  1 min left
  /// ```
  private static func lines(_ state: State, columns: Int) -> [EscapedText] {
    var first = FittedLine()
    first.append("\(state.words)", importance: 3)
    if !state.path.isEmpty {
      let name = state.path.split(separator: "/").last.map(String.init) ?? state.path
      first.append(FittedLine.shortened("\(name)"), importance: 1)
      first.append(bars(state.fileDone, state.fileTotal), importance: 2)
    }
    guard state.total > 0 else { return [first.text(columns: columns)] }
    var second = FittedLine()
    second.append(bars(state.done, state.total).map { "total \($0)" }, importance: 2)
    second.append("\(HumanReadable.bytes(max(0, state.done))) of \(HumanReadable.bytes(state.total))", "", importance: 1)
    if state.rate >= 1 {
      second.append("\(HumanReadable.bytes(UInt64(min(state.rate, 1e18))))/s", "", importance: 3)
      let seconds = Double(state.total - state.done) / state.rate
      if seconds > 0, seconds < 1e9 {
        second.append("\(HumanReadable.duration(seconds: Int64(seconds.rounded(.up)))) left", "", importance: 4)
      }
    }
    return [first.text(columns: columns), second.text(columns: columns)]
  }

  private static func bars(_ done: Int64, _ total: Int64) -> [EscapedText] {
    FittedLine.bars(total > 0 ? Double(done) / Double(total) : 1, widths: [10, 4])
  }
}
