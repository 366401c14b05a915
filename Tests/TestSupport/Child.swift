import Dispatch
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a child process left.
package struct ChildResult: Sendable {
  /// The exit status, or the negative number of the signal that ended it.
  package let status: Int32
  package let output: [UInt8]
  package let errors: [UInt8]
  fileprivate let command: String

  /// Standard output as text.
  package var text: String { String(decoding: output, as: UTF8.self) }
  /// Standard error as text.
  package var errorText: String { String(decoding: errors, as: UTF8.self) }

  /// The result of a program that has to succeed.
  package func successful() throws -> ChildResult {
    guard status == 0 else { throw MissingForTests("`\(command)` must be installed and succeed; exit status \(status): \(errorText)") }
    return self
  }
}

/// A child process. Its streams are files, so that neither side ever waits for the other.
package final class Child {
  private let process = Process()
  private let folder: TemporaryFolder
  private let ended = DispatchSemaphore(value: 0)
  private let command: String

  /// Starts a program.
  /// - Parameters:
  ///   - program: a path, or a name that is looked for on the path.
  ///   - input: what it reads on standard input.
  ///   - environment: changes to the environment of the tests; nil takes a variable away.
  ///   - directory: the folder that it starts in.
  ///   - output: where standard output goes instead, such as `/dev/full`.
  package init(
    _ program: String, _ arguments: [String] = [], input: [UInt8] = [], environment: [String: String?] = [:], directory: String? = nil,
    output: String? = nil
  ) throws {
    folder = try TemporaryFolder()
    command = ([program] + arguments).joined(separator: " ")
    let isPath = program.contains("/")
    process.executableURL = URL(fileURLWithPath: isPath ? program : "/usr/bin/env")
    process.arguments = (isPath ? [] : [program]) + arguments
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.environment = ProcessInfo.processInfo.environment.merging(environment.compactMapValues { $0 }) { $1 }
      .filter { name, _ in environment[name].map { $0 != nil } ?? true }
    let outputPath = try output ?? folder.write("", to: "output")
    let streams = [
      try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.write(input, to: "input"))),
      try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath)),
      try FileHandle(forWritingTo: URL(fileURLWithPath: folder.write("", to: "errors"))),
    ]
    (process.standardInput, process.standardOutput, process.standardError) = (streams[0], streams[1], streams[2])
    process.terminationHandler = { [ended] _ in ended.signal() }
    // The child has its own by then. Foundation never lets go of a process that has run, and with more than a thousand open files it crashes at
    // the next one.
    defer { for stream in streams { try? stream.close() } }
    try process.run()
  }

  package var processID: Int32 { process.processIdentifier }

  package func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// What it has said on standard error so far.
  package var errorsSoFar: String { get throws { try folder.text(of: "errors") } }

  /// Waits for its end. One that does not end in time is killed, which is an error.
  package func wait(seconds: Double = 120) throws -> ChildResult {
    if ended.wait(timeout: .now() + seconds) == .timedOut {
      send(SIGKILL)
      ended.wait()
      throw MissingForTests("`\(command)` did not end within \(seconds) s: \(try errorsSoFar)")
    }
    // What `env` says of a program that it does not find.
    if process.executableURL?.path == "/usr/bin/env", process.terminationStatus == 127 {
      throw MissingForTests("`\(command)` can't run: install it, for this test needs it")
    }
    let isSignal = process.terminationReason == .uncaughtSignal
    let output = FileManager.default.fileExists(atPath: folder("output")) ? try folder.bytes(of: "output") : []
    return ChildResult(
      status: isSignal ? -process.terminationStatus : process.terminationStatus, output: output, errors: try folder.bytes(of: "errors"),
      command: command)
  }
}

/// Waits until something holds that another process brings about.
/// - Parameter what: a name for it, for the error of a test that waits in vain.
package func waitUntil(_ what: String, seconds: Double = 60, _ holds: () throws -> Bool) throws {
  let end = DispatchTime.now() + seconds
  while try !holds() {
    guard DispatchTime.now() < end else { throw MissingForTests("waited \(seconds) s in vain: \(what)") }
    usleep(5000)
  }
}

/// Runs a program to its end; see `Child`.
package func runChild(
  _ program: String, _ arguments: [String] = [], input: [UInt8] = [], environment: [String: String?] = [:], directory: String? = nil,
  output: String? = nil, seconds: Double = 120
) throws -> ChildResult {
  try Child(program, arguments, input: input, environment: environment, directory: directory, output: output).wait(seconds: seconds)
}
