import FileIO
import FleetSimulator
import Foundation
import ManifestVerifier
import Synchronization
import TUFMetadata
import TestSupport
import Testing
import TrustStore

/// Refreshes a state folder as the commands do, and looks one target up through its delegation.
@discardableResult
func refreshState(_ path: String, from files: [String: [UInt8]]) throws -> TrustedManifest {
  var store = try TrustStore(path)
  var workflow = try ClientWorkflow(anchor: store.anchor(), stored: store.metadata(), now: Fleet.now)
  while let request = workflow.request {
    let changes = try files[request.urlPath].map { try workflow.supply($0) } ?? workflow.supplyNotAvailable()
    for change in changes { try store.keep(change) }
  }
  let manifest = try #require(workflow.manifest)
  var search = try TargetSearch(for: target("team/file"), in: manifest, now: Fleet.now)
  while let request = search.request {
    if let kept = try store.delegatedMetadata(request.role.name), search.offerKept(kept) { continue }
    for change in try search.supply(try #require(files[request.urlPath])) { try store.keep(change) }
  }
  try #require(search.finding != nil)
  return manifest
}

/// Three publications: what an attacker may replay, what the device trusts, and what it is about to trust; the last takes a key away or not.
struct Generations {
  let anchor: [UInt8]
  let older: [String: [UInt8]]
  let trusted: [String: [UInt8]]
  let new: [String: [UInt8]]

  init(takingKeyAway: Bool) throws {
    var fleet = try Fleet { (publisher) throws(SimulationError) in
      let key = try publisher.key("team")
      publisher.targets.delegations = [SimulatedDelegation("team", keys: [key], paths: ["team/*"])]
      publisher.addRole("team", keys: [key], files: ["team/file"])
    }
    anchor = fleet.publisher.anchor
    older = fleet.publisher.files
    try fleet.publisher.publishNext()
    trusted = fleet.publisher.files
    let key = try fleet.publisher.key("new timestamp")
    try fleet.publisher.rotate { if takingKeyAway { $0.timestamp.keys = [key] } else { $0.timestamp.keys.append(key) } }
    try fleet.publisher.publishNext()
    new = fleet.publisher.files
  }

  /// A state that trusts the second publication.
  func state(in folder: TemporaryFolder) throws -> String {
    let path = folder("state")
    try TrustStore.initialise(path, root: anchor)
    try refreshState(path, from: trusted)
    return path
  }

  /// What has to hold of a state after a crash, in a new process.
  func check(_ path: String, _ comment: Comment) throws {
    func bytes(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: path + "/" + name).map(Array.init) }
    // Every file is whole, and one of those that were published.
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".json") {
      let content = try #require(bytes(name))
      #expect(trusted.values.contains(content) || new.values.contains(content), comment)
    }
    // What a key that was taken away has signed is never left without the root that it was verified under: the purge would be lost.
    let stored = try TrustReader(path).metadata()
    #expect(stored.verifiedUnderRoot != nil || stored.timestamp == nil && stored.snapshot == nil, comment)
    // What is installed can be checked meanwhile.
    #expect(throws: Never.self, comment) { _ = try TrustedManifest(anchor: anchor, stored: stored) }
    // What is older was refused before, and is now.
    #expect(throws: VerificationError.self, comment) { try refreshState(path, from: older) }
    if bytes("timestamp.json") == new["timestamp.json"] {
      #expect(throws: VerificationError.self, comment) { try refreshState(path, from: trusted) }
    }
    #expect(try refreshState(path, from: new).versions == [2, 3, 3, 3], comment)
    #expect(bytes("timestamp.json") == new["timestamp.json"], comment)
    #expect(throws: VerificationError.self, comment) { try refreshState(path, from: trusted) }
  }
}

/// Watches a folder through its system calls, and knows at each point what a disk keeps that forgets all that was not synced.
final class ForgetfulDisk: Sendable {
  /// What is left where the power goes before one call: by names that were synced, and by those that had reached the disk by themselves,
  /// in both cases with the content that was synced.
  struct Point {
    let call: SystemCall
    let synced: [String: Data]
    let named: [String: Data]
  }

  private struct State {
    /// The synced content of each file, by its inode.
    var contents: [UInt64: Data] = [:]
    /// The synced names of each folder.
    var names: [String: [String: Data]] = [:]
    var points: [Point] = []
  }

  static let calls: Set<SystemCall> = [.write, .synchronize, .rename, .remove]

  private let root: String
  private let state = Mutex(State())

  /// A disk on which everything is synced that lies in a folder now.
  init(_ root: String) throws {
    self.root = root
    for folder in [root, root + "/roots"] {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        guard let content = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
        try state.withLock { $0.contents[try Self.inode(folder + "/" + name)] = content }
      }
      try state.withLock { $0.names[folder] = try Self.list(folder, $0.contents) }
    }
  }

  var points: [Point] { state.withLock { $0.points } }

  func observe(_ call: FaultInjection.Call) throws {
    guard Self.calls.contains(call.name) else { return }
    try state.withLock { state in
      let named = try [root, root + "/roots"].reduce(into: [:]) { $0[$1] = try Self.list($1, state.contents) }
      state.points.append(Point(call: call.name, synced: flat(state.names), named: flat(named)))
      guard call.name == .synchronize else { return }
      if state.names[call.path] != nil {
        state.names[call.path] = try Self.list(call.path, state.contents)
      } else {
        state.contents[try Self.inode(call.path)] = FileManager.default.contents(atPath: call.path)
      }
    }
  }

  private func flat(_ folders: [String: [String: Data]]) -> [String: Data] {
    folders.reduce(into: [:]) { files, folder in
      for (name, content) in folder.value { files[(folder.key + "/" + name).replacing(root + "/", with: "")] = content }
    }
  }

  private static func list(_ folder: String, _ contents: [UInt64: Data]) throws -> [String: Data] {
    try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { files, name in
      guard name != "roots" else { return }
      files[name] = contents[try inode(folder + "/" + name)] ?? Data()
    }
  }

  private static func inode(_ path: String) throws -> UInt64 {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
  }
}

@Suite struct `A crash at every write, fsync and rename of a refresh makes no rollback possible` {
  static func points(_ generations: Generations) throws -> [ForgetfulDisk.Point] {
    let folder = try TemporaryFolder()
    let path = try generations.state(in: folder)
    let disk = try ForgetfulDisk(path)
    try FaultInjection.withHook(below: path) {
      do { try disk.observe($0) } catch { Issue.record("\(error)") }
      return .proceed
    } _: {
      _ = try refreshState(path, from: generations.new)
    }
    return disk.points
  }

  @Test(arguments: [false, true]) func `where the disk forgets what was not synced`(takingKeyAway: Bool) throws {
    let generations = try Generations(takingKeyAway: takingKeyAway)
    let points = try Self.points(generations)
    print("crash points on a disk that forgets: \(points.count), each with two outcomes")
    #expect(points.count >= 28)
    for (number, point) in points.enumerated() {
      for (outcome, files) in [("synced", point.synced), ("named", point.named)] {
        let folder = try TemporaryFolder()
        for (name, content) in files { try folder.write(Array(content), to: "state/" + name) }
        try generations.check(folder("state"), "before point \(number), \(point.call), \(outcome)")
      }
    }
  }

  @Test func `where the process is killed`() async throws {
    let generations = try Generations(takingKeyAway: true)
    let count = try Self.points(generations).count
    print("points at which a child process was killed: \(count)")
    #expect(count >= 28)
    for point in 0..<count {
      let folder = try TemporaryFolder()
      let path = try generations.state(in: folder)
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, point = point as Int] in
        let new = try Generations(takingKeyAway: true).new
        let passed = Mutex(0)
        try FaultInjection.withHook(below: path) { call in
          guard ForgetfulDisk.calls.contains(call.name) else { return .proceed }
          return passed.withLock { passed in
            passed += 1
            return passed > point ? .kill : .proceed
          }
        } _: {
          _ = try refreshState(path, from: new)
        }
      }
      try generations.check(path, "killed before point \(point)")
    }
  }

  @Test func `the simulated device changes its disk in the order of the trust store`() throws {
    let generations = try Generations(takingKeyAway: true)
    let folder = try TemporaryFolder()
    let path = try generations.state(in: folder)
    let log = Mutex<[String]>([])
    try FaultInjection.withHook(below: path) { call in
      let name = call.path.replacing(path + "/", with: "")
      log.withLock { log in
        if call.name == .rename { log.append("replace \(name)") }
        if call.name == .remove { log.append("remove \(name)") }
      }
      return .proceed
    } _: {
      _ = try refreshState(path, from: generations.new)
    }
    var device = SimulatedDevice(anchor: generations.anchor)
    for files in [generations.trusted, generations.new] {
      device.disk.restart(keepsUnsynced: true)
      let manifest = try device.refresh(from: [SimulatedMirror(files)], at: Fleet.now)
      #expect(try device.find(target("team/file"), in: manifest, from: [SimulatedMirror(files)], at: Fleet.now) != nil)
    }
    #expect(device.disk.log == log.withLock { $0 })
    #expect(device.disk.log.count > 8)
  }
}
