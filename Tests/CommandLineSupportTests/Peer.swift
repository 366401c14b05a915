import TestSupport

/// Programs beside the tests: the python interpreter below the package's root, and the probe that was built with the tests.
enum Peer {
  /// Runs a program text in python and returns what it printed.
  static func python(_ program: String, _ arguments: [String] = [], input: [UInt8] = []) throws -> String {
    try runChild(peerPython(), ["-c", program] + arguments, input: input).successful().text
  }

  static func probe() throws -> String { try builtCommand("CommandLineProbe") }
}
