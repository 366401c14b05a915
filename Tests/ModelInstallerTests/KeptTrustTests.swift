import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("What serves instead of the active version is listed by the manifest that was trusted last, and known to be for the device")
struct KeptTrustTests {
  private static let voice = "org/voice"

  /// A store with a version for this device as active one that is gone, and before it one of the same name for `platform`.
  private func withoutActive(before platform: String) async throws -> PublishedModels {
    var published = try PublishedModels()
    let library = try published.library()
    published.publish("1", variants: [(variant: "main", platform: platform)])
    published.publish("2", variants: [(variant: "main", platform: "linux")])
    for request in ["@1:main", "@2:main"] { _ = try await library.install(Self.voice + request) }
    try remove("2/main", published)
    return published
  }

  private func remove(_ key: String, _ published: PublishedModels) throws {
    try FileManager.default.removeItem(atPath: published.folder("models/models/org/voice/\(key)"))
  }

  private func served(_ published: PublishedModels, _ request: String = voice, trust: KeptTrust?) throws -> String? {
    let store = try #require(try ModelStore.reading(published.folder("models")))
    do {
      switch try store.activateInstalled(ModelRequest(request), on: .current, trust: trust, isCancelled: { false }) {
      case .standIn(let key, _, _)?, .present(let key, _)?, .installed(let key)?: return key.description
      case nil: return nil
      }
    } catch {
      guard case .model(.missing(_, "2", _)) = error else { throw error }
      return nil
    }
  }

  private func forgetAudiences(_ published: PublishedModels) throws {
    try published.editRecord { record in
      record["installed"] = (record["installed"] as? [[String: Any]])?.map { entry in entry.filter { $0.key != "for" } }
    }
  }

  @Test(
    "What is for another device never serves, whatever became of the description that was fetched last",
    arguments: ["whole", "gone", "damaged", "altered"], [false, true])
  func description(state: String, isRecordSilent: Bool) async throws {
    for (platform, expected) in [("macos", nil), ("linux", "1:main")] as [(String, String?)] {
      let published = try await withoutActive(before: platform)
      let file = URL(fileURLWithPath: published.folder("models/descriptions/org/voice.json"))
      let text = try String(contentsOf: file, encoding: .utf8)
      switch state {
      case "gone": try FileManager.default.removeItem(at: file)
      case "damaged": try Data("{}".utf8).write(to: file)
      case "altered": try Data((text.replacing("macos", with: "linux") + "\n").utf8).write(to: file)
      default: break
      }
      if isRecordSilent { try forgetAudiences(published) }
      // Of one of which nothing is known neither.
      #expect(try served(published, trust: published.trust) == (isRecordSilent && state != "whole" ? nil : expected))
      #expect(try served(published, Self.voice + ":main", trust: published.trust) == "1:main")
    }
  }

  @Test("The signed description counts for more than the record")
  func record() async throws {
    let published = try await withoutActive(before: "macos")
    try published.editRecord { record in
      var entries = try #require(record["installed"] as? [[String: Any]])
      entries[0]["for"] = entries[1]["for"]
      record["installed"] = entries
    }
    #expect(try served(published, trust: published.trust) == nil)
  }

  @Test("What the manifest has no longer does not serve, unless it is active")
  func delisted() async throws {
    var (published, library) = try await PublishedModels.installed(["1", "2"])
    published.drop("org/voice/1/weights.bin")
    _ = try await library.plan(Self.voice)
    let gone = published.folder("models/models/org/voice/2")
    try FileManager.default.moveItem(atPath: gone, toPath: gone + ".kept")
    #expect(try served(published, trust: published.trust) == nil)
    await #expect(throws: InstallationError.self) {
      published.network.fail(with: [.connection(url: "", .unreachable, detail: "")])
      _ = try await library.install(Self.voice)
    }
    try published.editRecord { $0["active"] = nil }
    #expect(try served(published, trust: published.trust) == nil)
    try published.editRecord { $0["active"] = ["version": "1", "variant": "default"] }
    #expect(try served(published, trust: published.trust) == "1:default")
    library = try published.library()
    #expect(try library.active(Self.voice)?.version == "1")
  }

  @Test("Where nothing that is trusted can be read only what is active serves, and what is named by its version")
  func noTrust() async throws {
    let published = try await withoutActive(before: "linux")
    #expect(try served(published, trust: nil) == nil)
    #expect(try served(published, Self.voice + "@1:main", trust: nil) == "1:main")
  }

  @Test(
    "Where no newer metadata, or not the description, can be had, the active version that is gone is replaced as where a file can't be",
    arguments: ["metadata", "folder", "description"], ["linux", "macos"])
  func transfer(of what: String, platform: String) async throws {
    var published = try await withoutActive(before: platform)
    if what == "metadata" {
      published.network["\(PublishedModels.metadata)/timestamp.json"] = nil
    } else if what == "description" {
      published.publish("3", variants: [(variant: "main", platform: "linux")])
      published.network[published.descriptionURL] = nil
    }
    var settings = try published.settings()
    if what == "folder" { settings.metadata = [.folder(published.folder("nowhere"))] }
    let network = published.network
    let library = ModelLibrary(settings) { () throws(InstallationError) in network }
    do {
      let installed = try await library.install(Self.voice)
      #expect(platform == "linux" && installed.version == "1" && installed.standsInBecause != nil)
      #expect(try library.active(Self.voice)?.version == "1")
    } catch {
      #expect(platform == "macos", "\(error)")
      #expect(try library.active(Self.voice)?.version == "2")
    }
  }

  @Test("Where the active version is as signed, that nothing newer can be had stays an error")
  func nothingNewer() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    published.network["\(PublishedModels.metadata)/timestamp.json"] = nil
    await #expect(throws: InstallationError.self) { _ = try await library.install(Self.voice) }
    #expect(try library.active(Self.voice)?.version == "2")
  }

  @Test(
    "For which device the active version is is held against what was signed, and where nobody knows, that is told; it serves all the same")
  func fit() async throws {
    var published = try PublishedModels()
    let library = try published.library()
    published.publish("1", variants: [(variant: "main", platform: "macos")])
    _ = try await library.install(Self.voice + ":main")
    let model = try ModelRequest(Self.voice).model
    func fit() throws -> ModelStore.Fit {
      let store = try #require(try ModelStore.reading(published.folder("models")))
      #expect(try store.activeSatisfying(ModelRequest(Self.voice)) != nil)
      let key = try #require(try store.record(of: model).active)
      return try store.fit(of: key, of: model, to: .current, isThorough: false) { published.trust }
    }
    #expect(try fit() == .other(variant: nil, isUsable: false))
    try FileManager.default.removeItem(atPath: published.folder("models/descriptions/org/voice.json"))
    #expect(try fit() == .other(variant: nil, isUsable: false))
    try forgetAudiences(published)
    #expect(try fit() == .unknown)
  }

  @Test("A way back that nobody used before is for the device as well")
  func wayBack() async throws {
    var published = try PublishedModels()
    let library = try published.library()
    for (version, platform) in [("1", "linux"), ("2", "macos"), ("3", "linux")] {
      published.publish(version, variants: [(variant: "main", platform: platform)])
      _ = try await library.install("\(Self.voice)@\(version):main")
    }
    #expect(try library.installed().first { $0.isPrevious }?.version == "2")
    try published.editRecord { $0["previous"] = nil }
    #expect(try library.installed().first { $0.isPrevious }?.version == "1")
    #expect(try await library.rollBack(Self.voice).version == "1")
  }
}
