import Digests
import FileIO
import Foundation
import ManifestVerifier
import RepositoryFixtures
import TUFMetadata
import TestSupport
import Testing
import TrustStore

@Suite struct `The state holds the exact bytes under the names of the design` {
  static func names(_ path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

  @Test(arguments: [true, false]) func `after a refresh`(consistent: Bool) throws {
    var repository = FixtureRepository { $0.consistentSnapshot = consistent }
    repository.rotate { _ in }
    let device = try StoredDevice(refreshedFrom: repository)
    #expect(
      try Self.names(device.path) == [
        "lock", "refresh-lock", "root.json", "roots", "snapshot.json", "targets.json", "timestamp.json", "trust",
      ])
    #expect(try Self.names(device.path + "/roots") == ["1.json", "2.json"])
    let prefix = consistent ? "1." : ""
    #expect(try device.bytes(of: "root.json") == repository["2.root.json"])
    #expect(try device.bytes(of: "roots/1.json") == repository["1.root.json"])
    #expect(try device.bytes(of: "roots/2.json") == repository["2.root.json"])
    #expect(try device.bytes(of: "timestamp.json") == repository["timestamp.json"])
    #expect(try device.bytes(of: "snapshot.json") == repository[prefix + "snapshot.json"])
    #expect(try device.bytes(of: "targets.json") == repository[prefix + "targets.json"])
    #expect(
      try device.folder.text(of: "state/trust")
        == "signed-manifest-trust 4\nanchor 1\nverified-under-root 2\nkept timestamp\nkept snapshot\nnewest-refresh 2030-01-01T00:00:00Z\nend\n"
    )
    #expect(try device.manifest().versions == [2, 1, 1, 1])
  }

  @Test func `white space and unknown members of what was received are kept`() throws {
    let repository = FixtureRepository {
      $0.statesLengthsAndHashes = false
      $0.timestamp.editFile = { $0["note"] = .text("unsigned") }
    }
    var spaced = repository
    spaced["timestamp.json"] = Array(" \n".utf8) + repository["timestamp.json"] + Array("\n".utf8)
    let device = try StoredDevice(refreshedFrom: spaced)
    #expect(try device.bytes(of: "timestamp.json") == spaced["timestamp.json"])
  }

  @Test func `a key that was taken away supersedes timestamp and snapshot, which stay to be read, and the record says so`() throws {
    var repository = FixtureRepository()
    let device = try StoredDevice(refreshedFrom: repository)
    repository.rotate { $0.timestamp.keys = [FixtureKey(80)] }
    repository.remove("timestamp.json")
    #expect(throws: VerificationError.unavailable(role: "timestamp", urlPath: "timestamp.json")) { try device.refresh(repository) }
    let digests = try ["timestamp", "snapshot"].map { SHA256.hash(of: try device.bytes(of: $0 + ".json")) }
    #expect(
      try device.folder.text(of: "state/trust")
        == "signed-manifest-trust 4\nanchor 1\nverified-under-root 2\nrotating-since-root 1\nsuperseded timestamp \(digests[0])\n"
        + "superseded snapshot \(digests[1])\nnewest-refresh 2030-01-01T00:00:00Z\nend\n")
    #expect(try device.manifest().versions == [2, 1, 1, 1])
    repository.publish()
    #expect(try device.refresh(repository).versions == [2, 1, 1, 1])
    #expect(
      try device.folder.text(of: "state/trust")
        == "signed-manifest-trust 4\nanchor 1\nverified-under-root 2\nkept timestamp\nkept snapshot\nnewest-refresh 2030-01-01T00:00:00Z\nend\n"
    )
  }

  @Test func `what killed writers left is removed when the state is next to be changed`() throws {
    let device = try StoredDevice(refreshedFrom: FixtureRepository())
    let leftover = ".signed-manifest-0123456789abcdef.tmp"
    try device.folder.write("half", to: "state/" + leftover)
    try device.folder.write("half", to: "state/roots/" + leftover)
    _ = try TrustStore(device.path)
    #expect(try !Self.names(device.path).contains(leftover))
    #expect(try Self.names(device.path + "/roots") == ["1.json"])
  }

  @Test func `other files in the folder of roots are left alone`() throws {
    let repository = FixtureRepository()
    let device = try StoredDevice(refreshedFrom: repository)
    for name in ["0.json", "01.json", "+2.json", "2.json.bak", "x.json", "9223372036854775808.json"] {
      try device.folder.write("no root", to: "state/roots/" + name)
    }
    #expect(try device.refresh(repository).versions == [1, 1, 1, 1])
  }

  @Test func `a state that can't be written can still be read`() throws {
    let device = try StoredDevice(refreshedFrom: FixtureRepository())
    for errno in [Errno.readOnlyFileSystem, .accessDenied] {
      let manifest = try FaultInjection.withHook(below: device.path) {
        $0.path.hasSuffix("/lock") ? .fail(errno) : .proceed
      } _: {
        try device.manifest()
      }
      #expect(manifest.versions == [1, 1, 1, 1])
    }
  }
}

@Suite struct `Trust begins once` {
  let folder: TemporaryFolder
  let root = FixtureRepository().anchor

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: ["state", "a/b/state"]) func `in a folder that is missing`(name: String) throws {
    #expect(try TrustStore.initialise(folder(name), root: root))
    let store = try TrustStore(folder(name))
    #expect(try store.anchor() == root)
    #expect(try store.metadata() == StoredMetadata(roots: [root]))
  }

  @Test func `in a folder that is empty`() throws {
    #expect(try TrustStore.initialise(folder.path, root: root))
    #expect(try TrustStore(folder.path).anchor() == root)
  }

  @Test func `and the same root again changes nothing`() throws {
    let repository = FixtureRepository()
    let device = try StoredDevice(refreshedFrom: repository)
    let before = try device.bytes(of: "trust")
    #expect(try !TrustStore.initialise(device.path, root: root))
    #expect(try device.bytes(of: "trust") == before)
    #expect(try device.manifest().versions == [1, 1, 1, 1])
  }

  @Test func `and another root is refused`() throws {
    try TrustStore.initialise(folder.path, root: root)
    let other = FixtureRepository { $0.root.keys = [FixtureKey(90)] }.anchor
    #expect(throws: TrustStoreError.alreadyInitialised(path: folder.path)) { try TrustStore.initialise(folder.path, root: other) }
    #expect(try TrustStore(folder.path).anchor() == root)
  }

  @Test(arguments: ["notes.txt", "timestamp.json", ".hidden"]) func `and not in a folder of somebody else's`(name: String) throws {
    try folder.write("mine", to: name)
    #expect(throws: TrustStoreError.foreignContent(path: folder.path, name: name)) { try TrustStore.initialise(folder.path, root: root) }
    #expect(try folder.names == [name])
  }

  @Test func `and not with a root that does not verify`() throws {
    let unsigned = FixtureRepository { $0.root.signers = [] }.anchor
    let cause = VerificationError.thresholdNotMet(role: "root", signed: 0, threshold: 1, keyCount: 1, delegator: "root version 1")
    #expect(throws: TrustStoreError.unusableRoot(cause)) { try TrustStore.initialise(folder("state"), root: unsigned) }
    #expect(try folder.names.isEmpty)
  }

  @Test func `and a start that was broken off at any call can be made again, with another root too`() throws {
    let other = FixtureRepository {
      $0.root.keys = [FixtureKey(90)]
      $0.root.version = 2
    }
    let calls = Counter()
    try FaultInjection.withHook(below: folder.path) { _ in
      calls.increment()
      return .proceed
    } _: {
      try TrustStore.initialise(folder("count"), root: root)
    }
    #expect(calls.value > 20)
    for broken in 0..<calls.value {
      let path = folder("\(broken)")
      FaultInjection.withHook(below: path) {
        $0.ordinal >= broken ? .fail(.inputOutput) : .proceed
      } _: {
        _ = try? TrustStore.initialise(path, root: other["2.root.json"])
      }
      if (try? TrustStore(path)) == nil {
        #expect(try TrustStore.initialise(path, root: root))
        #expect(try refreshState(path, from: FixtureRepository()).versions == [1, 1, 1, 1])
      } else {
        #expect(try !TrustStore.initialise(path, root: other["2.root.json"]))
      }
    }
  }

  @Test func `a folder without it is told as such and stays as it is`() throws {
    #expect(throws: TrustStoreError.notInitialised(path: folder.path)) { _ = try TrustStore(folder.path) }
    #expect(throws: TrustStoreError.notInitialised(path: folder("none"))) { _ = try TrustStore(folder("none")) }
    #expect(try folder.names.isEmpty)
  }
}

@Suite struct `The record is read strictly` {
  static let damaged = [
    "", "\n", "signed-manifest-trust 1", "signed-manifest-trust 1\nanchor 1", "signed-manifest-trust 1\nanchor 0\n",
    "signed-manifest-trust 1\nanchor -1\n", "signed-manifest-trust 1\nanchor +1\n", "signed-manifest-trust 1\nanchor 01\n",
    "signed-manifest-trust 1\nanchor 1\n\n", "signed-manifest-trust 1\nanchor 1\nverified-under-root 0\n",
    "signed-manifest-trust 1\nanchor 1\nverified-under-root 1", "signed-manifest-trust 1\nanchor 1\nother 1\n",
    "signed-manifest-trust 1\r\nanchor 1\r\n", "signed-manifest-trust  1\nanchor 1\n", "signed-manifest-trust 0\nanchor 1\n",
    "signed-manifest-trust 1\nanchor 9223372036854775808\n", "trust 1\nanchor 1\n",
    "signed-manifest-trust 1\nanchor 1\nverified-under-root 1\nx 1\n",
    // Format 1 knew no such line.
    "signed-manifest-trust 1\nanchor 1\nnewest-refresh 2030-01-01T00:00:00Z\n",
    "signed-manifest-trust 2\nanchor 1\nnewest-refresh 2030-01-01T00:00:00Z",
    "signed-manifest-trust 2\nanchor 1\nnewest-refresh 2030-01-01\n",
    "signed-manifest-trust 2\nanchor 1\nnewest-refresh 2030-02-30T00:00:00Z\n",
    "signed-manifest-trust 2\nanchor 1\nnewest-refresh 2030-01-01T00:00:00Z\nverified-under-root 1\n",
    "signed-manifest-trust 2\nanchor 1\nnewest-refresh 2030-01-01T00:00:00Z\nnewest-refresh 2030-01-01T00:00:00Z\n",
    "signed-manifest-trust 2\nanchor 1\nkept timestamp\n", "signed-manifest-trust 3\nanchor 1\nkept snapshot\nkept timestamp\n",
    "signed-manifest-trust 3\nanchor 1\nkept targets\n", "signed-manifest-trust 3\nanchor 1\nkept timestamp\nkept timestamp\n",
    "signed-manifest-trust 4\nanchor 1\n", "signed-manifest-trust 4\nanchor 1\nend", "signed-manifest-trust 4\nanchor 1\nend\nend\n",
    "signed-manifest-trust 4\nanchor 1\nsuperseded timestamp 00\nend\n", "signed-manifest-trust 4\nanchor 1\nrotating-since-root 0\nend\n",
    "signed-manifest-trust 3\nanchor 1\nend\n", "signed-manifest-trust 3\nanchor 1\nrotating-since-root 1\n",
    "signed-manifest-trust 02\nanchor 1\n", "signed-manifest-trust 2\nnewest-refresh 2030-01-01T00:00:00Z\nanchor 1\n",
  ]

  @Test func `cut anywhere, at the end of a line too, it is damage`() throws {
    var repository = FixtureRepository()
    let device = try StoredDevice(refreshedFrom: repository)
    var records = [try device.bytes(of: "trust")]
    repository.rotate { $0.timestamp.keys = [FixtureKey(80)] }
    repository.remove("timestamp.json")
    #expect(throws: VerificationError.self) { try device.refresh(repository) }
    records.append(try device.bytes(of: "trust"))
    for whole in records {
      for count in whole.indices {
        try device.folder.write(Array(whole[..<count]), to: "state/trust")
        #expect(throws: TrustStoreError.self, "the first \(count) bytes") { _ = try TrustStore(device.path) }
      }
      try device.folder.write(whole, to: "state/trust")
      _ = try TrustStore(device.path)
    }
  }

  @Test(arguments: damaged) func `another text is damage`(text: String) throws {
    let device = try StoredDevice(anchor: FixtureRepository().anchor)
    let path = try device.folder.write(text, to: "state/trust")
    #expect(throws: TrustStoreError.damaged(path: path, expected: "the lines that this software wrote")) { _ = try TrustStore(device.path) }
  }

  @Test(arguments: [1, 2, 3], [nil, "verified-under-root 1\n"])
  func `an older format is read, and becomes the newest with the next refresh`(format: Int, line: String?) throws {
    let repository = FixtureRepository()
    let device = try StoredDevice(anchor: repository.anchor)
    if line != nil { try device.refresh(repository) }
    try device.folder.write("signed-manifest-trust \(format)\nanchor 1\n\(line ?? "")", to: "state/trust")
    let store = try TrustStore(device.path)
    #expect(try store.metadata().newestRefresh == nil)
    _ = consume store
    try device.refresh(repository)
    let text =
      "signed-manifest-trust 4\nanchor 1\nverified-under-root 1\nkept timestamp\nkept snapshot\nnewest-refresh 2030-01-01T00:00:00Z\nend\n"
    #expect(try device.folder.text(of: "state/trust") == text)
  }

  @Test func `the newest refresh is kept, and an older one changes nothing`() throws {
    let device = try StoredDevice(refreshedFrom: FixtureRepository())
    var store = try TrustStore(device.path)
    try store.keep(.refreshed(at: UTCTime(known: "2029-12-31T12:00:00Z")))
    #expect(try store.metadata().newestRefresh == FixtureRepository.now)
    try store.keep(.refreshed(at: UTCTime(known: "2030-02-01T00:00:00Z")))
    try store.keep(.supersedeTimestampAndSnapshot(root: Version(known: 2)))
    let stored = try store.metadata()
    #expect(stored.newestRefresh == UTCTime(known: "2030-02-01T00:00:00Z"))
    #expect(stored.verifiedUnderRoot == Version(2) && stored.rotatingSinceRoot == .first && stored.superseded == [.timestamp, .snapshot])
  }

  @Test func `a newer format is told as such, whatever follows`() throws {
    let device = try StoredDevice(anchor: FixtureRepository().anchor)
    let path = try device.folder.write("signed-manifest-trust 5\nsomething else", to: "state/trust")
    #expect(throws: TrustStoreError.newerFormat(path: path, found: 5, supported: 4)) { _ = try TrustStore(device.path) }
    #expect(throws: TrustStoreError.newerFormat(path: path, found: 5, supported: 4)) {
      try TrustStore.initialise(device.path, root: FixtureRepository().anchor)
    }
  }
}
