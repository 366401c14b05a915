import Synchronization

/// All that a command prints. Nothing reaches a terminal but through here, and nothing here takes text that is not escaped.
///
/// Results go to standard output; notes, warnings, errors and progress to standard error. With `--json` standard output gets exactly one
/// object, at the end: the members that were reported and, where the command failed, a member `error` (see `Failure.json`), while the error
/// goes to standard error in words as well. Of a verb that tells of events each of those is a line before it, and the object one line too,
/// whether any event came or not. A reader that goes away or a full disk does not stop the work, but a run whose results could not
/// be written ends with `ExitCode.disk` instead of `done`.
package final class Output: Sendable {
  /// How a line stands out on a terminal with colours.
  package enum Style: String, Sendable {
    case plain = ""
    case heading = "1"
    case good = "32"
    case bad = "31"
    case faint = "2"
  }

  private struct State {
    var pending: [UInt8] = []
    var members: [JSONResult.Member] = []
    var writeError: CInt = 0
    /// What is drawn in place, line by line.
    var bar: [EscapedText] = []
    var isFinished = false
    /// Whether events may come before the result, each on a line, so that it has to be one line too.
    var hasEvents = false
  }

  package let program: String
  package let isJSON: Bool
  package let isQuiet: Bool
  /// Whether progress is drawn in place.
  package let drawsProgress: Bool
  private let standardOutput: CInt
  private let standardError: CInt
  private let isInteractive: Bool
  private let colorsOutput: Bool
  private let colorsError: Bool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - standardOutput: The descriptor for results.
  ///   - standardError: The descriptor for everything else.
  package init(program: String, json: Bool = false, quiet: Bool = false, standardOutput: CInt = 1, standardError: CInt = 2) {
    self.program = program
    self.isJSON = json
    self.isQuiet = quiet
    self.standardOutput = standardOutput
    self.standardError = standardError
    let isDumb = SystemCalls.environment("TERM") == "dumb"
    let hasColors = SystemCalls.environment("NO_COLOR") == nil && !isDumb
    let errorIsTerminal = SystemCalls.isTerminal(standardError)
    isInteractive = SystemCalls.isTerminal(standardOutput)
    colorsOutput = isInteractive && hasColors
    colorsError = errorIsTerminal && hasColors
    drawsProgress = errorIsTerminal && !isDumb && !json && !quiet
  }

  // MARK: Results

  /// Prints one line of the result for people; nothing with `--json`.
  package func line(_ text: EscapedText = "", style: Style = .plain) {
    if isJSON { return }
    state.withLock { state in write(line: text, style: style, to: &state) }
  }

  /// Prints a table, row by row; nothing with `--json`.
  package func table(_ table: Table) {
    let lines = table.lines
    for (index, text) in lines.enumerated() { line(text, style: index == 0 && table.hasHeader ? .heading : .plain) }
  }

  /// Adds a member to the one object that `--json` prints, or replaces it; nothing without `--json`.
  package func report(_ name: String, _ value: @autoclosure () -> JSONResult) {
    if !isJSON { return }
    let member = JSONResult.Member(name, value())
    state.withLock { state in
      if let index = state.members.firstIndex(where: { $0.name == name }) {
        state.members[index] = member
      } else {
        state.members.append(member)
      }
    }
  }

  /// Says that events may come, so that whatever else comes is one line too.
  func expectEvents() { state.withLock { $0.hasEvents = true } }

  /// Writes one event as a line of its own, at once; nothing without `--json`. Only a verb that says so in `hasEvents` has any.
  package func event(_ event: JSONResult) {
    if !isJSON { return }
    state.withLock { state in
      state.pending += Array((event.compactText + "\n").utf8)
      flush(&state)
    }
  }

  // MARK: Standard error

  /// Says something that a person may like to know; not with `--quiet`.
  package func note(_ text: EscapedText) {
    if !isQuiet { say([(text, .plain)]) }
  }

  /// Warns of something that needs attention although the command goes on.
  package func warning(_ text: EscapedText) {
    say([("\(program): warning: ", .heading), (text, .plain)])
  }

  /// Shows a failure and, with `--json`, puts it into the result.
  package func show(_ failure: Failure) {
    report("error", failure.json)
    showInWords(failure)
  }

  private func showInWords(_ failure: Failure) {
    say([("\(program): error: ", .bad), (EscapedText(failure.message), .plain)])
    for item in failure.items { say([("  - ", .faint), (EscapedText(item), .plain)]) }
    for (name, value) in failure.details(placeName: "where") {
      say([("  \(name):", .faint), (EscapedText.spaces(9 - name.count) + EscapedText(value), .plain)])
    }
  }

  /// Starts to show how far a long work has come.
  /// - Parameters:
  ///   - bytes: How many bytes there are to do, where that is known.
  ///   - files: How many files there are to do, where that is known.
  package func progress(_ label: EscapedText, bytes: UInt64? = nil, files: UInt64? = nil) -> Progress {
    Progress(label: label, totalBytes: bytes, totalFiles: files, output: self)
  }

  /// The columns that a line of progress may have: the last one is left free, so that no terminal begins a new line of its own.
  package var progressColumns: Int { drawsProgress ? max(1, SystemCalls.columns(standardError) - 1) : .max }

  /// Draws progress in place, in one line or several, or takes it away where there is none.
  package func draw(_ lines: [EscapedText]) {
    guard drawsProgress else { return }
    state.withLock { state in
      guard lines != state.bar else { return }
      let erasing = Self.erasing(state.bar)
      let columns = progressColumns
      state.bar = lines.map { $0.prefix(columns: columns) }
      _ = SystemCalls.write(Array((erasing + Self.drawing(state.bar)).utf8), to: standardError)
    }
  }

  // MARK: End

  /// Writes what is still to be written, and says which code the process must end with. Later calls change nothing.
  package func finish(_ code: ExitCode) -> ExitCode {
    let (error, isFirst) = state.withLock { state -> (CInt, Bool) in
      if state.isFinished { return (state.writeError, false) }
      state.isFinished = true
      erase(&state)
      state.bar = []
      if isJSON {
        let result = JSONResult.object(state.members)
        state.pending += Array(((state.hasEvents ? result.compactText : result.text) + "\n").utf8)
      }
      flush(&state)
      return (state.writeError, true)
    }
    guard error != 0 else { return code }
    if isFirst {
      showInWords(
        Failure(
          .disk, "the result could not be written to standard output: \(SystemCalls.message(error))",
          hint: "the work itself is done as far as told above; run the command again where its output is needed"))
    }
    return code == .done ? .disk : code
  }

  // MARK: Writing

  private func write(line: EscapedText, style: Style, to state: inout State) {
    erase(&state)
    state.pending += Array(styled(line, style, inColor: colorsOutput).utf8)
    state.pending.append(UInt8(ascii: "\n"))
    if isInteractive || state.pending.count >= 1 << 16 { flush(&state) }
    redraw(&state)
  }

  private func say(_ parts: [(EscapedText, Style)]) {
    state.withLock { state in
      erase(&state)
      // Results so far come first where both streams end in one place.
      if !isJSON { flush(&state) }
      let text = parts.map { styled($0, $1, inColor: colorsError) }.joined()
      // There is nowhere left to report that standard error can't be written.
      _ = SystemCalls.write(Array((text + "\n").utf8), to: standardError)
      redraw(&state)
    }
  }

  private func styled(_ text: EscapedText, _ style: Style, inColor: Bool) -> String {
    inColor && style != .plain ? "\u{1B}[\(style.rawValue)m\(text.text)\u{1B}[0m" : text.text
  }

  private func flush(_ state: inout State) {
    if state.writeError == 0, !state.pending.isEmpty { state.writeError = SystemCalls.write(state.pending, to: standardOutput) }
    state.pending.removeAll(keepingCapacity: true)
  }

  private func erase(_ state: inout State) {
    if !state.bar.isEmpty { _ = SystemCalls.write(Array(Self.erasing(state.bar).utf8), to: standardError) }
  }

  private func redraw(_ state: inout State) {
    if !state.bar.isEmpty { _ = SystemCalls.write(Array(Self.drawing(state.bar).utf8), to: standardError) }
  }

  /// Clears the lines from the last one, where the cursor is, up to the first.
  private static func erasing(_ lines: [EscapedText]) -> String {
    "\r\u{1B}[K" + String(repeating: "\u{1B}[A\u{1B}[K", count: max(0, lines.count - 1))
  }

  private static func drawing(_ lines: [EscapedText]) -> String { lines.map(\.text).joined(separator: "\n") }
}
