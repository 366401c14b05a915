import TestSupport

/// The programs that the results are held against. One that is missing fails the test that needs it.
enum Peer {
  /// The standard output of a program found on the path, its trailing line end removed.
  static func run(_ program: String, _ arguments: String..., input: [UInt8] = []) throws -> String {
    let text = try runChild(program, arguments, input: input).successful().text
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// The digest that `openssl dgst` computes.
  static func openssl(_ algorithm: String, of bytes: [UInt8]) throws -> String {
    let line = try run("openssl", "dgst", "-\(algorithm)", "-r", input: bytes)
    return String(line.prefix { $0 != " " })
  }
}
