import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("A variant that nobody asked for never serves instead of another: it may be for another device")
struct OtherVariantTests {
  private static let both = [(variant: "linux", platform: "linux"), (variant: "mac", platform: "macos")]

  /// A store in which requests were installed one after another.
  private func installed(_ versions: [String], _ requests: [String]) async throws -> (PublishedModels, ModelLibrary) {
    var published = try PublishedModels()
    let library = try published.library()
    for version in versions { published.publish(version, variants: Self.both) }
    for request in requests { _ = try await library.install("org/voice" + request) }
    return (published, library)
  }

  private func remove(_ key: String, _ published: PublishedModels) throws {
    try FileManager.default.removeItem(atPath: published.folder("models/models/org/voice/\(key)"))
  }

  @Test("It does not stand in for the active version that is gone, though it is the way back; what is wrong is told")
  func standIn() async throws {
    let (published, library) = try await installed(["1"], [":mac", ""])
    #expect(try library.active("org/voice")?.variant == "linux")
    try remove("1/linux", published)
    let store = try ModelStore.changing(published.folder("models"))
    for request in ["org/voice", "org/voice:linux"] {
      do {
        let outcome = try store.activateInstalled(ModelRequest(request), on: .current, trust: published.trust, isCancelled: { false })
        Issue.record("\(String(describing: outcome))")
      } catch {
        guard case .model(.missing(_, "1", _)) = error else {
          Issue.record("\(error)")
          return
        }
      }
    }
    // The user had it active, so that going back to it is no surprise; and who names it has it.
    #expect(try store.wayBack(of: store.record(of: ModelRequest("org/voice").model))?.description == "1:mac")
    let named = try store.activateInstalled(ModelRequest("org/voice:mac"), on: .current, trust: published.trust, isCancelled: { false })
    #expect(named.map { "\($0)" }?.contains("present") == true)
    #expect(try library.active("org/voice")?.variant == "mac")
  }

  @Test("The same variant of another version stands in, though one of another was installed later")
  func sameVariant() async throws {
    let (published, _) = try await installed(["1", "2"], ["@1:linux", "@2:mac", "@2:linux"])
    try remove("2/linux", published)
    let store = try ModelStore.changing(published.folder("models"))
    guard
      case .standIn(let key, _, _) = try store.activateInstalled(
        ModelRequest("org/voice"), on: .current, trust: published.trust, isCancelled: { false })
    else {
      Issue.record("nothing stands in")
      return
    }
    #expect(key.description == "1:linux")
  }

  @Test("What has the same name in another version, and is for another device there, stands in for nothing; who names it has it")
  func sameName() async throws {
    var published = try PublishedModels()
    let library = try published.library()
    published.publish("1", variants: [(variant: "main", platform: "macos")])
    published.publish("2", variants: [(variant: "main", platform: "linux")])
    for request in ["org/voice@1:main", "org/voice"] { _ = try await library.install(request) }
    try remove("2/main", published)
    let store = try ModelStore.changing(published.folder("models"))
    #expect(throws: InstallationError.self) {
      try store.activateInstalled(ModelRequest("org/voice"), on: .current, trust: published.trust, isCancelled: { false })
    }
    // Nor where the record names no active version.
    try published.editRecord { $0["active"] = nil }
    do {
      #expect(try store.activateInstalled(ModelRequest("org/voice"), on: .current, trust: published.trust, isCancelled: { false }) == nil)
    } catch {
      guard case .model(.missing(_, "2", _)) = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(
      try store.activateInstalled(ModelRequest("org/voice@1:main"), on: .current, trust: published.trust, isCancelled: { false }) != nil)
  }

  @Test(
    "What needs a newer runtime than the device has, as is signed now, does not stand in for what can't be fetched",
    arguments: ["1.9", "2.0"])
  func newerRuntime(engine: String) async throws {
    var published = try PublishedModels()
    var settings = try published.settings()
    settings.device.runtimes = ["engine": engine]
    let network = published.network
    let library = ModelLibrary(settings) { () throws(InstallationError) in network }
    published.publish("1")
    _ = try await library.install("org/voice")
    published.publish("2")
    published.require(engine: "2.0", for: "1")
    published.network[published.weightsURL("2")] = nil
    do {
      let installed = try await library.install("org/voice")
      #expect(installed.version == "1" && installed.standsInBecause != nil && engine == "2.0")
    } catch {
      guard case .transport = error, engine == "1.9" else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test(
    "Which other variant a device would be given instead of one that is here, the description tells",
    arguments: [("linux", "mac", Optional("mac"), false), ("linux", "linux", nil, true), ("mac", "windows", nil, false)])
  func otherChoice(active: String, platform: String, other: String?, isSame: Bool) async throws {
    let (published, library) = try await installed(["1"], [":" + active])
    let store = try #require(try ModelStore.reading(published.folder("models")))
    let key = try #require(try store.record(of: ModelRequest("org/voice").model).active)
    #expect(try library.active("org/voice")?.variant == active)
    let fit = try store.fit(
      of: key, of: ModelRequest("org/voice").model, to: Device(platform: platform, architecture: "arm64"), isThorough: true
    ) { published.trust }
    #expect(fit == (isSame ? .right : .other(variant: other, isUsable: false)))
  }

  @Test("Where none is active, the variant for the device is taken, whatever was active before")
  func noneActive() async throws {
    let (published, _) = try await installed(["1", "2", "3"], ["@1:linux", "@2:mac", "@3:mac"])
    try published.editRecord { $0["active"] = nil }
    let store = try ModelStore.changing(published.folder("models"))
    let outcome = try store.activateInstalled(ModelRequest("org/voice"), on: .current, trust: published.trust, isCancelled: { false })
    guard case .present(let key, activated: true)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(key.description == "1:linux")
  }

  @Test("It is no way back in place of the one that is gone, unless it was active before")
  func wayBack() async throws {
    let (published, library) = try await installed(["1", "2", "3"], ["@1:mac", "@2:linux", "@3:linux"])
    let states = { try library.installed().map { "\($0.version):\($0.variant)\($0.isPrevious ? " way back" : "")" } }
    #expect(try states() == ["1:mac", "2:linux way back", "3:linux"])
    try remove("2/linux", published)
    #expect(try states() == ["1:mac", "2:linux", "3:linux"])
    await #expect(throws: InstallationError.self) { _ = try await library.rollBack("org/voice") }
  }

  @Test("A version that is named without a variant is that of the active one's; any other has to be named")
  func namedVersion() async throws {
    let (published, _) = try await installed(["1", "2"], ["@1:mac", "@2:linux"])
    let store = try ModelStore.changing(published.folder("models"))
    #expect(try store.activateInstalled(ModelRequest("org/voice@1"), on: .current, trust: published.trust, isCancelled: { false }) == nil)
    #expect(
      try store.activateInstalled(ModelRequest("org/voice@1:mac"), on: .current, trust: published.trust, isCancelled: { false }) != nil)
  }
}
