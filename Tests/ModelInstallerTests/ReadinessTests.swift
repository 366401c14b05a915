import Foundation
import ModelInstaller
import TestSupport
import Testing

@Suite("What a check before the first use changes does not become active")
struct ReadinessTests {
  /// What the check does to a file.
  enum Change: CaseIterable { case otherBytes, sameLength, removed, link }

  private func change(_ path: String, _ change: Change) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    switch change {
    case .otherBytes: try Data("bad".utf8).write(to: url)
    case .sameLength:
      let times = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      let handle = try FileHandle(forWritingTo: url)
      try handle.write(contentsOf: Data("bad".utf8))
      try handle.close()
      try FileManager.default.setAttributes([.modificationDate: try #require(times)], ofItemAtPath: path)
    case .removed: try FileManager.default.removeItem(atPath: path)
    case .link:
      try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".moved")
    }
  }

  @Test("A file that is not as signed any more is refused, and the version that was active stays so", arguments: Change.allCases)
  func changed(change: Change) async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    published.publish("2")
    do {
      _ = try await library.install("org/voice", check: { folder in try self.change(folder + "/weights.bin", change) })
      Issue.record("it was installed")
    } catch {
      guard case .model(.changedByCheck(_, "2", let path)) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(path.hasSuffix("/weights.bin"))
    }
    #expect(try library.active("org/voice")?.version == "1")
    let installed = try await library.install("org/voice", check: { _ in })
    #expect(installed.version == "2")
    let file = try await library.open("weights.bin", of: installed, thorough: true)
    #expect(file.byteCount == 300_000)
  }

  @Test("Of a version that was installed before too")
  func changedLater() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    _ = try await library.install("org/voice")
    published.publish("2")
    _ = try await library.install("org/voice")
    await #expect(throws: InstallationError.self) {
      _ = try await library.install("org/voice@1", check: { folder in try self.change(folder + "/weights.bin", .sameLength) })
    }
    #expect(try library.active("org/voice")?.version == "2")
  }

  @Test("Files that are as signed are taken, read-only again, and what was put beside them is removed")
  func intact() async throws {
    var published = try PublishedModels()
    published.publish("1")
    let library = try published.library()
    let installed = try await library.install(
      "org/voice",
      check: { folder in
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/weights.bin")
        try Data("cache".utf8).write(to: URL(fileURLWithPath: folder + "/cache.bin"))
      })
    #expect(try FileManager.default.contentsOfDirectory(atPath: installed.folder).sorted() == ["shared.bin", "weights.bin"])
    let mode = try FileManager.default.attributesOfItem(atPath: installed.folder + "/weights.bin")[.posixPermissions] as? Int
    #expect(mode == 0o444)
    let file = try await library.open("weights.bin", of: installed)
    #expect(file.wasRead == false)
  }

  /// The lower bits of the modes of a version's folder and of all that is in it, by their names.
  private func modes(_ folder: String) throws -> [String: Int] {
    var modes: [String: Int] = [:]
    for name in [""] + (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []) {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      modes[name] = attributes[.posixPermissions] as? Int
    }
    return modes
  }

  @Test(
    "Whatever permissions it leaves, files are read-only for all and folders changed by their owner alone",
    arguments: ["777", "0", "7777", "700"], [false, true])
  func permissions(mode: String, wasInstalled: Bool) async throws {
    var published = try PublishedModels()
    let content = ["weights.bin": Array("weights".utf8), "parts/deep/notes.txt": Array("notes".utf8)]
    published.publish("1", content)
    let library = try published.library()
    let change: @Sendable (String) throws -> Void = { folder in
      try FileManager.default.createDirectory(atPath: folder + "/parts/cache/deep", withIntermediateDirectories: true)
      _ = try runChild("chmod", ["-R", mode, folder]).successful()
    }
    // One that refuses leaves its doings for the next.
    struct Refusal: Error {}
    let expected = ["": 0o755, "weights.bin": 0o444, "parts": 0o755, "parts/deep": 0o755, "parts/deep/notes.txt": 0o444]
    if wasInstalled {
      _ = try await library.install("org/voice")
      published.publish("2")
      _ = try await library.install("org/voice")
    }
    await #expect(throws: InstallationError.self) {
      _ = try await library.install(
        "org/voice@1",
        check: { folder in
          try change(folder)
          throw Refusal()
        })
    }
    if wasInstalled { #expect(try modes(published.folder("models/models/org/voice/1/default")) == expected) }
    let installed = try await library.install("org/voice@1", check: change)
    #expect(try modes(installed.folder) == expected)
    #expect(try await library.open("weights.bin", of: installed).wasRead == false)
  }
}
