import FileIO
import Foundation
import ManifestSigning
import ManifestVerifier
import Synchronization
import TUFMetadata
import TestSupport
import Testing

/// Lets a publication run and says nothing.
private struct SilentObserver: PublishingObserver {
  func isCancelled() -> Bool { false }
  func notice(_ notice: KeyNotice) {}
  func willHash(fileCount: Int, byteCount: Int64) {}
  func willHash(_ path: TargetPath) {}
  func didHash(byteCount: Int) {}
}

@Suite struct `whatever call fails in publishing, devices see the old publication or the new one` {
  /// How the disk behaves from the failing call on.
  enum Fault: CaseIterable, Sendable {
    /// Nothing more can be written, then or later: so much is on the disk as a crash at this call would leave.
    case crash
    /// It is full for this one call.
    case fullOnce

    func action(_ call: FaultInjection.Call, at failing: Int) -> FaultInjection.Action {
      switch self {
      case .crash: call.ordinal >= failing ? .fail(.inputOutput) : .proceed
      case .fullOnce: call.ordinal == failing ? .fail(.noSpace) : .proceed
      }
    }
  }

  let folder: TemporaryFolder
  let now: UTCTime

  init() throws {
    folder = try TemporaryFolder()
    now = try #require(UTCTime(secondsSince1970: 1_900_000_000))
    for name in ["acme/tiny/1.0/weights.bin", "acme/tiny/1.0/config.txt"] { try folder.write(name, to: "models/" + name) }
    let creation = RepositoryCreation(layout: RepositoryLayout(folder("first")), sizes: [:], policy: Policy())
    _ = try creation.run(keys: .generatedUnencrypted, now: now) { _ in }
    _ = try publish(RepositoryLayout(folder("first")))
    try folder.write("newer", to: "models/acme/tiny/1.1/weights.bin")
  }

  func publish(_ layout: RepositoryLayout) throws -> PublishingReport {
    var options = PublishingOptions()
    options.stages = true
    // Nothing is asked, so nothing unsafe is lent.
    let passphrases = try unsafe PassphraseSource(variable: "SIGNED_MANIFEST_TESTS_NO_PASSPHRASE", option: nil, prompt: nil)
    return try Repository(layout).publish(
      .folder(folder("models")), options, passphrases: passphrases, now: now, observer: SilentObserver())
  }

  /// A copy of the first publication.
  func copy() throws -> RepositoryLayout {
    let path = folder("copy-" + UUID().uuidString)
    try FileManager.default.copyItem(atPath: folder("first"), toPath: path)
    return RepositoryLayout(path)
  }

  func targetsVersion(_ layout: RepositoryLayout) throws -> Int64? { try PublishedState(layout).manifest?.targets.payload.version.number }

  @Test(arguments: Fault.allCases)
  func `at every call`(fault: Fault) throws {
    let counted = try copy()
    let calls = Mutex(0)
    try FaultInjection.withHook(below: counted.folder) { _ in
      calls.withLock { $0 += 1 }
      return .proceed
    } _: {
      _ = try publish(counted)
    }
    let count = calls.withLock { $0 }
    #expect(count > 60)
    #expect(try targetsVersion(counted) == 2)
    var (tried, failures) = (0, 0)
    // Spread over all of it, others in each run: every call costs three publications, each of which waits for the disk.
    let step = max(1, count / 20)
    for failing in stride(from: Int.random(in: 0..<step), to: count, by: step) {
      tried += 1
      let layout = try copy()
      defer { try? FileManager.default.removeItem(atPath: layout.folder) }
      do {
        _ = try FaultInjection.withHook(below: layout.folder) {
          fault.action($0, at: failing)
        } _: {
          try publish(layout)
        }
      } catch {
        failures += 1
        #expect(error is SigningError, "\(error)")
      }
      let version = try targetsVersion(layout)
      #expect(version == 1 || version == 2, "call \(failing)")
      _ = try publish(layout)
      // A version that a failed publication has written is not given again.
      let next = try targetsVersion(layout)
      #expect(next == 2 || next == 3, "call \(failing)")
      var outcomes: [RepositoryVerification.FileOutcome] = []
      try RepositoryVerification(layout).files(
        of: PublishedState(layout), models: nil, isCancelled: { false }, report: { outcomes.append($0) })
      #expect(outcomes.count == 5 && outcomes.allSatisfy { $0 == .intact }, "call \(failing): \(outcomes)")
      let leftovers = try FileManager.default.subpathsOfDirectory(atPath: layout.folder + "/manifests/metadata").filter {
        $0.hasPrefix(".")
      }
      #expect(leftovers.isEmpty, "call \(failing)")
    }
    // Of a full disk, a third of the calls in publishing notice nothing, or can do without what failed.
    #expect(failures > tried / 3)
  }

  @Test func `several that end before their timestamp is in place, one after another, hinder nothing`() throws {
    let layout = try copy()
    for _ in 0..<3 {
      #expect(throws: SigningError.self) {
        try FaultInjection.withHook(below: layout.folder) {
          $0.name == .rename && $0.path.hasSuffix("/timestamp.json") ? .fail(.noSpace) : .proceed
        } _: {
          _ = try publish(layout)
        }
      }
      #expect(try targetsVersion(layout) == 1)
    }
    _ = try publish(layout)
    #expect(try targetsVersion(layout) == 5, "no version is given twice")
  }
}
