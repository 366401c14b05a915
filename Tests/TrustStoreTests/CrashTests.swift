import FileIO
import Foundation
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing
import TrustStore

@Suite struct `A crash at any system call of a refresh leaves a state that goes on and never back` {
  /// A repository before and after a change, and the same change with a key taken away.
  static func repositories(takingKeyAway: Bool) -> (old: FixtureRepository, new: FixtureRepository) {
    let old = FixtureRepository()
    var new = old
    new.rotate {
      if takingKeyAway { $0.timestamp.keys = [FixtureKey(85)] } else { $0.timestamp.keys.append(FixtureKey(85)) }
    }
    new.publishNext()
    return (old, new)
  }

  /// What has to hold of a state after a crash, with the changes that were kept before it.
  static func check(_ device: StoredDevice, kept: [TrustChange], _ old: FixtureRepository, _ new: FixtureRepository) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: device.path).filter { $0.hasSuffix(".json") }
    #expect(Set(names).isSubset(of: ["root.json", "timestamp.json", "snapshot.json", "targets.json"]))
    // Every file is whole: one of the two that it can be.
    for name in names {
      let bytes = try device.bytes(of: name)
      let candidates = (old.files.merging(new.files) { $1 }).filter { $0.key.hasSuffix(name) }.values
      #expect(candidates.contains(bytes) || bytes == old["timestamp.json"], "\(name) is neither the old nor the new")
    }
    // A mirror that serves what was before is not believed once the new timestamp was kept.
    let hasNewTimestamp = kept.contains { if case .metadata(.timestamp, _, _) = $0 { true } else { false } }
    if hasNewTimestamp { #expect(throws: VerificationError.self) { try device.refresh(old) } }
    // Nor is the root ever an older one than was kept.
    let hasNewRoot = kept.contains { if case .root = $0 { true } else { false } }
    let store = try TrustReader(device.path)
    let roots = try store.metadata().roots
    #expect(roots.count >= (hasNewRoot ? 2 : 1))
    _ = consume store
    // The manifest that was trusted is usable, also where a key was taken away.
    #expect([1, 2].contains(try device.manifest().targets.payload.version.number))
    #expect(try device.refresh(new).versions == [2, 2, 2, 2])
    #expect(try device.bytes(of: "root.json") == new["2.root.json"])
    #expect(throws: VerificationError.self) { try device.refresh(old) }
    #expect(try device.manifest().versions == [2, 2, 2, 2])
  }

  @Test(arguments: [false, true]) func `where nothing is written any more from some call on`(takingKeyAway: Bool) throws {
    let (old, new) = Self.repositories(takingKeyAway: takingKeyAway)
    let counted = try StoredDevice(refreshedFrom: old)
    let calls = Counter()
    try FaultInjection.withHook(below: counted.path) { _ in
      calls.increment()
      return .proceed
    } _: {
      _ = try counted.refresh(new)
    }
    #expect(calls.value > 60)
    var broken = 0
    for crash in 0..<calls.value {
      let device = try StoredDevice(refreshedFrom: old)
      var kept: [TrustChange] = []
      FaultInjection.withHook(below: device.path) {
        $0.ordinal >= crash ? .fail(.inputOutput) : .proceed
      } _: {
        if (try? device.refresh(new, kept: { kept.append($0) })) == nil { broken += 1 }
      }
      try Self.check(device, kept: kept, old, new)
    }
    #expect(broken > 60)
  }

  @Test(arguments: [0.2, 0.4, 0.6, 0.8]) func `where the process is killed`(part: Double) async throws {
    let (old, new) = Self.repositories(takingKeyAway: true)
    let counted = try StoredDevice(refreshedFrom: old)
    let calls = Counter()
    try FaultInjection.withHook(below: counted.path) { _ in
      calls.increment()
      return .proceed
    } _: {
      _ = try counted.refresh(new)
    }
    let device = try StoredDevice(refreshedFrom: old)
    let last = Int(Double(calls.value) * part)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = device.path as String, last = last as Int] in
      let (_, new) = Self.repositories(takingKeyAway: true)
      try FaultInjection.withHook(below: path) {
        $0.ordinal >= last ? .kill : .proceed
      } _: {
        _ = try refreshState(path, from: new)
      }
    }
    try Self.check(device, kept: [], old, new)
  }
}
