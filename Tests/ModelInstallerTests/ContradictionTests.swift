import FileIO
import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("What can't be is told before anything is done")
struct ContradictionTests {
  private static let voice = "org/voice"

  @Test(
    "What else stands above a version's place is told before a file of it is fetched, and by a rehearsal", arguments: ["model", "version"])
  func foreign(place: String) async throws {
    var published = try PublishedModels()
    let library = try published.library()
    published.publish("1")
    let path = published.folder("models/models/org/voice" + (place == "model" ? "" : "/1"))
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    if place == "model" {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: published.folder.path)
    } else {
      try Data().write(to: URL(fileURLWithPath: path))
    }
    let foreign = InstallationError.model(.foreign(path: path, place == "model" ? .symbolicLink : .regular))
    await #expect(throws: foreign) { _ = try await library.plan(Self.voice) }
    await #expect(throws: foreign) { _ = try await library.install(Self.voice) }
    #expect(!published.network.requests.contains { $0.contains("weights") })
  }
}
