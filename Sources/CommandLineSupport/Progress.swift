import Synchronization

/// How far a long work has come: drawn in place on a terminal at most ten times a second, a plain line every half minute elsewhere,
/// nothing with `--quiet` or `--json`. May be advanced from any thread.
package final class Progress: Sendable {
  private struct State {
    var bytes: UInt64 = 0
    var files: UInt64 = 0
    var item: EscapedText = ""
    var lastShown: UInt64
    var bytesWhenShown: UInt64 = 0
    /// Bytes a second, smoothed over a few seconds.
    var rate: Double = 0
    var isFinished = false
  }

  private let label: EscapedText
  private let totalBytes: UInt64?
  private let totalFiles: UInt64?
  private let output: Output
  private let interval: UInt64
  private let isSilent: Bool
  private let now: @Sendable () -> UInt64
  private let state: Mutex<State>

  init(
    label: EscapedText, totalBytes: UInt64?, totalFiles: UInt64?, output: Output,
    now: @escaping @Sendable () -> UInt64 = SystemCalls.monotonicNanoseconds
  ) {
    self.label = label
    self.totalBytes = totalBytes
    self.totalFiles = totalFiles
    self.output = output
    self.now = now
    isSilent = output.isQuiet || output.isJSON
    interval = output.drawsProgress ? 100_000_000 : 30_000_000_000
    state = Mutex(State(lastShown: now()))
  }

  /// Says what is worked on at the moment.
  package func begin(_ item: EscapedText) {
    if isSilent { return }
    state.withLock { $0.item = item }
  }

  /// Adds to what is done.
  package func advance(bytes: UInt64 = 0, files: UInt64 = 0) {
    if isSilent { return }
    state.withLock { state in
      state.bytes = saturatingSum(state.bytes, bytes)
      state.files = saturatingSum(state.files, files)
      let time = now()
      guard !state.isFinished, time >= state.lastShown, time - state.lastShown >= interval else { return }
      measure(&state, at: time)
      show(text(state))
    }
  }

  /// Takes the bar away.
  package func finish() {
    if isSilent { return }
    state.withLock { $0.isFinished = true }
    output.draw([])
  }

  private func measure(_ state: inout State, at time: UInt64) {
    let seconds = Double(time - state.lastShown) / 1e9
    let current = Double(state.bytes - state.bytesWhenShown) / seconds
    let weight = state.rate == 0 ? 1 : min(1, seconds / 3)
    state.rate += (current - state.rate) * weight
    state.lastShown = time
    state.bytesWhenShown = state.bytes
  }

  private func show(_ text: EscapedText) {
    if output.drawsProgress { output.draw([text]) } else { output.note(text) }
  }

  private func text(_ state: State) -> EscapedText {
    var line = FittedLine()
    if let fraction = fraction(state) {
      line.append(FittedLine.bars(fraction, widths: [20, 10, 4]).map { label + EscapedText.spaces(1) + $0 }, importance: 5)
    } else {
      line.append(label, importance: 5)
    }
    if state.bytes > 0 || totalBytes != nil {
      let done = HumanReadable.bytes(state.bytes)
      line.append(totalBytes.map { "\(done) of \(HumanReadable.bytes($0))" } ?? "\(done)", "", importance: 2)
    }
    if let totalFiles, totalFiles != 1 { line.append("\(state.files) of \(totalFiles) files", "", importance: 1) }
    if state.rate >= 1 {
      line.append("\(HumanReadable.bytes(UInt64(min(state.rate, 1e18))))/s", "", importance: 3)
      if let totalBytes, totalBytes > state.bytes {
        let seconds = Double(totalBytes - state.bytes) / state.rate
        if seconds < 1e9 {
          line.append("\(HumanReadable.duration(seconds: Int64(seconds.rounded(.up)))) left", "", importance: 4)
        }
      }
    }
    line.append(FittedLine.shortened(state.item), importance: 0)
    return line.text(columns: output.progressColumns)
  }

  private func fraction(_ state: State) -> Double? {
    let (done, total) =
      if let totalBytes, totalBytes > 0 { (state.bytes, totalBytes) } else { (state.files, totalFiles ?? 0) }
    return total > 0 ? min(1, Double(done) / Double(total)) : nil
  }

  private func saturatingSum(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (sum, overflow) = first.addingReportingOverflow(second)
    return overflow ? .max : sum
  }
}
