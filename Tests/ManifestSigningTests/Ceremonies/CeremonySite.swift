import FileIO
import Foundation
import ManifestSigning
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

/// A repository of small models whose keys have no passphrase, at a time that the test sets.
final class CeremonySite {
  struct SilentObserver: PublishingObserver {
    func isCancelled() -> Bool { false }
    func notice(_ notice: KeyNotice) {}
    func willHash(fileCount: Int, byteCount: Int64) {}
    func willHash(_ path: TargetPath) {}
    func didHash(byteCount: Int) {}
  }

  static let day: Int64 = 86_400

  let folder: TemporaryFolder
  let layout: RepositoryLayout
  private(set) var now: UTCTime

  /// - Parameters:
  ///   - sizes: number of keys and threshold of the roles that are to have more than one.
  ///   - bins: over how many the files are spread.
  ///   - publishes: whether the models are published.
  init(_ sizes: [TopLevelRole: (keys: Int, threshold: Int)] = [:], bins: Int = 1, publishes: Bool = true) throws {
    folder = try TemporaryFolder()
    layout = RepositoryLayout(folder("repository"))
    now = try #require(UTCTime(secondsSince1970: 1_900_000_000))
    var roles: [TopLevelRole: RepositoryCreation.RoleSize] = [:]
    for (role, size) in sizes { roles[role] = try .init(role: role, keyCount: size.keys, threshold: size.threshold) }
    _ = try RepositoryCreation(layout: layout, sizes: roles, policy: Policy(bins: HashBins(count: bins))).run(
      keys: .generatedUnencrypted, now: now
    ) { _ in }
    try folder.write("weights", to: "models/acme/tiny/1.0/weights.bin")
    if publishes { _ = try publish() }
  }

  func pass(days: Int64) throws { now = try #require(UTCTime(secondsSince1970: now.secondsSince1970 + days * Self.day)) }

  var passphrases: PassphraseSource {
    get throws {
      // Nothing is asked, so nothing unsafe is lent.
      try unsafe PassphraseSource(variable: "SIGNED_MANIFEST_TESTS_NO_PASSPHRASE", option: nil, prompt: nil)
    }
  }

  var keys: SigningKeys { get throws { try SigningKeys(layout, passphrases) { _ in } } }
  var trusted: TrustedRoot { get throws { try TrustedRoot(layout) } }
  var ceremony: Ceremony { get throws { try Repository.ceremony(layout) } }
  var state: PublishedState { get throws { try PublishedState(layout) } }

  @discardableResult
  func publish(_ models: String = "models", as team: ByteString? = nil, removing: Bool = false, replacing: Bool = false) throws
    -> PublishingReport
  {
    var options = PublishingOptions()
    options.allowsRemoving = removing
    options.allowsReplacing = replacing
    return try Repository(layout).publish(
      .folder(folder(models)), options, as: team, passphrases: passphrases, now: now, observer: SilentObserver())
  }

  @discardableResult
  func propose(_ edits: ProposedEdit..., allowsShared: Bool = false) throws -> CeremonyReview {
    try Repository(layout).propose(edits, allowsShared: allowsShared, now: now)
  }

  func review(_ files: [String] = []) throws -> CeremonyReview { try Repository(layout).review(files: files, trusting: trusted, now: now) }

  @discardableResult
  func sign(_ files: [String] = [], with keys: SigningKeys? = nil) throws -> CeremonyReport {
    let repository = try Repository(layout)
    let review = try repository.review(files: files, trusting: trusted, now: now)
    return try repository.sign(review, with: keys ?? self.keys, now: now)
  }

  @discardableResult
  func rotate(_ role: MetadataRole, _ mode: RotationMode = .replace, to name: String) throws -> RotationReport {
    let old = try #require(try ceremony.requirements(for: role).first?.keys.keyIDs.first)
    let new = mode == .dropOld ? [] : [(old: old, new: try newKey(name))]
    return try Repository(layout).rotate(role, new, mode, trusting: trusted, with: keys, now: now)
  }

  /// Makes a key without a passphrase.
  @discardableResult
  func newKey(_ name: String) throws -> Ed25519PublicKey {
    let key = try SecretKey.generate()
    let publicKey = key.publicKey
    try KeyStore(layout).add(key, name: name, .none)
    return publicKey
  }

  func publicKey(_ name: String) throws -> Ed25519PublicKey { try KeyStore(layout).publicKey(named: name) }

  func id(_ name: String) throws -> KeyID { Key(try publicKey(name)).id }

  /// Takes secret keys away, to another signer's machine say.
  func hide(_ names: String...) throws {
    for name in names {
      try FileManager.default.createDirectory(atPath: folder("hidden"), withIntermediateDirectories: true)
      try FileManager.default.moveItem(atPath: layout.secrets + "/\(name).key", toPath: folder("hidden/\(name).key"))
    }
  }

  func bringBack(_ names: String...) throws {
    for name in names { try FileManager.default.moveItem(atPath: folder("hidden/\(name).key"), toPath: layout.secrets + "/\(name).key") }
  }

  // MARK: Devices

  func root(_ version: Int) throws -> [UInt8] { try folder.bytes(of: "repository/manifests/metadata/\(version).root.json") }

  /// What a device makes of the published tree that was shipped with a root and has kept something.
  @discardableResult
  func device(from version: Int = 1, _ stored: StoredMetadata = .init(), of layout: RepositoryLayout? = nil) throws -> TrustedManifest {
    var workflow = try ClientWorkflow(anchor: root(version), stored: stored, now: now)
    return try workflow.refresh(from: MetadataFolder((layout ?? self.layout).metadata))
  }

  /// Has a device and python-tuf, each shipped with the first root, follow what is published.
  /// - Returns: the versions that python-tuf has loaded.
  @discardableResult
  func follow(_ targets: String...) throws -> [String: Int] {
    let manifest = try device()
    let result = try runChild(
      peerPython(),
      [
        peerScript("tuf_follow.py"), layout.metadata + "/1.root.json", layout.metadata, folder("cache-" + UUID().uuidString), "--at",
        now.description,
      ] + targets
    ).successful()
    let report = try #require(try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any])
    let versions = try #require(report["versions"] as? [String: Int])
    for (role, version, _) in manifest.roles { #expect(versions[role.rawValue] == Int(version.number)) }
    #expect((report["lengths"] as? [String: Int])?.count == targets.count)
    return versions
  }

  var published: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: layout.metadata).sorted() } }
  var pending: [String] { get throws { (try? FileManager.default.contentsOfDirectory(atPath: layout.pending).sorted()) ?? [] } }
}

/// The fault of a ceremony that a body ends with.
func fault(_ body: () throws -> Void) -> CeremonyFault? {
  do { try body() } catch SigningError.ceremony(let fault) { return fault } catch {
    Issue.record("\(error)")
    return nil
  }
  Issue.record("nothing was refused")
  return nil
}
