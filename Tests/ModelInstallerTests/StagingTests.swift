import FileIO
import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("A folder for staging is used by one store at a time, and nothing is left in one that is not ours")
struct StagingTests {
  private let voice = "org/voice"

  /// A published version, and the settings of a device that fetches into a folder of its own.
  private func published() throws -> (PublishedModels, LibrarySettings) {
    var published = try PublishedModels()
    published.publish("1")
    var settings = try published.settings()
    settings.staging = published.folder("elsewhere")
    return (published, settings)
  }

  private func library(_ settings: LibrarySettings, _ published: PublishedModels) -> ModelLibrary {
    let network = published.network
    return ModelLibrary(settings) { () throws(InstallationError) in network }
  }

  /// Half of the large file, as an interrupted installation leaves it.
  private func leavePart(_ published: PublishedModels) throws -> Int64 {
    let content = PublishedModels.content("weights.bin", of: "1")
    let name = try #require(published.weightsURL("1").split(separator: "/").last?.split(separator: ".").first)
    try published.folder.write(Array(content.prefix(163_840)), to: "elsewhere/parts/\(name)", mode: 0o600)
    try published.folder.write("", to: "elsewhere/lock")
    return Int64(content.count - 163_840)
  }

  @Test("After an installation that is finished no folder of staging is left, and elsewhere the lock alone", arguments: [false, true])
  func noSkeleton(isElsewhere: Bool) async throws {
    var (published, settings) = try published()
    if !isElsewhere { settings.staging = nil }
    _ = try await library(settings, published).install(voice)
    #expect(!FileManager.default.fileExists(atPath: published.folder("models/staging")))
    if isElsewhere { #expect(try FileManager.default.contentsOfDirectory(atPath: published.folder("elsewhere")) == ["lock"]) }
    published.publish("2")
    #expect(try await library(settings, published).install(voice).version == "2")
  }

  @Test(
    "Pruning leaves a folder as it is into which nothing was fetched",
    arguments: [["notes.txt"], ["lock"], ["parts/0"], ["records/0", "lock"], []])
  func foreign(files: [String]) async throws {
    let (published, settings) = try published()
    _ = try await library(settings, published).install(voice)
    let name = String(repeating: "0", count: 64)
    let files = files.map { $0 == "parts/0" ? "parts/\(name)" : $0 }
    for file in files { try published.folder.write("somebody's", to: "foreign/\(file)") }
    let paths = { try? FileManager.default.subpathsOfDirectory(atPath: published.folder("foreign")).sorted() }
    let before = paths()
    for isRehearsal in [true, false] {
      let store = try ModelStore.changing(published.folder("models"), staging: published.folder("foreign"))
      #expect(try store.prune(isRehearsal: isRehearsal).isEmpty)
    }
    #expect(paths() == before)
    for file in files { #expect(try published.folder.text(of: "foreign/\(file)") == "somebody's") }
  }

  @Test("While another store fetches into it, that is told of the folder, and what lies there counts for nothing in a rehearsal")
  func inUse() async throws {
    let (published, settings) = try published()
    let library = library(settings, published)
    let rest = try leavePart(published)
    let all = Int64(PublishedModels.content("weights.bin", of: "1").count)
    func download() async throws -> Int64? {
      guard case .plan(let plan) = try await library.plan(voice) else { return nil }
      return plan.downloadByteCount - Int64(PublishedModels.content("shared.bin", of: "1").count)
    }
    do {
      let lock = try FileLock(published.folder("elsewhere/lock"))
      #expect(try await download() == all)
      let expected = InstallationError.model(.stagingInUse(path: published.folder("elsewhere"), process: getpid()))
      await #expect(throws: expected) { _ = try await library.install(voice) }
      _ = consume lock
    }
    #expect(try await download() == rest)
    #expect(try await library.install(voice).version == "1")
  }
}
