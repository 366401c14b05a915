import FileIO
import Foundation
import Testing

/// A folder of one test's own, removed with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory().trimmingSuffix("/") + "/file-io-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func callAsFunction(_ name: String) -> String { path + "/" + name }

  func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: self(name))) }

  func text(of name: String) throws -> String { String(decoding: try Data(contentsOf: URL(fileURLWithPath: self(name))), as: UTF8.self) }

  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}

/// Runs a program, and records a failure with its words where it does not succeed.
@discardableResult
func run(_ program: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Bool {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [program] + arguments
  let output = Pipe()
  process.standardError = output
  process.standardOutput = output
  try process.run()
  let words = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  if process.terminationStatus == 0 { return true }
  Issue.record(
    "this test needs '\(program) \(arguments.joined(separator: " "))' to work: \(String(decoding: words, as: UTF8.self))",
    sourceLocation: sourceLocation)
  return false
}
