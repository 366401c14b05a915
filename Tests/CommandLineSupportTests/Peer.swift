import Foundation
import Testing

/// Programs beside the tests: the python interpreter below the package's root, and the probe that was built with the tests.
enum Peer {
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Runs a program text in python and returns what it printed.
  static func python(_ program: String, _ arguments: [String] = [], input: Data = Data()) throws -> String {
    let interpreter = root.appendingPathComponent(".peers/bin/python3")
    guard FileManager.default.isExecutableFile(atPath: interpreter.path) else {
      throw Missing(description: "\(interpreter.path) is missing: make it with “python3 -m venv .peers”")
    }
    let process = Process()
    process.executableURL = interpreter
    process.arguments = ["-c", program] + arguments
    let (output, error, given) = (Pipe(), Pipe(), try file(with: input))
    process.standardOutput = output
    process.standardError = error
    process.standardInput = given
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "python failed: \(complaint)")
    return text
  }

  /// Where the probe lies: beside the bundle of the tests.
  static func probe() throws -> String {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    for _ in 0..<6 {
      let candidate = folder.appendingPathComponent("CommandLineProbe").path
      var isFolder: ObjCBool = false
      if unsafe FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue { return candidate }
      folder.deleteLastPathComponent()
    }
    throw Missing(description: "CommandLineProbe is not beside the tests; build it with “swift build --build-tests”")
  }

  private static func file(with data: Data) throws -> FileHandle {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID().uuidString)").path
    try data.write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
  }
}
