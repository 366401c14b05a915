import FileIO
import Foundation
import Glibc
import ManifestSigning
import Synchronization
import TUFMetadata
import TestSupport
import Testing

@Suite("A process that is killed at any moment leaves keys that can be used") struct KilledKeyWorkTests {
  enum Work: String, CaseIterable, Sendable {
    case generate, importSeed, changePassphrase

    /// What is there before.
    func prepare(_ folder: String) throws {
      guard self == .changePassphrase else { return }
      let store = try KeyStore(RepositoryLayout(folder))
      try store.add(KnownKey.key(), name: "k", .none)
    }

    func run(_ folder: String, to protection: KeyStore.Protection = .none) throws {
      let store = try KeyStore(RepositoryLayout(folder))
      switch self {
      case .generate: try store.add(SecretKey.generate(), name: "k", protection)
      case .importSeed: try store.add(KnownKey.key(), name: "k", protection, publicKeyMayExist: true)
      case .changePassphrase:
        let source = try unsafe PassphraseSource(variable: "SIGNED_MANIFEST_TESTS_NONE", option: nil, prompt: nil)
        try store.changePassphrase(of: "k", from: source, to: protection) { _ in }
      }
    }
  }

  private func source() throws -> PassphraseSource {
    try unsafe PassphraseSource(variable: "SIGNED_MANIFEST_TESTS_NONE", option: nil, prompt: nil)
  }

  private func names(_ folder: String) -> Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []) }

  /// What the next process finds.
  private func expectUsable(_ folder: String, after work: Work, _ moment: Int) throws {
    let layout = RepositoryLayout(folder)
    // Reading what is there takes the leftovers away.
    let store = try KeyStore(layout)
    let entries = try store.entries()
    #expect(names(folder + "/secrets").isSubset(of: [".gitignore", "k.key"]), "call \(moment): \(names(folder + "/secrets"))")
    #expect(names(folder + "/keys").isSubset(of: ["k.pem"]), "call \(moment): \(names(folder + "/keys"))")
    if names(folder + "/secrets").contains("k.key") {
      #expect(entries.map(\.name) == ["k"], "call \(moment)")
      // The public half is there, or is written anew.
      let restored = try store.restorePublicHalf(of: "k", source()) { _ in }
      #expect((restored == nil) == entries[0].hasPublicHalf)
    } else {
      #expect(work != .changePassphrase && entries.isEmpty, "call \(moment)")
      try work.run(folder)
    }
    let key = try SecretKeyFile.read(path: folder + "/secrets/k.key").openUnencrypted().publicKey
    #expect(try store.publicKey(named: "k") == key)
    if work != .generate { #expect(hexadecimal(key.bytes) == KnownKey.publicKey) }
  }

  /// The calls that change what is on the disk: being killed before another one is the same as before the next of these.
  private static let changing: Set<SystemCall> = [
    .open, .write, .synchronize, .createDirectory, .rename, .remove, .link, .truncate, .permissions,
  ]

  @Test("SIGKILL at every call that changes something", arguments: Work.allCases) func killed(work: Work) async throws {
    let parent = try TemporaryFolder()
    let moments = try moments(of: work, parent("counted"))
    #expect(moments.count >= 10)
    for moment in moments {
      let folder = parent("repository-\(moment)")
      try work.prepare(folder)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      await #expect(processExitsWith: .signal(SIGKILL), "call \(moment)") {
        [name = work.rawValue as String, folder = folder as String, moment = moment as Int] in
        guard let work = Work(rawValue: name) else { exit(2) }
        try FaultInjection.withHook(below: folder) {
          $0.ordinal == moment ? .kill : .proceed
        } _: {
          try work.run(folder)
        }
      }
      try expectUsable(folder, after: work, moment)
    }
  }

  /// Which calls change something, and the last one.
  private func moments(of work: Work, _ folder: String) throws -> [Int] {
    try work.prepare(folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let moments = Mutex<(changing: [Int], last: Int)>(([], 0))
    try FaultInjection.withHook(below: folder) { call in
      moments.withLock { moments in
        if Self.changing.contains(call.name) { moments.changing.append(call.ordinal) }
        moments.last = call.ordinal
      }
      return .proceed
    } _: {
      try work.run(folder)
    }
    return moments.withLock { Set($0.changing + [$0.last]).sorted() }
  }

  @Test("at every call of a change of passphrase, the old content or the new stands in the file, whole", arguments: [true, false])
  func passphraseChange(encrypts: Bool) throws {
    let folder = try TemporaryFolder()
    try Work.changePassphrase.prepare(folder.path)
    let path = folder("secrets/k.key")
    let passphraseFile = try folder.write(Array("new".utf8), "new")
    let protection: KeyStore.Protection =
      encrypts
      ? .passphrase(try unsafe PassphraseSource(variable: "SIGNED_MANIFEST_TESTS_NONE", option: .file(passphraseFile), prompt: nil)) : .none
    let seen = Mutex<[[UInt8]]>([try contents(path)])
    try FaultInjection.withHook(below: folder("secrets")) { _ in
      if let now = try? contents(path) { seen.withLock { if $0.last != now { $0.append(now) } } } else { seen.withLock { $0.append([]) } }
      return .proceed
    } _: {
      try Work.changePassphrase.run(folder.path, to: protection)
    }
    let versions = seen.withLock { $0 }
    let now = try contents(path)
    // Without a passphrase before and after, the two are alike. The renaming may be the last call below the folder but one.
    #expect(Set(versions + [now]).count == (encrypts ? 2 : 1) && !versions.contains([]))
  }

  @Test("a file system without files that have no name gets the key all the same, and a failure leaves nothing there") func named() throws {
    let folder = try TemporaryFolder()
    /// As some file systems answer an open without a name.
    func refusing(_ failing: SystemCall?) throws {
      let opens = Mutex(0)
      try FaultInjection.withHook(below: folder("secrets")) { call in
        if call.name == .open, call.path.hasSuffix("/.") {
          // The first is the listing of the folder, for leftovers.
          let number = opens.withLock { number in
            number += 1
            return number
          }
          if number == 2 { return .fail(.notSupported) }
        }
        return call.name == failing ? .fail(.noSpace) : .proceed
      } _: {
        let store = RepositoryLayout(folder.path).secrets
        try SecretKeyFile.writeUnencrypted(KnownKey.key(), name: "k", path: store + "/k.key")
      }
    }
    for call in [SystemCall.write, .permissions, .rename] {
      #expect(throws: SigningError.self) { try refusing(call) }
      #expect(names(folder("secrets")).isEmpty, "\(call)")
    }
    try refusing(nil)
    #expect(names(folder("secrets")) == ["k.key"])
    #expect(try mode(folder("secrets/k.key")) == 0o600)
  }
}
