import Digests
import FileIO
import Foundation
import ModelInstaller
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing

/// A signed repository in memory, the network that it is had from, and a device's folder.
struct PublishedModels {
  static let model = "org/voice"
  static let metadata = "http://example.org/metadata"
  static let targets = "http://example.org/targets"

  var repository = FixtureRepository()
  let network = MemoryTransport()
  let folder: TemporaryFolder
  /// The versions that the description lists, newest first.
  private(set) var versions: [String] = []
  private(set) var descriptionURL = ""
  private var fileNames: [String: [String]] = [:]
  /// Why versions are withdrawn, by their names.
  private var withdrawals: [String: String] = [:]
  /// The operating systems that the variants of versions are for, by the variants' names, where there is more than one for all.
  private var platforms: [String: [(variant: String, platform: String)]] = [:]

  /// The lowest version of the program `engine` that loads a version, where there is one.
  private var engines: [String: String] = [:]

  init() throws { folder = try TemporaryFolder() }

  /// Publishes versions, each installed before the next one is there.
  static func installed(_ versions: [String]) async throws -> (PublishedModels, ModelLibrary) {
    var published = try PublishedModels()
    let library = try published.library()
    for version in versions {
      published.publish(version)
      _ = try await library.install(model)
    }
    return (published, library)
  }

  /// Changes what the record says of the model that is installed.
  func editRecord(_ edit: (inout [String: Any]) throws -> Void) throws {
    let file = URL(fileURLWithPath: folder("models/records/\(Self.model).json"))
    var record = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    try edit(&record)
    try JSONSerialization.data(withJSONObject: record).write(to: file)
  }

  static func content(_ name: String, of version: String) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(version.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
    return name == "shared.bin" ? Array("the same in every version".utf8) : generator.bytes(300_000)
  }

  /// Publishes one version more, of two files unless told otherwise.
  mutating func publish(_ version: String, _ content: [String: [UInt8]] = [:]) {
    versions.insert(version, at: 0)
    fileNames[version] = content.isEmpty ? ["weights.bin", "shared.bin"] : content.keys.sorted()
    putFiles(of: version, content)
    publishDescription()
  }

  /// Publishes one version more, for one operating system.
  mutating func publish(_ version: String, for platform: String) { publish(version, variants: [("default", platform)]) }

  /// Publishes one version more, with several variants, each for one operating system.
  mutating func publish(_ version: String, variants: [(variant: String, platform: String)]) {
    platforms[version] = variants
    publish(version)
  }

  /// Publishes that versions are withdrawn.
  mutating func withdraw(_ withdrawn: [String], because reason: String) {
    for version in withdrawn { withdrawals[version] = reason }
    publishDescription()
  }

  /// Publishes that a version needs the program `engine` in some version.
  mutating func require(engine: String, for version: String) {
    engines[version] = engine
    publishDescription()
  }

  /// Publishes that no version is withdrawn any more.
  mutating func takeBackWithdrawals() {
    withdrawals = [:]
    publishDescription()
  }

  /// Publishes without a file that a description names.
  mutating func drop(_ path: String) {
    repository.entries[ByteString(path)] = nil
    publishDescription()
  }

  private mutating func putFiles(of version: String, _ content: [String: [UInt8]]) {
    for name in fileNames[version] ?? [] { put("org/voice/\(version)/\(name)", content[name] ?? Self.content(name, of: version)) }
  }

  private mutating func publishDescription() {
    let texts = versions.map { version in
      let paths = (fileNames[version] ?? []).map { "{\"path\":\"org/voice/\(version)/\($0)\"}" }.joined(separator: ",")
      let withdrawn = withdrawals[version].map { ",\"withdrawn\":{\"reason\":\"\($0)\"}" } ?? ""
      let variants = platforms[version]?.map { "{\"name\":\"\($0.variant)\",\"platforms\":[\"\($0.platform)\"],\"files\":[\(paths)]}" }
      let engine = engines[version].map { ",\"minimum_runtime\":{\"engine\":\"\($0)\"}" } ?? ""
      let texts = variants ?? ["{\"name\":\"default\"\(engine),\"files\":[\(paths)]}"]
      return "{\"version\":\"\(version)\"\(withdrawn),\"variants\":[\(texts.joined(separator: ","))]}"
    }
    let description =
      "{\"schema\":\"signed-manifest/model/1\",\"title\":\"Voice\",\"licence\":\"MIT\",\"versions\":[\(texts.joined(separator: ","))]}"
    put("org/voice/model.json", Array(description.utf8))
    descriptionURL = url(of: "org/voice/model.json", Array(description.utf8))
    repository.publishNext()
    for (path, bytes) in repository.files { network["\(Self.metadata)/\(path)"] = bytes }
  }

  private mutating func put(_ path: String, _ bytes: [UInt8]) {
    repository.entries[ByteString(path)] = FixtureRepository.entry(of: bytes)
    network[url(of: path, bytes)] = bytes
  }

  func url(of path: String, _ bytes: [UInt8]) -> String {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    return "\(Self.targets)/\(path[..<slash])\(SHA256.hash(of: bytes)).\(path[slash...])"
  }

  func weightsURL(_ version: String) -> String {
    url(of: "org/voice/\(version)/weights.bin", Self.content("weights.bin", of: version))
  }

  func settings() throws -> LibrarySettings {
    var settings = try LibrarySettings(
      root: repository.anchor, metadata: [.server(HTTPURL(Self.metadata))], targets: [.server(HTTPURL(Self.targets))], folder: folder.path)
    settings.clock = { FixtureRepository.now.secondsSince1970 }
    settings.retry.firstDelay = 1
    settings.device = Device(platform: "linux", architecture: "x86_64")
    return settings
  }

  /// What was trusted last on the device.
  var trust: KeptTrust? { try? KeptTrust(folder("trust"), anchor: repository.anchor) }

  func library() throws -> ModelLibrary {
    let network = network
    return ModelLibrary(try settings()) { () throws(InstallationError) in network }
  }
}
