import Foundation
import TestSupport
import Testing

/// A publisher's repository in several states, each a folder of its own, and the server that serves them. All tests share it, and leave it as it is.
///
/// `v1` has the first version of acme/voice, `v2` a second one beside it that shares a file with it, `withdrawn` the second one withdrawn, `gone` both. acme/multi has
/// variants for several devices, acme/newer versions for different ones, acme/hub a file that is on the Hugging Face Hub.
enum Publication {
  static let voice = "acme/voice"
  /// Twelve segments and a half, so that it has a `.verity`.
  static let weights = "weights.safetensors"
  static let weightsByteCount = 6_600_000

  private static let made = Result {
    let folder = try TemporaryFolder()
    var generator = SeededGenerator(seed: 7)
    let files = FileManager.default
    let models = folder("models")
    func write(_ bytes: [UInt8], _ path: String) throws { try folder.write(bytes, to: "models/" + path) }
    func sign(_ words: [String]) throws {
      _ = try runChild(
        builtCommand("manifest-sign"), words + ["--repository", folder("repository")], environment: ["SOURCE_DATE_EPOCH": nil]
      ).successful()
    }
    func publish(as name: String) throws {
      try sign(["publish", models, "--stage"])
      try files.createDirectory(atPath: folder("served"), withIntermediateDirectories: true)
      _ = try runChild("cp", ["-R", "--reflink=auto", folder("repository/manifests"), folder("served/" + name)]).successful()
    }
    try sign(["init", "--no-passphrase"])
    let shared = generator.bytes(1_200_000)
    for version in ["1.0", "2.0"] {
      try write(safetensors(generator.bytes(weightsByteCount)), "acme/voice/\(version)/\(weights)")
      try write(shared, "acme/voice/\(version)/tokens.bin")
      try write(Array("version \(version)\n".utf8), "acme/voice/\(version)/parts/notes.txt")
    }
    try files.moveItem(atPath: models + "/acme/voice/2.0", toPath: folder("later"))
    try writeMulti(write)
    try writeNewer(write)
    try write(Array("from the hub, or from the tree".utf8), "acme/hub/1/config.txt")
    try write(
      Array(
        description(
          "Hub", [("1", nil, [("default", "", ["acme/hub/1/config.txt"])])],
          sources: "\"hf:acme/hub@0123456789abcdef0123456789abcdef01234567/sub/config.txt\""
        ).utf8), "acme/hub/model.json")
    try publish(as: "v1")
    try files.moveItem(atPath: folder("later"), toPath: models + "/acme/voice/2.0")
    try publish(as: "v2")
    let names = ["parts/notes.txt", "tokens.bin", weights]
    let paths = { (version: String) in names.map { "acme/voice/\(version)/\($0)" } }
    try write(
      Array(
        description("Voice", [("2.0", "it stammers", [("default", "", paths("2.0"))]), ("1.0", nil, [("default", "", paths("1.0"))])]).utf8),
      "acme/voice/model.json")
    try publish(as: "withdrawn")
    let withdrawn = [("2.0", "it stammers"), ("1.0", "it lisps")].map { ($0, Optional($1), [("default", "", paths($0))]) }
    try write(Array(description("Voice", withdrawn).utf8), "acme/voice/model.json")
    try publish(as: "gone")
    // The same without the hashes of the segments.
    for (name, source) in [("plain1", "v1"), ("plain", "v2")] {
      _ = try runChild("cp", ["-R", "--reflink=auto", folder("served/" + source), folder("served/" + name)]).successful()
      _ = try runChild("find", [folder("served/" + name), "-name", "*.verity", "-delete"]).successful()
    }
    return (folder: folder, server: try HostileServer(serving: folder("served")))
  }

  static var server: HostileServer { get throws { try made.get().server } }

  /// The path of something that is served.
  static func path(_ name: String) throws -> String { try made.get().folder("served/" + name) }

  /// A file of a model as it was published.
  static func file(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: made.get().folder("models/" + name))) }

  /// What the large file of a version of acme/voice is called while it is fetched.
  static func part(_ version: String) throws -> String { try KillSite.digest(made.get().folder("models/acme/voice/\(version)/\(weights)")) }

  /// A safetensors file of one tensor.
  static func safetensors(_ bytes: [UInt8]) -> [UInt8] {
    let header = Array("{\"w\":{\"dtype\":\"U8\",\"shape\":[\(bytes.count)],\"data_offsets\":[0,\(bytes.count)]}}".utf8)
    return (0..<8).map { UInt8(truncatingIfNeeded: header.count >> ($0 * 8)) } + header + bytes
  }

  /// - Parameter versions: names, why they are withdrawn, and their variants: names, further members, paths.
  static func description(
    _ title: String, _ versions: [(String, String?, [(String, String, [String])])], sources: String = ""
  ) -> String {
    let texts = versions.map { version, reason, variants in
      let variants = variants.map { name, more, paths in
        let files = paths.map { "{\"path\":\"\($0)\"\(sources.isEmpty ? "" : ",\"sources\":[\(sources)]")}" }.joined(separator: ",")
        return "{\"name\":\"\(name)\",\(more.isEmpty ? "" : more + ",")\"files\":[\(files)]}"
      }
      let withdrawn = reason.map { ",\"withdrawn\":{\"reason\":\"\($0)\"}" } ?? ""
      return "{\"version\":\"\(version)\"\(withdrawn),\"variants\":[\(variants.joined(separator: ","))]}"
    }
    return
      "{\"schema\":\"signed-manifest/model/1\",\"title\":\"\(title)\",\"licence\":\"MIT\",\"versions\":[\(texts.joined(separator: ","))]}"
  }

  private static func writeMulti(_ write: ([UInt8], String) throws -> Void) throws {
    let variants = [
      ("mac", "\"platforms\":[\"macos\"],\"architectures\":[\"arm64\"]"), ("phone", "\"platforms\":[\"ios\"]"),
      ("linux-x86", "\"platforms\":[\"linux\"],\"architectures\":[\"x86_64\"]"), ("linux", "\"platforms\":[\"linux\"]"),
      ("new-runtime", "\"platforms\":[\"android\"],\"minimum_runtime\":{\"engine\":\"2.10\"}"),
    ]
    for (name, _) in variants { try write(Array("the files of \(name)".utf8), "acme/multi/1/\(name).txt") }
    let text = description("Multi", [("1", nil, variants.map { ($0.0, $0.1, ["acme/multi/1/\($0.0).txt"]) })])
    try write(Array(text.utf8), "acme/multi/model.json")
  }

  /// The newest version is for other devices than those before it.
  private static func writeNewer(_ write: ([UInt8], String) throws -> Void) throws {
    let versions = ["3.0", "2.5", "1.0"]
    for version in versions { try write(Array("the files of \(version)".utf8), "acme/newer/\(version)/file.txt") }
    let text = description(
      "Newer",
      versions.map { ($0, nil, [("only", "\"platforms\":[\"\($0 == "3.0" ? "macos" : "linux")\"]", ["acme/newer/\($0)/file.txt"])]) })
    try write(Array(text.utf8), "acme/newer/model.json")
  }
}

/// One device: what it trusts, and what it has installed.
struct InstallDevice {
  let folder: TemporaryFolder
  var state: String { folder("state") }
  var store: String { folder("store") }

  /// - Parameter root: the root file that the app was shipped with, where it is not that of `Publication`.
  init(root: String? = nil) throws {
    folder = try TemporaryFolder()
    _ = try run(["init", "--state", state, root ?? Publication.path("v1/metadata/1.root.json")]).successful()
  }

  static let noProxies: [String: String?] = [
    "http_proxy": nil, "https_proxy": nil, "HTTPS_PROXY": nil, "all_proxy": nil, "ALL_PROXY": nil, "no_proxy": nil, "HF_TOKEN": nil,
    "HF_ENDPOINT": nil, "HF_HUB_OFFLINE": nil, "HF_TOKEN_PATH": nil, "HF_HOME": "/nonexistent",
  ]

  func run(_ words: [String], environment: [String: String?] = [:], seconds: Double = 120) throws -> ChildResult {
    try runChild(builtCommand("manifest-install"), words, environment: Self.noProxies.merging(environment) { $1 }, seconds: seconds)
  }

  /// The words of an installation from a state of the repository.
  /// - Parameter targets: where the files come from instead.
  func words(
    _ model: String = Publication.voice, of state: String = "v1", targets: [String] = [], more: [String] = []
  ) throws -> [String] {
    let server = try Publication.server
    let urls = targets.isEmpty ? [server.url(state + "/targets")] : targets
    return ["install", model, "--state", self.state, "--store", store, "--metadata-url", server.url(state + "/metadata")]
      + urls.flatMap { ["--targets-url", $0] } + ["--stall-timeout", "2", "--connect-timeout", "5"] + more
  }

  func install(
    _ model: String = Publication.voice, of state: String = "v1", targets: [String] = [], more: [String] = [],
    environment: [String: String?] = [:]
  ) throws -> ChildResult {
    try run(words(model, of: state, targets: targets, more: more), environment: environment)
  }

  struct Listed: Decodable {
    let model: String
    let version: String
    let variant: String
    let active: Bool
    let previous: Bool
    let unchanged: Bool
    let withdrawn: String?
    let folder: String
  }

  private struct Listing: Decodable { let models: [Listed] }

  func listed() throws -> [Listed] {
    let result = try run(["list", "--store", store, "--json"]).successful()
    return try JSONDecoder().decode(Listing.self, from: Data(result.output)).models
  }

  func active(_ model: String = Publication.voice) throws -> Listed? { try listed().first { $0.active && $0.model == model } }

  /// What must hold whatever went wrong: this version is active, its files are the published ones, and an app that starts without a network
  /// can use it.
  func expectActive(_ version: String?, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let active = try active()
    #expect(active?.version == version, sourceLocation: sourceLocation)
    guard let active, let version else { return }
    #expect(active.unchanged, sourceLocation: sourceLocation)
    for name in [Publication.weights, "tokens.bin", "parts/notes.txt"] {
      let found = try Data(contentsOf: URL(fileURLWithPath: active.folder + "/" + name))
      #expect(try found == Publication.file("acme/voice/\(version)/\(name)"), "\(name)", sourceLocation: sourceLocation)
    }
    let offline = try run([
      "install", Publication.voice, "--offline", "--state", state, "--store", store, "--metadata-url", "http://127.0.0.1:9/metadata",
      "--targets-url", "http://127.0.0.1:9/targets",
    ])
    #expect(offline.status == 0, "\(offline.errorText)", sourceLocation: sourceLocation)
    #expect(try self.active()?.version == version, sourceLocation: sourceLocation)
  }

  /// Every name below a folder of the store.
  func names(_ name: String) -> [String] {
    ((FileManager.default.enumerator(atPath: store + "/" + name)?.allObjects ?? []) as? [String] ?? []).sorted()
  }

  func json(_ result: ChildResult) throws -> [[String: Any]] {
    try result.text.split(separator: "\n").map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
  }
}
