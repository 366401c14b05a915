import FileIO
import Foundation
import ModelInstaller
import RepositoryFixtures
import Synchronization
import TUFMetadata
import TestSupport
import Testing

@Suite("An active version that is gone is told, stays on record, and is never given up in silence")
struct LostVersionTests {
  private let voice = "org/voice"

  private func folder(_ published: PublishedModels, _ version: String) -> String {
    published.folder("models/models/org/voice/\(version)/default")
  }

  private func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

  private func damage(_ published: PublishedModels, _ version: String) throws {
    let path = folder(published, version) + "/weights.bin"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try Data("other".utf8).write(to: URL(fileURLWithPath: path))
  }

  private func states(_ library: ModelLibrary) throws -> [String] {
    try library.installed().map { model in
      "\(model.version)\(model.isActive ? " active" : "")\(model.isPrevious ? " way back" : "")\(model.isComplete ? "" : " missing")"
    }
  }

  private func edit(_ published: PublishedModels, _ former: String, _ text: String) throws {
    let path = published.folder("models/records/org/voice.json")
    let record = try String(contentsOfFile: path, encoding: .utf8)
    try #require(record.contains(former))
    try record.replacing(former, with: text).write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func name(_ member: String, _ version: String) -> String { "\"\(member)\":{\"variant\":\"default\",\"version\":\"\(version)\"}" }

  @Test(
    "It stays active and on record, whatever is done, and a repair brings it back", arguments: ["models", "models/org/voice/2", "file"])
  func repaired(what: String) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try remove(what == "file" ? folder(published, "2") + "/weights.bin" : published.folder("models/" + what))
    let back = what == "models" ? " missing" : " way back"
    for _ in 0..<2 {
      #expect(try states(library) == ["1\(back)", "2 active missing"])
      #expect(try library.active(voice)?.isComplete == false)
      #expect(try await library.prune() == 0)
    }
    let active = try #require(try library.active(voice))
    do {
      _ = try await library.open("weights.bin", of: active)
      Issue.record("it was opened")
    } catch {
      guard case .model(.missing(voice, "2", _)) = error else {
        Issue.record("\(error)")
        return
      }
    }
    // The active version first.
    #expect(try await library.repair() == ["org/voice@2:default"] + (what == "models" ? ["org/voice@1:default"] : []))
    #expect(try states(library) == ["1 way back", "2 active"])
    #expect(try await library.open("weights.bin", of: active).byteCount == 300_000)
  }

  @Test("Metadata that has expired hinders no such repair, and what another version has is not fetched")
  func repairedFromTheRecord() async throws {
    let (published, _) = try await PublishedModels.installed(["1", "2"])
    try remove(folder(published, "2"))
    var settings = try published.settings()
    settings.clock = { FixtureRepository.now.secondsSince1970 + 10 * 365 * 86_400 }
    let network = published.network
    let before = network.requests.count
    let library = ModelLibrary(settings) { () throws(InstallationError) in network }
    #expect(try await library.repair() == ["org/voice@2:default"])
    #expect(network.requests.dropFirst(before).filter { $0.contains("shared.bin") }.isEmpty)
    #expect(try states(library) == ["1 way back", "2 active"])
  }

  @Test("An installation brings it back as well")
  func installedAnew() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try remove(folder(published, "2"))
    #expect(try await library.install(voice).version == "2")
    #expect(try states(library) == ["1 way back", "2 active"])
  }

  @Test("Going back leads to a version that is read first; the one that is gone can be brought back from there")
  func goingBack() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try remove(folder(published, "2"))
    #expect(try await library.rollBack(voice).version == "1")
    #expect(try states(library) == ["1 active", "2 missing"])
    #expect(try await library.repair() == ["org/voice@2:default"])
    #expect(try await library.rollBack(voice).version == "2")
    try remove(folder(published, "2"))
    try damage(published, "1")
    await #expect(throws: InstallationError.self) { _ = try await library.rollBack(voice) }
    #expect(try library.active(voice)?.version == "2")
  }

  @Test("What stands in for it is read, and not withdrawn; the record stays as it is", arguments: [false, true])
  func standIn(isDamaged: Bool) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    try isDamaged ? damage(published, "3") : remove(folder(published, "3"))
    let store = try #require(try ModelStore.reading(published.folder("models")))
    let request = try ModelRequest(voice)
    func served() throws -> String? {
      guard
        case .standIn(let key, let instead, _) = try store.activeOrStandIn(
          request, on: .current, trust: published.trust, isCancelled: { false })
      else {
        return nil
      }
      #expect(instead.description == "3:default")
      return key.version.description
    }
    #expect(try served() == "2")
    try damage(published, "2")
    #expect(try served() == "1")
    #expect(try library.active(voice)?.version == "3")
  }

  @Test("Of a model whose active version is gone or damaged nothing is removed, of others it is", arguments: [false, true])
  func pruning(isDamaged: Bool) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    try isDamaged ? damage(published, "3") : remove(folder(published, "3"))
    let store = try ModelStore.changing(published.folder("models"))
    for isRehearsal in [true, false] {
      var told: [InstallationError] = []
      #expect(try store.prune(isRehearsal: isRehearsal, leaveAlone: { told.append($1) }).isEmpty)
      #expect(told.count == 1)
    }
    #expect(try library.installed().map(\.version) == ["1", "2", "3"])
  }

  @Test("A way back that is gone is told, replaced by another that is here, and forgotten when that is asked for")
  func lostWayBack() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    try remove(folder(published, "2"))
    #expect(try states(library) == ["1 way back", "2 missing", "3 active"])
    let store = try ModelStore.changing(published.folder("models"))
    let record = try #require(try store.records().first?.record.get())
    #expect(store.losses(of: record).map(\.isActive) == [false])
    #expect(try store.prune(isRehearsal: false).count == 1)
    #expect(try states(library) == ["1 way back", "3 active"])
  }

  @Test("What somebody removed that is neither active nor the way back is forgotten")
  func removed() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    try remove(folder(published, "1"))
    #expect(try await library.repair() == [])
    #expect(try states(library) == ["2 way back", "3 active"])
  }

  @Test("A record that names as active what it does not know is told; nothing is removed, and another version serves once it is read")
  func activeNamesNothing() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try edit(published, name("active", "2"), name("active", "9"))
    let contradiction = InstallationError.model(.contradictoryRecord(model: voice, version: "9:default", isActive: true))
    let store = try #require(try ModelStore.reading(published.folder("models")))
    let record = try #require(try store.records().first?.record.get())
    #expect(store.losses(of: record).map(\.error) == [contradiction])
    let outcome = try store.activeOrStandIn(ModelRequest(voice), on: .current, trust: published.trust, isCancelled: { false })
    guard case .standIn(_, _, contradiction) = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(try await library.prune() == 0)
    await #expect(throws: contradiction) { _ = try await library.repair() }
    #expect(try await library.install(voice).version == "2")
    #expect(try states(library) == ["1 way back", "2 active"])
  }

  @Test(
    "A record that names no active version is told; nothing is removed, and the next installation or rollback sets it right",
    arguments: ["install", "offline", "rollback"])
  func noActive(verb: String) async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    try edit(published, name("active", "3") + ",", "")
    let contradiction = InstallationError.model(.contradictoryRecord(model: voice, version: nil, isActive: true))
    var store: ModelStore? = try ModelStore.changing(published.folder("models"))
    let record = try #require(try store?.records().first?.record.get())
    #expect(store?.losses(of: record).map(\.error) == [contradiction])
    var told: [InstallationError] = []
    #expect(try store?.prune(isRehearsal: false, leaveAlone: { told.append($1) }) == [])
    #expect(told == [contradiction])
    #expect(try store?.findDamaged([], isCancelled: { false }).refused.map(\.error) == [contradiction])
    #expect(try states(library) == ["1", "2 way back", "3"])
    switch verb {
    case "install":
      // Its lock.
      store = nil
      #expect(try await library.install(voice).version == "3")
      #expect(try states(library) == ["1", "2 way back", "3 active"])
    case "offline":
      // What is not as signed, or something else in its place, is passed over.
      try damage(published, "3")
      try remove(folder(published, "2"))
      try FileManager.default.createSymbolicLink(atPath: folder(published, "2"), withDestinationPath: folder(published, "1"))
      guard
        case .present(let key, activated: true)? = try store?.activateInstalled(
          ModelRequest(voice), on: .current, trust: published.trust, isCancelled: { false })
      else {
        Issue.record("nothing serves")
        return
      }
      #expect(key.version.description == "1")
    default:
      #expect(try store?.rollBack(ModelRequest(voice).model).active.version.description == "2")
      #expect(try states(library) == ["1", "2 active", "3 way back"])
    }
  }

  @Test("Of a model whose record is lost nothing is removed, and that is told; the next installation uses what is there")
  func noRecord() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try remove(published.folder("models/records"))
    var store: ModelStore? = try ModelStore.changing(published.folder("models"))
    for isRehearsal in [true, false] {
      var told: [InstallationError] = []
      #expect(try store?.prune(isRehearsal: isRehearsal, leaveAlone: { told.append($1) }) == [])
      #expect(told == [.model(.noRecord(model: voice))])
    }
    #expect(try store?.findDamaged([], isCancelled: { false }).refused.map(\.error) == [.model(.noRecord(model: voice))])
    #expect(throws: InstallationError.model(.noRecord(model: voice))) {
      try store?.findDamaged([ModelRequest(voice)], isCancelled: { false })
    }
    // Its lock.
    store = nil
    let count = published.network.requests.filter { $0 == published.weightsURL("2") }.count
    #expect(try await library.install(voice).version == "2")
    #expect(published.network.requests.filter { $0 == published.weightsURL("2") }.count == count, "what is there is not fetched again")
    // What else stands there whole is on record again.
    #expect(try states(library) == ["1 way back", "2 active"])
    #expect(try await library.prune() == 0)
    #expect(try await library.rollBack(voice).version == "1")
  }

  @Test("With the record lost, what is not whole is not put on record, and what was withdrawn as such")
  func notWhole() async throws {
    var (published, library) = try await PublishedModels.installed(["1", "2", "3", "4"])
    published.withdraw(["2"], because: "it stammers")
    try remove(published.folder("models/records"))
    try remove(folder(published, "1") + "/shared.bin")
    #expect(try await library.install(voice).version == "4")
    #expect(try states(library) == ["2", "3 way back", "4 active"])
    #expect(try library.installed().map(\.withdrawal) == ["it stammers", nil, nil])
    #expect(try await library.prune() > 0)
    #expect(try states(library) == ["3 way back", "4 active"])
    for version in ["1", "2"] { #expect(!FileManager.default.fileExists(atPath: folder(published, version))) }
  }

  @Test("A version that stands in its place, and that a killed process did not put on record, is used, and is the one installed last")
  func killedBeforeRecord() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try published.editRecord { record in
      let entries = try #require(record["installed"] as? [Any])
      record["installed"] = [entries[0]]
      record["active"] = record["previous"]
      record["previous"] = nil
    }
    #expect(try states(library) == ["1 active"])
    let before = published.network.requests.count
    #expect(try await library.install(voice).version == "2")
    #expect(!published.network.requests.dropFirst(before).contains { $0.hasSuffix(".bin") }, "nothing is fetched")
    #expect(try states(library) == ["1 way back", "2 active"])
  }

  @Test("With the record lost, and what would be chosen neither whole here nor to be had, another version stands in that was read")
  func noRecordAndDamaged() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3", "4"])
    try remove(published.folder("models/records"))
    for version in ["3", "4"] { try damage(published, version) }
    for version in ["1", "2", "3", "4"] { published.network[published.weightsURL(version)] = nil }
    let installed = try await library.install(voice)
    #expect(installed.version == "2" && installed.standsInBecause != nil)
    #expect(try states(library) == ["1 way back", "2 active"])
  }

  @Test("From a store that can't be changed serves what a record without an active version knows, and the record stays as it is")
  func unchangeable() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try edit(published, name("active", "2") + ",", "")
    try damage(published, "2")
    let store = try #require(try ModelStore.reading(published.folder("models")))
    for (request, version) in [(voice, "1"), (voice + "@1", "1")] {
      let outcome = try store.activateInstalled(ModelRequest(request), on: .current, trust: published.trust, isCancelled: { false })
      guard case .present(let key, activated: false)? = outcome else {
        Issue.record("\(String(describing: outcome))")
        return
      }
      #expect(key.version.description == version)
    }
    #expect(try library.active(voice) == nil)
  }

  @Test("A version that is gone stays on a record that names no active one: it may have been that")
  func noActiveAndGone() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    try edit(published, name("active", "3") + ",", "")
    try remove(folder(published, "3"))
    _ = try ModelStore.changing(published.folder("models"))
    #expect(try library.installed().map(\.version) == ["1", "2", "3"])
  }

  @Test("A record of a version without files is damaged: nothing could be amiss with it")
  func noFiles() async throws {
    let (published, library) = try await PublishedModels.installed(["1"])
    try published.editRecord { record in
      var entries = try #require(record["installed"] as? [[String: Any]])
      entries[0]["files"] = [Any]()
      record["installed"] = entries
    }
    let isDamage = { (error: InstallationError?) in if case .model(.damagedRecord) = error { true } else { false } }
    do {
      _ = try await library.repair()
      Issue.record("it was found intact")
    } catch { #expect(isDamage(error), "\(error)") }
    let store = try ModelStore.changing(published.folder("models"))
    do {
      _ = try store.activateInstalled(ModelRequest(voice), on: .current, trust: published.trust, isCancelled: { false })
      Issue.record("it serves")
    } catch { #expect(isDamage(error), "\(error)") }
    #expect(try store.prune(isRehearsal: false).isEmpty)
  }

  @Test("A record that names the active version as the way back leads to another, and is told")
  func previousIsActive() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try edit(published, name("previous", "1"), name("previous", "2"))
    #expect(try states(library) == ["1 way back", "2 active"])
    let store = try ModelStore.changing(published.folder("models"))
    let losses = { try store.losses(of: #require(try store.records().first?.record.get())).map(\.isActive) }
    #expect(try losses() == [false])
    #expect(try store.prune(isRehearsal: false).isEmpty)
    #expect(try losses() == [])
    #expect(try states(library) == ["1 way back", "2 active"])
  }

  @Test(
    "Killed while a version gives way on a disk where two can't change places, what was put together is kept by a pruning, and used by the next repair"
  )
  func killedWhileReplacing() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2"])
    try damage(published, "2")
    let place = folder(published, "2")
    let renames = Mutex(0)
    let hook = FaultInjection.install(below: place) { call in
      guard call.name == .rename, call.path == place else { return .proceed }
      return renames.withLock { count in
        count += 1
        // Not exclusively, not in exchange; and then the end.
        return count == 1 ? .fail(.exists) : count == 2 ? .fail(.invalidArgument) : .fail(.inputOutput)
      }
    }
    defer { FaultInjection.remove(hook) }
    await #expect(throws: InstallationError.self) { _ = try await library.repair() }
    #expect(renames.withLock { $0 } == 3)
    FaultInjection.remove(hook)
    #expect(try states(library) == ["1 way back", "2 active missing"])
    #expect(try await library.prune() == 0)
    let url = published.weightsURL("2")
    let count = published.network.requests.filter { $0 == url }.count
    #expect(try await library.repair() == ["org/voice@2:default"])
    #expect(published.network.requests.filter { $0 == url }.count == count, "what was verified is not fetched again")
    #expect(try states(library) == ["1 way back", "2 active"])
    // Of the one that gave way nothing is in the way of the next time.
    try damage(published, "2")
    #expect(try await library.repair() == ["org/voice@2:default"])
    #expect(try await library.prune() == 0)
  }

  @Test("What the manifest refuses to tell of one version hinders the repair of no other")
  func refusedLookUp() async throws {
    var (published, library) = try await PublishedModels.installed(["1", "2"])
    published.withdraw(["1"], because: "it stammers")
    try remove(published.folder("models/models"))
    let withdrawn = InstallationError.model(.withdrawn(model: voice, version: "1", reason: "it stammers"))
    await #expect(throws: withdrawn) { _ = try await library.repair() }
    #expect(try states(library) == ["1 missing", "2 active"])
  }
}
