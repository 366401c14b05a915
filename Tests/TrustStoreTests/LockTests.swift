import FileIO
import Foundation
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing
import TrustStore

@Suite struct `One process at a time changes the state, and hinders no reader while it waits` {
  @Test func `the turn of another is named`() throws {
    let device = try StoredDevice(anchor: FixtureRepository().anchor)
    let store = try TrustStore(device.path)
    #expect(throws: TrustStoreError.locked(path: device.path + "/refresh-lock", process: getpid())) { _ = try TrustStore(device.path) }
    #expect(try store.anchor() == FixtureRepository().anchor)
  }

  @Test(arguments: [.notSupported, .noLocks, .notImplemented, .invalidArgument] as [Errno])
  func `on a file system without locks too`(error: Errno) throws {
    let repository = FixtureRepository()
    let folder = try TemporaryFolder()
    try FaultInjection.withHook(
      below: folder.path, { $0.name == .lock ? .fail(error) : .proceed },
      { () throws -> Void in
        let path = folder("state")
        try TrustStore.initialise(path, root: repository.anchor)
        try refreshState(path, from: repository)
        let store = try TrustStore(path)
        #expect(throws: TrustStoreError.locked(path: path + "/refresh-lock", process: getpid())) { _ = try TrustStore(path) }
        let first = try TrustReader(path)
        let second = try TrustReader(path)
        #expect(try first.metadata() == second.metadata())
        #expect(try store.anchor() == repository.anchor)
      })
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("state")).allSatisfy { !$0.contains("lock.") })
  }

  @Test func `a holder that was killed stands in nobody's way`() async throws {
    let device = try StoredDevice(anchor: FixtureRepository().anchor)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = device.path as String] in
      let store = try TrustStore(path)
      kill(getpid(), SIGKILL)
      _ = try store.anchor()
    }
    #expect(try !device.bytes(of: "refresh-lock").isEmpty, "the killed process never had the lock")
    #expect(try TrustStore(device.path).anchor() == FixtureRepository().anchor)
  }

  @Test func `readers come in between any two changes of a refresh, several at once, and find a state that holds together`() throws {
    let old = FixtureRepository()
    var new = old
    new.rotate { $0.timestamp.keys.append(FixtureKey(85)) }
    new.publishNext()
    let device = try StoredDevice(refreshedFrom: old)
    var seen: [[Int64]] = []
    try device.refresh(new) { _ in
      do {
        let first = try TrustReader(device.path)
        let second = try TrustReader(device.path)
        seen.append(try TrustedManifest(anchor: first.anchor(), stored: first.metadata()).versions)
        #expect(try second.metadata() == first.metadata())
      } catch { Issue.record("a reader was refused: \(error)") }
    }
    #expect(seen == [[2, 1, 1, 1], [2, 2, 1, 1], [2, 2, 2, 1], [2, 2, 2, 2]])
  }

  @Test func `no change is written while somebody reads`() throws {
    let device = try StoredDevice(refreshedFrom: FixtureRepository())
    let before = try device.bytes(of: "trust")
    let reader = try TrustReader(device.path)
    var store = try TrustStore(device.path)
    #expect(throws: TrustStoreError.locked(path: device.path + "/lock", process: getpid())) {
      try store.keep(.refreshed(at: UTCTime(known: "2030-02-01T00:00:00Z")))
    }
    #expect(try device.bytes(of: "trust") == before)
    _ = consume reader
    try store.keep(.refreshed(at: UTCTime(known: "2030-02-01T00:00:00Z")))
    #expect(try device.bytes(of: "trust") != before)
  }
}

@Suite struct `What is missing or stands in another's place is damage, and never a beginning` {
  static let repository: FixtureRepository = {
    var repository = FixtureRepository()
    repository.rotate { _ in }
    return repository
  }()

  enum Fault: CaseIterable { case missing, folder, tooLong }

  static func damaged(_ name: String, _ fault: Fault) throws -> StoredDevice {
    let device = try StoredDevice(refreshedFrom: repository)
    let path = device.path + "/" + name
    try FileManager.default.removeItem(atPath: path)
    switch fault {
    case .missing: break
    case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .tooLong:
      try Data().write(to: URL(fileURLWithPath: path))
      try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 2_000_000_000)
    }
    return device
  }

  @Test(arguments: ["timestamp.json", "snapshot.json", "roots/1.json", "trust"], Fault.allCases)
  func `for whoever reads and whoever refreshes`(name: String, fault: Fault) throws {
    let device = try Self.damaged(name, fault)
    let readers: [() throws -> Void] = [
      { _ = try device.manifest() }, { try device.refresh(Self.repository) },
    ]
    for read in readers {
      guard case .damaged(let path, _)? = #expect(throws: TrustStoreError.self, performing: read) else {
        Issue.record("\(name), \(fault)")
        continue
      }
      #expect(path == device.path + "/" + name)
    }
    // Nothing was written by the attempts.
    if fault == .missing { #expect(!FileManager.default.fileExists(atPath: device.path + "/" + name)) }
  }

  @Test func `a damaged anchor is the folder's fault`() throws {
    let device = try StoredDevice(refreshedFrom: Self.repository)
    let path = try device.folder.write(Self.repository["2.root.json"], to: "state/roots/1.json")
    for read in [{ _ = try device.manifest() }, { _ = try device.refresh(Self.repository) }] as [() throws -> Void] {
      guard case .damaged(path, _)? = #expect(throws: TrustStoreError.self, performing: read) else {
        Issue.record("another root in the anchor's place")
        continue
      }
    }
  }

  @Test func `a folder without roots is damage`() throws {
    let device = try StoredDevice(refreshedFrom: Self.repository)
    try FileManager.default.removeItem(atPath: device.path + "/roots")
    #expect(throws: TrustStoreError.self) { try device.manifest() }
    #expect(throws: TrustStoreError.self) { try device.refresh(Self.repository) }
  }

  @Test(arguments: ["lock", "refresh-lock"]) func `a folder in place of a lock is named`(name: String) throws {
    let device = try Self.damaged(name, .folder)
    guard
      case .damaged(let path, _)? = #expect(
        throws: TrustStoreError.self, performing: { _ = try name == "lock" ? device.manifest() : device.refresh(Self.repository) })
    else {
      Issue.record("no damage")
      return
    }
    #expect(path == device.path + "/" + name)
  }

  @Test(arguments: [[], Array("{}".utf8), nil] as [[UInt8]?])
  func `the copy of the newest root is told as damaged, and written again by the next refresh`(content: [UInt8]?) throws {
    let device = try StoredDevice(refreshedFrom: Self.repository)
    if let content {
      try device.folder.write(content, to: "state/root.json")
    } else {
      try FileManager.default.removeItem(atPath: device.path + "/root.json")
    }
    var store = try TrustStore(device.path)
    #expect(try store.restoreCopyOfRoot())
    #expect(try !store.restoreCopyOfRoot())
    #expect(try device.bytes(of: "root.json") == Self.repository["2.root.json"])
  }

  @Test func `inspect reads what can be read, and tells of the rest`() throws {
    let device = try Self.damaged("snapshot.json", .missing)
    let (anchor, stored, faults) = try TrustReader(device.path).inspect()
    #expect(anchor == Self.repository.anchor && stored.roots.count == 2 && stored.timestamp != nil && stored.snapshot == nil)
    #expect(Array(faults.keys) == [.snapshot])
  }
}
