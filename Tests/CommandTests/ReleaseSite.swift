import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The place of a release engineer: a repository and a folder of models, worked on by the built `manifest-sign`.
final class ReleaseSite: Sendable {
  /// Three files of two models, each of a different length.
  static let smallCatalog: [String: [UInt8]] = [
    "acme/tiny/1.0/weights.bin": Array("the weights of tiny".utf8),
    "acme/tiny/1.0/parts/config.txt": Array("layers=1\n".utf8),
    "other/large/2024-05/large.bin": [UInt8](repeating: 7, count: 700_000),
  ]

  let folder: TemporaryFolder
  var repository: String { folder("repository") }
  var models: String { folder("models") }
  var metadata: String { folder("repository/manifests/metadata") }
  var targets: String { folder("repository/manifests/targets") }

  /// - Parameter options: of `init`; nil leaves the repository to the test.
  init(_ files: [String: [UInt8]] = smallCatalog, options: [String]? = ["--no-passphrase"], environment: [String: String?] = [:]) throws {
    folder = try TemporaryFolder()
    for (name, bytes) in files { try write(bytes, to: name) }
    if let options { try require(0, try sign(["init"] + options, environment: environment)) }
  }

  /// Writes a file of the models.
  func write(_ bytes: [UInt8], to name: String) throws { try folder.write(bytes, to: "models/" + name) }

  func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: folder(name)) }

  func child(_ arguments: [String], environment: [String: String?] = [:], input: [UInt8] = [], output: String? = nil) throws -> Child {
    // Whoever runs the tests may have had signals ignored, which children inherit.
    try Child(
      "env", ["--default-signal=INT,TERM", builtCommand("manifest-sign")] + arguments + ["--repository", repository], input: input,
      environment: ["MANIFEST_SIGN_PASSPHRASE": nil, "SOURCE_DATE_EPOCH": nil].merging(environment) { $1 }, output: output)
  }

  func sign(
    _ arguments: [String], environment: [String: String?] = [:], input: [UInt8] = [], output: String? = nil
  ) throws -> ChildResult {
    try child(arguments, environment: environment, input: input, output: output).wait()
  }

  @discardableResult
  func publish(_ options: [String] = [], environment: [String: String?] = [:]) throws -> ChildResult {
    let result = try sign(["publish", models] + options, environment: environment)
    try require(0, result)
    return result
  }

  /// Has a device, shipped with the first root, refresh and check all files.
  func device(_ options: [String] = [], base: String? = nil) throws -> ChildResult {
    let state = folder("device-" + UUID().uuidString)
    let verify = try builtCommand("manifest-verify")
    try require(0, try runChild(verify, ["init", "--state", state, metadata + "/1.root.json"]))
    let refresh = try runChild(verify, ["refresh", "--state", state, "--metadata", metadata])
    guard refresh.status == 0 else { return refresh }
    return try runChild(verify, ["check", "--state", state, "--base", base ?? models, "--all"] + options)
  }

  /// Every file below a folder: its bytes, and when it was changed.
  func snapshot(of name: String) throws -> [String: FileImage] {
    var images: [String: FileImage] = [:]
    let top = folder(name)
    for case let path as String in try #require(FileManager.default.enumerator(atPath: top)) {
      let full = top + "/" + path
      var status = stat()
      // The structure lives through the call.
      guard unsafe lstat(full, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: full)))
      images[path] = FileImage(
        bytes: bytes, seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec, inode: UInt64(status.st_ino))
    }
    return images
  }

  func version(of role: String) throws -> Int {
    let name = role == "timestamp" ? "timestamp.json" : try #require(try newest(role))
    return try #require((try json(of: metadata + "/" + name)["signed"] as? [String: Any])?["version"] as? Int)
  }

  /// The name of the newest metadata file of a role.
  func newest(_ role: String) throws -> String? {
    try FileManager.default.contentsOfDirectory(atPath: metadata).filter { $0.hasSuffix(".\(role).json") }
      .max { (Int($0.prefix { $0 != "." }) ?? 0) < (Int($1.prefix { $0 != "." }) ?? 0) }
  }

  /// The one published file of a target.
  func published(_ target: String) throws -> String {
    let url = URL(fileURLWithPath: targets + "/" + target)
    let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
    let matching = names.filter { $0.dropFirst(64) == "." + url.lastPathComponent }
    try #require(matching.count == 1, "\(target): \(matching)")
    return url.deletingLastPathComponent().path + "/" + matching[0]
  }
}

struct FileImage: Equatable {
  let bytes: [UInt8]
  let seconds: Int
  let nanoseconds: Int
  let inode: UInt64
}

/// Ends the test unless a command ended with this exit code, and shows what it said.
func require(_ status: Int32, _ result: ChildResult, sourceLocation: SourceLocation = #_sourceLocation) throws {
  try #require(result.status == status, "\(result.text)\(result.errorText)", sourceLocation: sourceLocation)
}

/// Expects an exit code and words on standard error.
func expect(_ status: Int32, _ words: String..., in result: ChildResult, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(result.status == status, "\(result.text)\(result.errorText)", sourceLocation: sourceLocation)
  for text in words { #expect(result.errorText.contains(text), sourceLocation: sourceLocation) }
}

func json(_ text: String) throws -> [String: Any] {
  try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
}

func json(of path: String) throws -> [String: Any] {
  try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any])
}

func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
