import FileIO
import Foundation
import ModelInstaller
import TUFMetadata
import TestSupport
import Testing

@Suite("The way back leads to a version that can be gone back to")
struct WayBackTests {
  private let voice = "org/voice"

  private func states(_ library: ModelLibrary) throws -> [String] {
    try library.installed().map { "\($0.version)\($0.isActive ? " active" : "")\($0.isPrevious ? " way back" : "")" }
  }

  @Test("A version that was withdrawn, or is damaged, does not become it where another is", arguments: [true, false])
  func outgoing(isWithdrawn: Bool) async throws {
    var published = try PublishedModels()
    let library = try published.library()
    for version in ["1", "2"] {
      published.publish(version)
      _ = try await library.install(voice)
    }
    if isWithdrawn {
      published.withdraw(["2"], because: "it stammers")
    } else {
      let path = published.folder("models/models/org/voice/2/default/weights.bin")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      try Data("other".utf8).write(to: URL(fileURLWithPath: path))
    }
    published.publish("3")
    #expect(try await library.install(voice).version == "3")
    #expect(try states(library) == ["1 way back", "2", "3 active"])
    #expect(try await library.prune() > 0)
    #expect(try states(library) == ["1 way back", "3 active"])
    #expect(try await library.rollBack(voice).version == "1")
    #expect(try states(library) == ["1 active", "3 way back"])
  }

  @Test("One that turns out to be withdrawn gives way to the latest other one")
  func learntLater() async throws {
    var published = try PublishedModels()
    let library = try published.library()
    for version in ["1", "2", "3"] {
      published.publish(version)
      _ = try await library.install(voice)
    }
    #expect(try states(library) == ["1", "2 way back", "3 active"])
    published.withdraw(["2"], because: "it stammers")
    _ = try await library.install(voice)
    #expect(try states(library) == ["1 way back", "2", "3 active"])
    #expect(try await library.prune() > 0)
    #expect(try states(library) == ["1 way back", "3 active"])
    #expect(try await library.rollBack(voice).version == "1")
  }

  @Test("One that is damaged is none to tell of, and what reading it has shown is remembered", arguments: [false, true])
  func damagedIsNotTold(isSilent: Bool) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    for version in ["2", "3"] {
      let path = published.folder("models/models/org/voice/\(version)/default/weights.bin")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      try Data(PublishedModels.content("weights.bin", of: "other")).write(to: URL(fileURLWithPath: path))
    }
    // As if a disk had lost bits of it, and nobody had changed it.
    if isSilent {
      let status = try FileSystem.status(
        of: published.folder("models/models/org/voice/2/default/weights.bin"), followingLinks: false)
      try published.editRecord { record in
        var entries = try #require(record["installed"] as? [[String: Any]])
        var files = try #require(entries[1]["files"] as? [[String: Any]])
        let index = try #require(files.firstIndex { ($0["path"] as? String)?.hasSuffix("weights.bin") == true })
        files[index]["inode"] = status.inode
        files[index]["changed"] = status.changedNanoseconds
        entries[1]["files"] = files
        record["installed"] = entries
      }
    }
    let store = try ModelStore.changing(published.folder("models"))
    let model = try ModelRequest(voice).model
    let wayBack = { try store.intactWayBack(of: store.record(of: model), isCancelled: { false })?.version.description }
    #expect(try wayBack() == (isSilent ? "2" : nil))
    guard
      case .standIn(let key, _, _) = try store.activateInstalled(
        ModelRequest(voice), on: .current, trust: published.trust, isCancelled: { false })
    else {
      Issue.record("nothing stands in")
      return
    }
    #expect(key.version.description == "1")
    #expect(try wayBack() == nil)
    #expect(try library.active(voice)?.version == "3")
  }

  @Test("Where every other version is withdrawn there is none, and that is why")
  func none() async throws {
    var published = try PublishedModels()
    let library = try published.library()
    for version in ["1", "2"] {
      published.publish(version)
      _ = try await library.install(voice)
    }
    published.withdraw(["1"], because: "it stammers")
    _ = try await library.install(voice)
    #expect(try states(library) == ["1", "2 active"])
    let withdrawn = InstallationError.model(.withdrawn(model: voice, version: "1", reason: "it stammers"))
    await #expect(throws: withdrawn) { _ = try await library.rollBack(voice) }
  }

  @Test("Where it is damaged, pruning keeps it for a repair, and the next one that is as signed", arguments: [true, false])
  func damaged(isMissing: Bool) async throws {
    var published = try PublishedModels()
    let library = try published.library()
    for version in ["0", "1", "2", "3"] {
      published.publish(version)
      _ = try await library.install(voice)
    }
    let path = published.folder("models/models/org/voice/2/default/weights.bin")
    if isMissing {
      try FileManager.default.removeItem(atPath: path)
    } else {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      try Data("other".utf8).write(to: URL(fileURLWithPath: path))
    }
    #expect(try await library.prune() > 0)
    #expect(try states(library) == (isMissing ? ["1 way back", "2", "3 active"] : ["1", "2 way back", "3 active"]))
    #expect(try await library.repair() == ["org/voice@2:default"])
    #expect(try states(library) == ["1", "2 way back", "3 active"])
  }
}
