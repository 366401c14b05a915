import FileIO
import Foundation
import LocalizedInstallerErrors
import ModelInstaller
import RepositoryFixtures
import Synchronization
import TUFMetadata
import TestSupport
import Testing

@Suite("The library installs, shares, cancels, continues and goes back")
struct LibraryTests {
  private func bytes(_ file: borrowing ModelFile) throws -> [UInt8] {
    Array(try FileHandle(fileDescriptor: dup(file.fileDescriptor), closeOnDealloc: true).readToEnd() ?? Data())
  }

  @Test("An installed model is opened by descriptor, without being read again and without a network")
  func installAndOpen() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    #expect(try library.active("org/voice") == nil)
    let installed = try await library.install("org/voice")
    #expect(installed.version == "1" && installed.isActive && installed.files == ["weights.bin", "shared.bin"])
    let count = published.network.requests.count
    let active = try #require(try library.active("org/voice"))
    #expect(active == installed)
    let file = try await library.open("weights.bin", of: active)
    #expect(file.wasRead == false && file.byteCount == 300_000)
    #expect(try bytes(file) == PublishedModels.content("weights.bin", of: "1"))
    let again = try await library.open("weights.bin", of: active, thorough: true)
    #expect(again.wasRead == true)
    #expect(published.network.requests.count == count)
  }

  @Test("A file that was changed is not handed out, and repaired it is")
  func changedFile() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    let installed = try await library.install("org/voice")
    let path = installed.folder + "/weights.bin"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    // Nothing but the times have changed: it is read, and handed out.
    let touched = try await library.open("weights.bin", of: installed)
    #expect(touched.wasRead == true)
    try Data("other".utf8).write(to: URL(fileURLWithPath: path))
    await #expect(throws: InstallationError.self) { _ = try await library.open("weights.bin", of: installed) }
    #expect(try await library.repair() == ["org/voice@1:default"])
    let file = try await library.open("weights.bin", of: installed)
    #expect(try bytes(file) == PublishedModels.content("weights.bin", of: "1"))
    #expect(try await library.repair() == [])
  }

  @Test("Callers at the same time share one download")
  func sharedDownload() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    let tasks = (0..<8).map { _ in Task { try await library.install("org/voice") } }
    for task in tasks { #expect(try await task.value.version == "1") }
    let url = published.weightsURL("1")
    #expect(published.network.requests.filter { $0 == url }.count == 1)
  }

  @Test("A cancelled download changes no record, and what was fetched is continued")
  func cancelAndContinue() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    let task = Task { try await library.install("org/voice") }
    task.cancel()
    await #expect(throws: InstallationError.cancelled) { try await task.value }
    #expect(try library.active("org/voice") == nil)
    // In the middle: a check of the caller's that is cancelled leaves everything verified in staging.
    let refused = try await #require(throws: InstallationError.self) {
      try await library.install("org/voice", check: { _ in throw CancellationError() })
    }
    #expect(refused.description.contains("refused by the check"))
    #expect(try library.active("org/voice") == nil)
    let url = published.weightsURL("1")
    let count = published.network.requests.filter { $0 == url }.count
    let installed = try await library.install("org/voice")
    #expect(installed.version == "1")
    #expect(published.network.requests.filter { $0 == url }.count == count, "what was verified is not fetched again")
  }

  @Test("Cancelled in the middle of a file, its part is kept and only the rest is fetched")
  func partIsKept() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let network = published.network
    let library = ModelLibrary(try published.settings()) { () throws(InstallationError) in StoppingTransport(network, after: 100_000) }
    await #expect(throws: InstallationError.cancelled) { _ = try await library.install("org/voice") }
    let part = try #require(FileManager.default.enumerator(atPath: published.folder("models/staging/parts"))?.allObjects as? [String])
    #expect(part.count == 1)
    var present: [Int64] = []
    let seen = Mutex<[Int64]>([])
    _ = try await published.library().install("org/voice") { event in
      if case .file(let path, _, let count) = event, path.hasSuffix("weights.bin") { seen.withLock { $0.append(count) } }
    }
    present = seen.withLock { $0 }
    #expect(present.count == 1 && present[0] >= 100_000)
  }

  @Test("Going back leads to the version before, and again forward")
  func rollBack() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    await #expect(throws: InstallationError.model(.noPrevious(model: "org/voice"))) { _ = try await library.rollBack("org/voice") }
    published.publish("2")
    #expect(try await library.install("org/voice").version == "2")
    #expect(try await library.rollBack("org/voice").version == "1")
    #expect(try library.active("org/voice")?.version == "1")
    #expect(try await library.rollBack("org/voice").version == "2")
    #expect(try library.installed().map(\.isPrevious) == [true, false])
  }

  @Test("Where the newest can't be fetched, a complete version serves and says why; one that is asked for by name is not replaced")
  func standIn() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    published.publish("2")
    published.network[published.weightsURL("2")] = nil
    let installed = try await library.install("org/voice")
    #expect(installed.version == "1" && installed.standsInBecause != nil)
    await #expect(throws: InstallationError.self) { _ = try await library.install("org/voice@2") }
    #expect(try library.active("org/voice")?.version == "1")
  }

  @Test("What there is for other devices is a value")
  func nothingForDevice() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    guard case .plan(let plan) = try await library.plan("org/voice") else {
      Issue.record("there is one")
      return
    }
    #expect(plan.downloadByteCount == 300_025 && !plan.isInstalled)
    let space = try #require(plan.space.first)
    #expect(plan.space.count == 1 && space.freeByteCount > 0)
    #expect(plan.diskByteCount >= 300_025 && space.neededByteCount >= plan.diskByteCount && space.neededFileCount > 2)
    #expect(!FileManager.default.fileExists(atPath: published.folder("models")))
  }

  @Test("Failures that pass are tried again, those that will not are not")
  func retries() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    published.publish("2")
    let url = published.weightsURL("2")
    let requests = { published.network.requests.filter { $0 == url }.count }
    published.network[url] = [UInt8](repeating: 7, count: 300_000)
    #expect(try await library.install("org/voice").version == "1")
    #expect(requests() == 1, "bytes that are not what is signed are not asked for again")
    published.network[url] = PublishedModels.content("weights.bin", of: "2")
    // The first request is for the timestamp.
    published.network.fail(with: [])
    #expect(try await library.install("org/voice").version == "2")
  }

  @Test("A file that a transport fetched elsewhere is taken, and verified like any other")
  func localFile() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let url = published.weightsURL("1")
    let good = try published.folder.write(PublishedModels.content("weights.bin", of: "1"), to: "downloaded")
    let bad = try published.folder.write([UInt8](repeating: 1, count: 300_000), to: "damaged")
    let network = published.network
    network[url] = nil
    let wrong = ModelLibrary(try published.settings()) { () throws(InstallationError) in LocalTransport(network, [url: bad]) }
    await #expect(throws: InstallationError.self) { _ = try await wrong.install("org/voice") }
    let library = ModelLibrary(try published.settings()) { () throws(InstallationError) in LocalTransport(network, [url: good]) }
    #expect(try await library.install("org/voice").version == "1")
    #expect(FileManager.default.fileExists(atPath: good), "it stays the transport's own")
  }

  @Test("Cancelled and asked for again at once, nothing is written by two")
  func cancelAndRetry() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    for _ in 0..<5 {
      let task = Task { try await library.install("org/voice") }
      await Task.yield()
      task.cancel()
      _ = try? await task.value
    }
    let installed = try await library.install("org/voice")
    let file = try await library.open("weights.bin", of: installed, thorough: true)
    #expect(try bytes(file) == PublishedModels.content("weights.bin", of: "1"))
  }

  @Test("A file that is exactly as signed, and no whole model file, never becomes active")
  func truncatedTensors() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    let header = Array("{\"w\":{\"dtype\":\"U8\",\"shape\":[5000],\"data_offsets\":[0,5000]}}".utf8)
    let truncated = [UInt8(header.count), 0, 0, 0, 0, 0, 0, 0] + header + [UInt8](repeating: 1, count: 4000)
    published.publish("2", ["weights.safetensors": truncated])
    do {
      _ = try await library.install("org/voice")
      Issue.record("it was installed")
    } catch {
      guard case .model(.format) = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(try library.active("org/voice")?.version == "1")
  }

  @Test("A file that is missing is missed, whatever else is there")
  func missingFile() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    let installed = try await library.install("org/voice")
    try FileManager.default.removeItem(atPath: installed.folder + "/shared.bin")
    await #expect(throws: InstallationError.self) { _ = try await library.open("shared.bin", of: installed) }
    #expect(try await library.repair() == ["org/voice@1:default"])
    let file = try await library.open("shared.bin", of: installed)
    #expect(file.byteCount == 25)
  }

  @Test("Metadata that has expired, or is out of reach, hinders no repair", arguments: [true, false])
  func repairWithoutMetadata(hasExpired: Bool) async throws {
    var published = try PublishedModels()
    published.publish("1")
    let installed = try await published.library().install("org/voice")
    let path = installed.folder + "/weights.bin"
    try FileManager.default.removeItem(atPath: path)
    var settings = try published.settings()
    if hasExpired {
      settings.clock = { FixtureRepository.now.secondsSince1970 + 10 * 365 * 86_400 }
    } else {
      settings.metadata = [.server(try HTTPURL("http://unreachable.example.org/metadata"))]
    }
    let network = published.network
    let library = ModelLibrary(settings) { () throws(InstallationError) in network }
    await #expect(throws: InstallationError.self) { _ = try await library.install("org/voice") }
    #expect(try await library.repair() == ["org/voice@1:default"])
    let file = try await library.open("weights.bin", of: installed)
    #expect(try bytes(file) == PublishedModels.content("weights.bin", of: "1"))
  }

  @Test("A version that is known to be withdrawn is not fetched again, with or without newer metadata", arguments: [true, false])
  func repairOfWithdrawn(isReachable: Bool) async throws {
    var published = try PublishedModels()
    published.publish("1")
    let installed = try await published.library().install("org/voice")
    try FileManager.default.removeItem(atPath: installed.folder + "/weights.bin")
    published.withdraw(["1"], because: "it stammers")
    await #expect(throws: InstallationError.self) { _ = try await published.library().install("org/voice") }
    var settings = try published.settings()
    if !isReachable { settings.metadata = [.server(try HTTPURL("http://unreachable.example.org/metadata"))] }
    let network = published.network
    let library = ModelLibrary(settings) { () throws(InstallationError) in network }
    let refused = InstallationError.model(.withdrawn(model: "org/voice", version: "1", reason: "it stammers"))
    await #expect(throws: refused) { _ = try await library.repair() }
  }

  @Test("A file that the disk can't give back is damaged, and repaired like any other")
  func unreadableFile() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    let installed = try await library.install("org/voice")
    let hook = FaultInjection.install(below: installed.folder + "/weights.bin") { $0.name == .read ? .fail(.inputOutput) : .proceed }
    defer { FaultInjection.remove(hook) }
    #expect(try await library.repair() == ["org/voice@1:default"])
    FaultInjection.remove(hook)
    let file = try await library.open("weights.bin", of: installed)
    #expect(file.wasRead == false)
    #expect(try bytes(file) == PublishedModels.content("weights.bin", of: "1"))
  }

  @Test("Repairing and going back make no store where there is none")
  func noStore() async throws {
    let published = try PublishedModels()
    let library = try published.library()
    #expect(try await library.repair() == [])
    await #expect(throws: InstallationError.self) { _ = try await library.repair("org/voice") }
    await #expect(throws: InstallationError.self) { _ = try await library.rollBack("org/voice") }
    #expect(!FileManager.default.fileExists(atPath: published.folder("models")))
  }

  @Test("Storage that versions share changes no file that stays: each is known again without being read")
  func sharedStorage() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    var installed = [try await library.install("org/voice")]
    for version in ["2", "3"] {
      published.publish(version)
      installed.append(try await library.install("org/voice"))
      for model in installed { #expect(try await library.open("shared.bin", of: model).wasRead == false) }
    }
    #expect(try await library.prune() > 0)
    for model in installed.dropFirst() { #expect(try await library.open("shared.bin", of: model).wasRead == false) }
  }

  @Test("Every error says in words what happened")
  func localizedDescriptions() throws {
    let errors: [any Error] = [
      InstallationError.model(.noPrevious(model: "org/x")), InstallationError.transport(.status(url: "https://x", 500)),
      ModelError.insufficientSpace(path: "/x", needed: 10, free: 2), TransportError.rangeIgnored(url: "https://x"),
    ]
    for error in errors {
      #expect(error.localizedDescription == "\(error)")
      #expect(!error.localizedDescription.contains("error 0"))
    }
  }
}

/// Stops after so many bytes of a large file, as a cancelled task does.
private final class StoppingTransport: Transport {
  private let base: MemoryTransport
  private let limit: Int

  init(_ base: MemoryTransport, after limit: Int) { (self.base, self.limit) = (base, limit) }

  func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    var count = 0
    let limit = limit
    try base.get(url, byteLimit: byteLimit) { piece throws(InstallationError) in
      guard count < limit || byteLimit < 200_000 else { throw .cancelled }
      count += piece.count
      try receive(piece)
    }
  }
}

/// Has some files already.
private final class LocalTransport: Transport {
  private let base: MemoryTransport
  private let files: [String: String]

  init(_ base: MemoryTransport, _ files: [String: String]) { (self.base, self.files) = (base, files) }

  func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) { try base.get(url, byteLimit: byteLimit, receive: receive) }

  func localFile(for url: HTTPURL, byteCount: Int64) throws(InstallationError) -> String? { files[url.description] }
}
