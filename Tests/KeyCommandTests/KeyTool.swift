import Foundation
import Testing

struct Missing: Error, CustomStringConvertible { let description: String }

let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// What a program did.
struct Outcome: Sendable {
  let status: Int32
  let output: String
  let errors: String

  /// The result that `--json` prints.
  func json() throws -> [String: Any] { try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]) }
}

enum Programs {
  static let python = packageRoot.path + "/.peers/bin/python3"

  /// manifest-sign, beside the bundle of the tests.
  static let manifestSign: String = {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    for _ in 0..<6 {
      let candidate = folder.appendingPathComponent("manifest-sign").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      folder.deleteLastPathComponent()
    }
    return "manifest-sign is not beside the tests; build it with swift build --build-tests"
  }()

  /// Runs a program that has to succeed.
  @discardableResult static func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let outcome = try start(program, arguments, environment: environment)
    try #require(outcome.status == 0, "\(program) \(arguments) failed (is it installed?): \(outcome.errors)")
    return outcome.output
  }

  /// - Parameter environment: beside PATH and what this process has; an empty value takes a variable away.
  static func start(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    // Files, so that nothing has to be read while the program runs, and a grandchild that lives on holds nothing up.
    let base = NSTemporaryDirectory() + "outcome-" + UUID().uuidString
    defer { for suffix in [".out", ".err"] { try? FileManager.default.removeItem(atPath: base + suffix) } }
    for suffix in [".out", ".err"] { try Data().write(to: URL(fileURLWithPath: base + suffix)) }
    let streams = try [".out", ".err"].map { try FileHandle(forWritingTo: URL(fileURLWithPath: base + $0)) }
    // Foundation never lets go of a process that has run.
    defer { for stream in streams { try? stream.close() } }
    (process.standardOutput, process.standardError) = (streams[0], streams[1])
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    func text(_ suffix: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: base + suffix)), as: UTF8.self)
    }
    return Outcome(status: process.terminationStatus, output: try text(".out"), errors: try text(".err"))
  }
}

/// A folder with a repository, a configuration folder of its own, and whatever else a test needs; removed with it.
final class Workplace {
  let path: String
  var environment: [String: String]

  init() throws {
    path = NSTemporaryDirectory() + "key-verbs-" + UUID().uuidString
    environment = ["XDG_CONFIG_HOME": path + "/configuration", "HOME": path]
    try makeFolder("")
    try makeFolder("configuration")
    try makeFolder("configuration/signed-manifest")
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var repository: String { path + "/repository" }
  var models: String { path + "/models" }

  func makeFolder(_ name: String, mode: Int = 0o700) throws {
    try FileManager.default.createDirectory(
      atPath: path + "/" + name, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
  }

  @discardableResult func write(_ name: String, _ content: Data, mode: Int = 0o600) throws -> String {
    let file = path + "/" + name
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: file).deletingLastPathComponent(), withIntermediateDirectories: true, attributes: nil)
    try content.write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  @discardableResult func write(_ name: String, _ content: String, mode: Int = 0o600) throws -> String {
    try write(name, Data(content.utf8), mode: mode)
  }

  func content(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)) }
  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

  /// manifest-sign on the repository.
  @discardableResult func sign(_ arguments: [String], _ more: [String: String] = [:]) throws -> Outcome {
    try Programs.start(
      Programs.manifestSign, arguments + ["--repository", repository], environment: environment.merging(more) { _, new in new })
  }

  @discardableResult func mustSign(_ arguments: [String], _ more: [String: String] = [:]) throws -> Outcome {
    let outcome = try sign(arguments, more)
    try #require(outcome.status == 0, "manifest-sign \(arguments): \(outcome.errors)")
    return outcome
  }

  /// A catalog of one small file.
  func makeModels(_ text: String = "weights") throws { try write("models/org/name/1/weights.txt", text, mode: 0o644) }

  /// A new repository whose keys have no passphrase, and a catalog.
  func makeRepository() throws {
    try mustSign(["init", "--no-passphrase"])
    try makeModels()
  }

  /// A key of openssl; returns its public half in hexadecimal.
  func makeOpenSSLKey(_ name: String) throws -> String {
    try Programs.run("openssl", ["genpkey", "-algorithm", "ed25519", "-out", path + "/" + name])
    return try publicHalf(name)
  }

  private func publicHalf(_ name: String) throws -> String {
    let der = path + "/" + name + ".der"
    try Programs.run("openssl", ["pkey", "-in", path + "/" + name, "-pubout", "-outform", "DER", "-out", der])
    return try Data(contentsOf: URL(fileURLWithPath: der)).suffix(32).hexadecimal
  }

  /// A repository whose timestamp key is openssl's and known to it by its public half alone; returns that.
  func makeRepositoryWithForeignTimestampKey() throws -> String {
    let key = try makeOpenSSLKey("timestamp.pem")
    for name in ["root-1", "targets-1", "snapshot-1"] { try mustSign(["key", "generate", name, "--no-passphrase"]) }
    try Programs.run("openssl", ["pkey", "-in", path + "/timestamp.pem", "-pubout", "-out", repository + "/keys/timestamp-1.pem"])
    try configure([["name": "the signer", "public_key": key, "command": ["/bin/false"]]])
    try mustSign(["init", "--existing-keys"])
    try makeModels()
    return key
  }

  func configure(_ signers: [[String: Any]]) throws {
    try write("configuration/signed-manifest/signers.json", try JSONSerialization.data(withJSONObject: ["signers": signers]))
  }

  /// Every file below a folder, with its content.
  func snapshot(_ folder: String) throws -> [String: Data] {
    let root = path + "/" + folder
    var files: [String: Data] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: root) ?? .init() {
      if let data = FileManager.default.contents(atPath: root + "/" + name) { files[name] = data }
    }
    return files
  }
}

extension Data {
  var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
