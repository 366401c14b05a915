import Foundation
import TestSupport
import Testing

/// A repository that python-tuf published, and what serves it.
///
/// `v1` and `v2` below the served folder are two states of one repository: the second has another version of each role but root. `rotated`
/// is the first with two more roots, `foreign` another repository altogether, `expired` one whose timestamp has expired,
/// `delegated` one in which a role `team` lists some of the targets.
enum Published {
  private struct Target: Decodable {
    let path: String
  }

  private struct Summary: Decodable {
    let targets: [Target]
  }

  private static let started = Result {
    let folder = try TemporaryFolder()
    var paths: [String] = []
    let states: [(String, [String])] = [
      ("v1", ["--sha512"]), ("v2", ["--sha512", "--version", "2"]), ("plain", ["--no-consistent-snapshot"]),
      ("rotated", ["--sha512", "--rotate", "timestamp", "--rotate", "root", "--version", "3"]),
      ("foreign", ["--seed", "other", "--version", "4"]),
      ("expired", ["--version", "5", "--expires-role", "timestamp", "2020-01-01T00:00:00Z"]),
      ("delegated", ["--delegate", "team=org/model-1/*"]),
      ("big", ["--seed", "big", "--big", "268435456"]),
    ]
    for (name, options) in states {
      let result = try runChild(peerPython(), [peerScript("tuf_publisher.py"), folder(name), "--targets", "6"] + options).successful()
      if name == "v1" { paths = try JSONDecoder().decode(Summary.self, from: Data(result.output)).targets.map(\.path) }
    }
    return (folder: folder, paths: paths, server: try HostileServer(serving: folder.path, removing: true))
  }

  static var server: HostileServer { get throws { try started.get().server } }
  /// The paths of the targets, the same in `v1`, `v2` and `plain`.
  static var paths: [String] { get throws { try started.get().paths } }
  /// A path below the served folder.
  static func path(_ name: String) throws -> String { try started.get().folder(name) }
}

/// One device: a state folder that began at the repository's first root, and a folder for what is fetched.
struct Device {
  let folder: TemporaryFolder
  var state: String { folder("state") }
  var models: String { folder("models") }

  /// - Parameter repository: whose first root is trusted.
  init(_ repository: String = "v1") throws {
    folder = try TemporaryFolder()
    _ = try install(["init", "--state", state, Published.path(repository + "/metadata/1.root.json")]).successful()
  }

  /// Runs manifest-install. Proxies of whoever runs the tests stay out of it.
  func install(_ words: [String], environment: [String: String?] = [:]) throws -> ChildResult {
    let none: [String: String?] = [
      "http_proxy": nil, "https_proxy": nil, "HTTPS_PROXY": nil, "all_proxy": nil, "ALL_PROXY": nil, "no_proxy": nil,
    ]
    return try runChild(builtCommand("manifest-install"), words, environment: none.merging(environment) { $1 })
  }

  static let patience = ["--stall-timeout", "3", "--connect-timeout", "10"]

  func refresh(_ urls: String..., more: [String] = [], environment: [String: String?] = [:]) throws -> ChildResult {
    try install(
      ["refresh", "--state", state] + Self.patience + urls.flatMap { ["--metadata-url", $0] } + more, environment: environment)
  }

  /// Runs manifest-install under `time`, which says how much memory it took at most, in kilobytes.
  func measured(_ words: [String]) throws -> (result: ChildResult, peak: Int) {
    let command = ["-q", "-f", "%M", "-o", folder("peak"), try builtCommand("manifest-install")]
    let none: [String: String?] = ["http_proxy": nil, "https_proxy": nil, "HTTPS_PROXY": nil, "all_proxy": nil, "ALL_PROXY": nil]
    let result = try runChild("time", command + words, environment: none)
    return (result, try #require(Int(folder.text(of: "peak").trimmingCharacters(in: .whitespacesAndNewlines))))
  }

  /// A refresh, and the memory that it took.
  func measuredRefresh(_ url: String) throws -> (result: ChildResult, peak: Int) {
    try measured(["refresh", "--state", state] + Self.patience + ["--metadata-url", url])
  }

  /// What an attack may take more than what nobody attacks, in kilobytes: the largest file of metadata that is asked for without a signed length,
  /// some copies of it, and what an allocator does with them. The bodies that the attacks send have no end.
  static let memoryBound = 16 << 10

  /// The peak of a refresh that nobody attacks.
  static let honestPeak = Result { try Device().measuredRefresh(Published.server.url("v1/metadata")).peak }

  func expectLittleMemory(_ peak: Int, _ comment: String) throws {
    let honest = try Self.honestPeak.get()
    #expect(peak < honest + Self.memoryBound, "\(comment): \(peak) KiB, without an attack \(honest) KiB")
  }

  /// Gets targets of a state of the repository whose metadata arrives unharmed.
  func get(_ targets: [String], from urls: String..., of repository: String = "v1", more: [String] = []) throws -> ChildResult {
    let metadata = try Published.server.url(repository + "/metadata")
    return try install(
      ["get", "--state", state, "--into", models, "--metadata-url", metadata] + Self.patience + urls.flatMap { ["--targets-url", $0] }
        + more
        + targets)
  }

  /// Every file of the state folder but the lock, by its path.
  func trusted() throws -> [String: Data] {
    var files = try Self.files(below: state).filter { !$0.key.hasSuffix("lock") }
    // Two refreshes are not of the same second.
    files["trust"] = files["trust"].map { record in
      Data(String(decoding: record, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("newest-refresh ") }.joined().utf8)
    }
    return files
  }

  /// Every file below the folder for what is fetched.
  func fetched() throws -> [String: Data] { try Self.files(below: models) }

  static func files(below path: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
      let file = URL(fileURLWithPath: path + "/" + name)
      // A symbolic link counts as what it leads to.
      let isFile = try file.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
      if isFile == true { files[name] = try Data(contentsOf: file) }
    }
    return files
  }
}
