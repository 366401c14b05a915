package import ManifestVerifier
internal import ModelCatalog
package import TUFMetadata
package import TrustStore

/// The trusted manifest that lies on this disk: nobody is asked, and that it has expired hinders nothing.
package final class KeptTrust {
  private let trust: TrustReader
  private var kept: KeptManifest

  package init(_ trust: consuming TrustReader, _ kept: KeptManifest) {
    self.trust = trust
    self.kept = kept
  }

  /// - Parameter folder: of the device's trust.
  package convenience init(_ folder: String, anchor: [UInt8]) throws(InstallationError) {
    let trust = try reading { () throws(TrustStoreError) in try TrustReader(folder) }
    let stored = try reading { () throws(TrustStoreError) in try trust.metadata() }
    let kept: KeptManifest
    do { kept = try KeptManifest(anchor: anchor, stored: stored) } catch { throw .verification(error) }
    self.init(trust, kept)
  }

  package var consistentSnapshot: Bool { kept.manifest.root.payload.consistentSnapshot }

  package func expired(at now: UTCTime) -> [(role: MetadataRole, since: UTCTime)] { kept.expired(at: now, visiting: []) }

  /// - Throws: `verification` with `notListed` where no role that may lists it.
  package func find(_ path: TargetPath) throws(InstallationError) -> TargetFile {
    do throws(VerificationError) {
      let found = try kept.find(path) { [trust = self] role throws(VerificationError) in try trust.trust.kept(role) }
      guard let finding = found.finding else { throw .notListed(path: path) }
      return finding.file
    } catch { throw .verification(error) }
  }

  /// Whether every file of an installed version is listed still, as it was signed then.
  func lists(_ entry: ModelRecord.Entry) -> Bool { entry.files.allSatisfy { (try? find($0.path)) == $0.target } }

  /// The description that was fetched last, where it is the one that is signed.
  func description(of model: ModelName, in store: ModelStore) -> ModelDescription? {
    guard let path = try? model.descriptionPath(), let signed = try? find(path), let bytes = try? store.keptDescription(of: model),
      ModelLookup.isSigned(bytes, path, signed)
    else { return nil }
    return try? ModelDescription(parsing: bytes, of: model)
  }
}

private func reading<Result: ~Copyable>(_ body: () throws(TrustStoreError) -> Result) throws(InstallationError) -> Result {
  do { return try body() } catch { throw .store(error) }
}
