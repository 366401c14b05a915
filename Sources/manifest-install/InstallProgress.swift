internal import CommandLineSupport
internal import ModelInstaller
internal import Synchronization

/// Shows how an installation goes: a bar for the file and one for the whole on a terminal, plain lines elsewhere, one event a line with
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
      state.withLock { $0.words = words.rawValue }
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

  func finish() { output.draw(nil) }

  private func show(isForced: Bool) {
    let line: EscapedText? = state.withLock { state in
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
      return Self.line(state)
    }
    guard let line else { return }
    if output.isJSON {
      let (path, done, total) = state.withLock { ($0.path, $0.done, $0.total) }
      guard !path.isEmpty else { return }
      output.event(["event": "progress", "path": .string(path), "done": .integer(done), "total": .integer(total)])
    } else if output.drawsProgress {
      output.draw(line)
    } else {
      output.note(line)
    }
  }

  /// `downloading  weights.gguf [####------] 40 %  total [##--------] 20 %  1.2 GB of 6 GB  80 MB/s  1 min left`
  private static func line(_ state: State) -> EscapedText {
    var parts: [EscapedText] = ["\(state.words)"]
    if !state.path.isEmpty {
      let name = state.path.split(separator: "/").last.map(String.init) ?? state.path
      parts.append("\(name) \(bar(state.fileDone, state.fileTotal))")
    }
    if state.total > 0 {
      parts.append("total \(bar(state.done, state.total))")
      parts.append("\(HumanReadable.bytes(max(0, state.done))) of \(HumanReadable.bytes(state.total))")
    }
    if state.rate >= 1 {
      parts.append("\(HumanReadable.bytes(UInt64(min(state.rate, 1e18))))/s")
      let seconds = Double(max(0, state.total - state.done)) / state.rate
      if seconds >= 1, seconds < 1e9 { parts.append("\(HumanReadable.duration(seconds: Int64(seconds.rounded(.up)))) left") }
    }
    return parts.dropFirst().reduce(parts[0]) { $0 + EscapedText.spaces(2) + $1 }
  }

  private static func bar(_ done: Int64, _ total: Int64) -> String {
    let fraction = total > 0 ? max(0, min(1, Double(done) / Double(total))) : 1
    let filled = Int(fraction * 10)
    return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: 10 - filled))] \(Int(fraction * 100)) %"
  }
}
