import FileIO
import Foundation
import ManifestVerifier
import ModelInstaller
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing

@Suite("A repair asks what is signed now, mends what it can, and tells the rest")
struct RepairTests {
  private let voice = "org/voice"

  private func place(_ published: PublishedModels, _ version: String) -> String { published.folder("models/models/org/voice/\(version)") }

  private func damage(_ published: PublishedModels, _ version: String) throws {
    try FileManager.default.removeItem(atPath: place(published, version) + "/default/weights.bin")
  }

  private func incomplete(_ library: ModelLibrary) throws -> [String] { try library.installed().filter { !$0.isComplete }.map(\.version) }

  @Test(
    "A withdrawal that was taken back is no longer one where something is damaged, be it that version or another",
    arguments: [["2"], ["1"], ["1", "2"]])
  func withdrawalTakenBack(damaged: [String]) async throws {
    var (published, library) = try await PublishedModels.installed(["1", "2"])
    published.withdraw(["2"], because: "it stammers")
    await #expect(throws: InstallationError.self) { _ = try await library.install("org/voice@2") }
    #expect(try library.active(voice)?.withdrawal == "it stammers")
    for version in damaged { try damage(published, version) }
    published.takeBackWithdrawals()
    #expect(try await Set(library.repair()) == Set(damaged.map { "org/voice@\($0):default" }))
    #expect(try incomplete(library) == [])
    #expect(try library.active(voice)?.withdrawal == nil)
  }

  @Test("A version that is withdrawn still is not repaired, whether the mirror can be reached or not", arguments: [true, false])
  func stillWithdrawn(isReachable: Bool) async throws {
    var (published, library) = try await PublishedModels.installed(["1", "2"])
    published.withdraw(["2"], because: "it stammers")
    await #expect(throws: InstallationError.self) { _ = try await library.install("org/voice@2") }
    for version in ["1", "2"] { try damage(published, version) }
    if !isReachable { for path in published.repository.files.keys { published.network["\(PublishedModels.metadata)/\(path)"] = nil } }
    let withdrawn = InstallationError.model(.withdrawn(model: voice, version: "2", reason: "it stammers"))
    await #expect(throws: withdrawn) { _ = try await library.repair() }
    #expect(try incomplete(library) == ["2"])
  }

  @Test("What the disk refuses of one version keeps no other from its repair")
  func refusedByDisk() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    for version in ["1", "2"] { try damage(published, version) }
    let place = place(published, "2") + "/default"
    let hook = FaultInjection.install(below: place) { call in call.name == .rename && call.path == place ? .fail(.inputOutput) : .proceed }
    defer { FaultInjection.remove(hook) }
    do {
      _ = try await library.repair()
      Issue.record("it is told nowhere")
    } catch {
      guard case .file(let fault) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(fault.errno == .inputOutput)
    }
    #expect(try incomplete(library) == ["2"])
  }

  @Test("A version of which the manifest has a file no longer keeps no other from its repair")
  func notListed() async throws {
    var (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    for version in ["2", "3"] { try damage(published, version) }
    published.drop("org/voice/3/weights.bin")
    let path = try TargetPath("org/voice/3/weights.bin")
    await #expect(throws: InstallationError.verification(.notListed(path: path))) { _ = try await library.repair() }
    #expect(try incomplete(library) == ["3"])
  }

  @Test(
    "Something else in the place of a version keeps no other from its repair, and nothing is fetched for it", arguments: ["1", "2", "3"],
    [true, false])
  func displaced(version: String, isLink: Bool) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    let other = version == "3" ? "2" : "3"
    try damage(published, other)
    let place = place(published, version)
    try FileManager.default.moveItem(atPath: place, toPath: published.folder("moved"))
    if isLink {
      try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: published.folder("moved"))
    } else {
      try Data("a file".utf8).write(to: URL(fileURLWithPath: place))
    }
    let before = published.network.requests.count
    do {
      _ = try await library.repair()
      Issue.record("it is told nowhere")
    } catch {
      guard case .model(.foreign(place, _)) = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(!published.network.requests.dropFirst(before).contains(published.weightsURL(version)))
    #expect(FileManager.default.fileExists(atPath: self.place(published, other) + "/default/weights.bin"))
    try FileManager.default.removeItem(atPath: place)
    // Of one that is neither active nor the way back nothing is known any more.
    #expect(try await library.repair() == (version == "1" ? [] : ["org/voice@\(version):default"]))
    #expect(try incomplete(library) == [])
  }
}
