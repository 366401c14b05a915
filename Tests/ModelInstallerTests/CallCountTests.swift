import FileIO
import Foundation
import ModelInstaller
import Synchronization
import TestSupport
import Testing

@Suite("What is installed is told by one look at each file")
struct CallCountTests {
  /// Which paths below the store's versions are asked for their status while `body` runs, by the version, and how often.
  private func looks(_ published: PublishedModels, _ body: () throws -> Void) throws -> [String: Int] {
    let models = published.folder("models/models/org/voice")
    let counts = Mutex<[String: Int]>([:])
    let hook: FaultInjection.Hook = { call in
      guard call.name == .status, let start = call.path.range(of: "/models/org/voice/") else { return .proceed }
      counts.withLock { $0[String(call.path[start.upperBound...]), default: 0] += 1 }
      return .proceed
    }
    try FaultInjection.withHook(below: models, hook, { () throws -> Void in try body() })
    return counts.withLock { $0 }
  }

  @Test("Of the active version alone where that is asked for, and of every version where all are")
  func onceEach() async throws {
    let (published, library) = try await PublishedModels.installed(["1", "2", "3"])
    let files = { (versions: [String]) in
      Dictionary(uniqueKeysWithValues: versions.flatMap { ["\($0)/default/weights.bin", "\($0)/default/shared.bin"] }.map { ($0, 1) })
    }
    #expect(try looks(published) { _ = try library.active("org/voice") } == files(["3"]))
    #expect(try looks(published) { _ = try library.installed() } == files(["1", "2", "3"]))
  }

  @Test("Pruning lists each folder of versions once")
  func pruning() async throws {
    let (published, _) = try await PublishedModels.installed(["1", "2"])
    let store = try ModelStore.changing(published.folder("models"))
    let lists = Mutex(0)
    let versions = published.folder("models/models/org/voice")
    let hook: FaultInjection.Hook = { call in
      if call.name == .list, call.path.hasSuffix("/models/org/voice") { lists.withLock { $0 += 1 } }
      return .proceed
    }
    try FaultInjection.withHook(below: versions, hook, { () throws -> Void in _ = try store.prune(isRehearsal: true) })
    // Two names, the folder's own and its parent's, and the end.
    #expect(lists.withLock { $0 } == 5)
  }
}
