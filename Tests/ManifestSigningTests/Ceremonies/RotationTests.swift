import FileIO
import Foundation
import ManifestSigning
import ManifestVerifier
import Synchronization
import TUFMetadata
import TestSupport
import Testing

@Suite struct `keys are exchanged without stranding a device` {
  @Test func `a chain of fifty roots is walked by a device that was shipped with the first, and by python-tuf`() throws {
    let site = try CeremonySite()
    let roles: [TopLevelRole] = [.root, .targets, .snapshot, .timestamp]
    for number in 2...50 {
      let role = roles[number % 4]
      let report = try site.rotate(.topLevel(role), to: "\(role)-\(number)")
      #expect(report.ceremony.publication?.root.payload.version.number == Int64(number))
    }
    #expect(try site.follow("acme/tiny/1.0/weights.bin")["root"] == 50)
    for version in [2, 25, 49, 50] { #expect(try site.device(from: version).root.payload.version.number == 50) }
  }

  @Test(arguments: [TopLevelRole.root, .targets, .snapshot, .timestamp], [RotationMode.replace, .compromised])
  func `one step exchanges a role's keys, and tells which signatures stop counting`(role: TopLevelRole, mode: RotationMode) throws {
    let site = try CeremonySite([.root: (3, 2)])
    let before = try site.device()
    let old = try #require(before.root.payload[role].keyIDs.first)
    let report = try site.rotate(.topLevel(role), mode, to: "new-1")
    #expect(report.ceremony.waiting.isEmpty)
    let after = try site.device()
    #expect(after.root.payload.version.number == 2 && !after.root.payload[role].keyIDs.contains(old))
    #expect(report.stopped.map(\.key) == (role == .root ? [] : [old]))
    let below: [TopLevelRole: [TopLevelRole]] = [
      .root: mode == .compromised ? [.targets, .snapshot, .timestamp] : [], .targets: [.targets, .snapshot, .timestamp],
      .snapshot: [.snapshot, .timestamp], .timestamp: [.timestamp],
    ]
    for (other, version, _) in after.roles where other != .root {
      #expect(version.number == ((below[role] ?? []).contains(other) ? 2 : 1), "\(other)")
    }
    try site.follow("acme/tiny/1.0/weights.bin")
  }

  @Test func `an overlap lets both keys count, and the old one goes by a root alone`() throws {
    let site = try CeremonySite()
    let old = try site.id("targets-1")
    let report = try site.rotate(.targets, .overlap, to: "targets-2")
    #expect(report.stopped.isEmpty)
    let both = try site.device()
    #expect(try both.targets.signers.sorted() == [old, site.id("targets-2")].sorted())
    // A machine that has not got the new key yet goes on publishing.
    try site.hide("targets-2")
    try site.folder.write("more", to: "models/acme/tiny/1.1/weights.bin")
    try site.publish()
    try site.follow("acme/tiny/1.1/weights.bin")
    try site.bringBack("targets-2")
    try site.folder.write("more", to: "models/acme/tiny/1.2/weights.bin")
    try site.publish()
    let last = try site.rotate(.targets, .dropOld, to: "")
    #expect(last.ceremony.publication?.files.map(\.name) == ["3.root.json"])
    #expect(try site.follow()["root"] == 3)
    #expect(fault { try site.rotate(.targets, .dropOld, to: "") } == .noChange)
  }

  @Test func `a device whose cache was fast-forwarded with a stolen timestamp key recovers after a rotation`() throws {
    let site = try CeremonySite()
    let manifest = try site.device()
    // The thief signs nearly the newest version that there can be. What is published is in canonical form.
    let message =
      try #require(String(decoding: manifest.timestamp.bytes, as: UTF8.self).components(separatedBy: "\"signed\":").last)
      .dropLast(1 + "1}".count) + "9000000000000000000}"
    let key = try SecretKeyFile.read(path: site.layout.secrets + "/timestamp-1.key").openUnencrypted()
    let signature = try key.sign(Array(message.utf8)).bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let forged = "{\"signatures\":[{\"keyid\":\"\(try site.id("timestamp-1"))\",\"sig\":\"\(signature)\"}],\"signed\":\(message)}"
    let stored = StoredMetadata(
      verifiedUnderRoot: .first, timestamp: Array(forged.utf8), snapshot: manifest.snapshot.bytes, targets: manifest.targets.bytes)
    // It is taken for genuine, and so all that is published for outdated.
    let leap = try #require(Version(9_000_000_000_000_000_000))
    #expect(throws: VerificationError.rolledBack(role: "timestamp", trusted: leap, offered: .first)) { try site.device(stored) }
    try site.rotate(.timestamp, .compromised, to: "timestamp-2")
    #expect(try site.device(stored).timestamp.payload.version.number == 2)
  }

  @Test func `a role whose old key is lost is rotated as well`() throws {
    let site = try CeremonySite([.root: (3, 2)])
    try FileManager.default.removeItem(atPath: site.layout.secrets + "/targets-1.key")
    try FileManager.default.removeItem(atPath: site.layout.secrets + "/root-3.key")
    #expect(try site.rotate(.targets, to: "targets-2").ceremony.publication != nil)
    try site.follow("acme/tiny/1.0/weights.bin")
  }

  @Test func `where root keys are missing a rotation waits, and shows nothing`() throws {
    let site = try CeremonySite([.root: (3, 2)])
    let before = try site.published
    try site.hide("root-2", "root-3")
    let report = try site.rotate(.targets, .compromised, to: "targets-2")
    #expect(report.ceremony.publication == nil)
    #expect(try site.published == before)
    #expect(try site.pending == ["root.json", "targets.json"])
    // Meanwhile devices go on with what is published, and publishing over the proposal is refused.
    try site.folder.write("more", to: "models/acme/tiny/1.1/weights.bin")
    #expect(fault { try site.publish() } == .waiting(roles: ["root", "targets"]))
    try site.bringBack("root-2")
    let last = try site.sign()
    #expect(last.publication?.files.map(\.name) == ["2.root.json", "2.targets.json", "2.snapshot.json", "timestamp.json"])
    try site.follow("acme/tiny/1.0/weights.bin")
  }
}

@Suite struct `whatever call fails in the publication of a ceremony, devices see the old state or the new one` {
  @Test func `at every call, for a crash and for a full disk`() throws {
    let site = try CeremonySite()
    try site.rotate(.timestamp, to: "timestamp-2")
    // Signed, and waiting for a publication that changes a root with all below it.
    try site.hide("root-1")
    try site.rotate(.targets, to: "targets-2")
    try site.bringBack("root-1")
    func copy() throws -> RepositoryLayout {
      let path = site.folder("copy-" + UUID().uuidString)
      try FileManager.default.copyItem(atPath: site.layout.folder, toPath: path)
      return RepositoryLayout(path)
    }
    func sign(_ layout: RepositoryLayout) throws -> CeremonyReport {
      let repository = try Repository(layout)
      let review = try repository.review(trusting: TrustedRoot(layout), now: site.now)
      return try repository.sign(review, with: SigningKeys(layout, site.passphrases) { _ in }, now: site.now)
    }
    let counted = try copy()
    let calls = Mutex(0)
    try FaultInjection.withHook(below: counted.folder) { _ in
      calls.withLock { $0 += 1 }
      return .proceed
    } _: {
      _ = try sign(counted)
    }
    #expect(try site.device(of: counted).root.payload.version.number == 3)
    let count = calls.withLock { $0 }
    #expect(count > 60)
    var (old, new) = (0, 0)
    // Spread over all of it, others in each run: every call costs some publications, each of which waits for the disk.
    let step = max(1, count / 20)
    for isCrash in [true, false] {
      for failing in stride(from: Int.random(in: 0..<step), to: count, by: step) {
        let layout = try copy()
        defer { try? FileManager.default.removeItem(atPath: layout.folder) }
        _ = try? FaultInjection.withHook(below: layout.folder) {
          isCrash ? ($0.ordinal >= failing ? .fail(.inputOutput) : .proceed) : ($0.ordinal == failing ? .fail(.noSpace) : .proceed)
        } _: {
          try sign(layout)
        }
        // A device of every age.
        for version in 1...2 {
          let manifest = try site.device(from: version, of: layout)
          let isNew = manifest.root.payload.version.number == 3
          #expect(manifest.targets.payload.version.number == (isNew ? 2 : 1), "call \(failing)")
          if isNew { new += 1 } else { old += 1 }
        }
        // The next run finishes it, or finds it finished.
        do { #expect(try sign(layout).publication != nil, "call \(failing)") } catch SigningError.ceremony(.nothingPending) {}
        #expect(try site.device(of: layout).root.payload.version.number == 3, "call \(failing)")
        let names = try FileManager.default.contentsOfDirectory(atPath: layout.metadata)
        #expect(names.count == 8 && !names.contains { $0.hasPrefix(".") }, "call \(failing): \(names)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: layout.pending).isEmpty, "call \(failing)")
      }
    }
    #expect(old > 0 && new > 0)
  }
}
