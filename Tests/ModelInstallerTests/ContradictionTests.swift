import FileIO
import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("What can't be is told before anything is done")
struct ContradictionTests {
  private static let voice = "org/voice"

  @Test(
    "A repair tells a way back that is the active version, or unknown, and the versions are looked at all the same", arguments: ["2", "9"])
  func wayBack(version: String) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try published.editRecord { $0["previous"] = ["version": version, "variant": "default"] }
    let contradiction = InstallationError.model(
      .contradictoryRecord(model: Self.voice, version: version + ":default", isActive: false))
    let store = try #require(try ModelStore.reading(published.folder("models")))
    for (requests, isTold) in [([], true), ([Self.voice], true), ([Self.voice + "@1"], false)] {
      let checked = try store.findDamaged(requests.map { try ModelRequest($0) }, isCancelled: { false })
      #expect(checked.refused.map(\.error) == (isTold ? [contradiction] : []))
      #expect(checked.intact.count == (isTold ? 2 : 1))
    }
    await #expect(throws: contradiction) { _ = try await library.repair() }
    _ = try await library.prune()
    #expect(try await library.repair().isEmpty)
  }

  @Test("A version that the record names as active, and does not know, is not installed for who names it")
  func unknownActive() async throws {
    let (published, _) = try await PublishedModels.installed(["1", "2"])
    try published.editRecord { $0["active"] = ["version": "9", "variant": "default"] }
    let store = try #require(try ModelStore.reading(published.folder("models")))
    #expect(throws: InstallationError.model(.notAmongInstalled(request: "org/voice@9", known: ["1:default", "2:default"]))) {
      _ = try store.findDamaged([ModelRequest(Self.voice + "@9")], isCancelled: { false })
    }
    #expect(try store.findDamaged([ModelRequest(Self.voice)], isCancelled: { false }).refused.count == 1)
  }

  @Test("A record that has a version twice is damaged")
  func twice() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try published.editRecord { record in
      let entries = try #require(record["installed"] as? [[String: Any]])
      record["installed"] = entries + [entries[0]]
    }
    let isDamaged = { (error: any Error) in
      if case InstallationError.model(.damagedRecord)? = error as? InstallationError { true } else { false }
    }
    #expect { _ = try library.active(Self.voice) } throws: { isDamaged($0) }
    await #expect { _ = try await library.repair() } throws: { isDamaged($0) }
    await #expect { _ = try await library.rollBack(Self.voice) } throws: { isDamaged($0) }
  }

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
