import Foundation
import TestSupport
import Testing

/// A device: what python-tuf published for it, its state, and `manifest-verify` to run.
///
/// The targets lie in `repository/targets` under their plain names, so that this folder is also one of files to check.
struct VerifyingDevice {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(mode: 0o755) }

  var state: String { folder("state") }
  var files: String { folder("repository/targets") }
  var metadata: String { folder("repository/metadata") }
  var root: String { folder("repository/metadata/1.root.json") }

  /// Publishes with python-tuf.
  /// - Parameter edits: for a target's path, another path and length to sign instead; the file itself stays as it is.
  @discardableResult
  func publish(_ options: String..., into name: String = "repository", edits: [String: Edit] = [:]) throws -> Publication {
    try publish(options, into: name, edits: edits)
  }

  private func publish(_ options: [String], into name: String, edits: [String: Edit]) throws -> Publication {
    let arguments = [folder(name), "--no-consistent-snapshot"] + options
    let peers = URL(fileURLWithPath: try peerScript("tuf_publisher.py")).deletingLastPathComponent().path
    let edits = String(decoding: try JSONEncoder().encode(edits), as: UTF8.self)
    let result = try runChild(peerPython(), ["-c", Self.editingPublisher, peers, edits] + arguments).successful()
    return try JSONDecoder().decode(Publication.self, from: Data(result.output))
  }

  /// Every file of the state, the lock aside.
  func kept() throws -> [String: Data] {
    var kept: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: state) where !name.hasSuffix("lock") && name != "roots" {
      kept[name] = try Data(contentsOf: URL(fileURLWithPath: "\(state)/\(name)"))
    }
    return kept
  }

  struct Edit: Encodable {
    var path: String?
    var length: Int64?
  }

  struct Publication: Decodable {
    struct Target: Decodable {
      let path: String
      let length: Int
      let hashes: [String: String]
    }
    let keyids: [String: [String]]
    let targets: [Target]
  }

  private static let editingPublisher = """
    import json, sys
    sys.path.insert(0, sys.argv.pop(1))
    edits = json.loads(sys.argv.pop(1))
    import tuf_publisher
    original = tuf_publisher.TargetFile
    def edited(length, hashes, path, unknown):
        edit = edits.get(path, {})
        return original(edit.get('length', length), hashes, edit.get('path', path), unknown)
    tuf_publisher.TargetFile = edited
    tuf_publisher.main()
    """

  /// Runs a verb on the device's state.
  func run(_ verb: String, _ arguments: String..., output: String? = nil) throws -> ChildResult {
    try runChild(builtCommand("manifest-verify"), [verb, "--state", state] + arguments, output: output)
  }

  /// Begins trust and refreshes.
  func trust() throws {
    _ = try run("init", root).successful()
    _ = try run("refresh", "--metadata", metadata).successful()
  }

  /// A device that trusts a repository.
  static func trusting(_ options: String..., edits: [String: Edit] = [:]) throws -> VerifyingDevice {
    let device = try VerifyingDevice()
    _ = try device.publish(options, into: "repository", edits: edits)
    try device.trust()
    return device
  }

  func checkAll(_ arguments: String...) throws -> CheckOutcome {
    let result = try runChild(
      builtCommand("manifest-verify"), ["check", "--state", state, "--base", files, "--all", "--json"] + arguments)
    return try CheckOutcome(result)
  }
}

/// What `check --json` says.
struct CheckOutcome {
  struct Report: Decodable {
    struct Content: Decodable, Equatable {
      let length: Int?
      let digest: String?
    }
    struct File: Decodable {
      let path: String
      let status: String
      let expected: Content?
      let found: Content?
      let reason: String?
    }
    struct Expiry: Decodable, Equatable {
      let role: String
      let since: String
    }
    struct Failure: Decodable {
      let code: String
      let exit: Int
    }
    let files: [File]
    let failed: Int
    let absent: [String]
    let expired: [Expiry]
    let error: Failure?
  }

  let status: Int32
  let report: Report

  init(_ result: ChildResult) throws {
    status = result.status
    report = try JSONDecoder().decode(Report.self, from: Data(result.output))
  }

  /// The files that failed, by path.
  var failures: [String: Report.File] {
    Dictionary(report.files.filter { $0.status != "ok" }.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
  }
  var statuses: [String: String] { failures.mapValues(\.status) }
}

/// As openssl computes it, in hexadecimal.
func sha256(_ bytes: [UInt8]) throws -> String {
  String(try runChild("openssl", ["dgst", "-sha256", "-r"], input: bytes).successful().text.prefix { $0 != " " })
}
