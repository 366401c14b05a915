package import FileIO
package import ModelCatalog
package import TUFMetadata

/// A file of a model, found in a folder and not read yet. A class, for a hundred thousand of them are moved about.
package final class ScannedFile: Sendable {
  /// The path below the scanned folder, which is the target path too.
  package let path: TargetPath
  package let status: FileStatus
  /// What an earlier publication has found out about it, where it is still the same.
  let known: DigestCache.Entry?
  /// The public halves of what in it might be a bare seed, where whoever scanned does not know the keys that it must not be of.
  let seedKeys: [Ed25519PublicKey]

  package init(path: TargetPath, status: FileStatus, known: DigestCache.Entry? = nil, seedKeys: [Ed25519PublicKey] = []) {
    (self.path, self.status, self.known, self.seedKeys) = (path, status, known, seedKeys)
  }
}

/// One folder `<org>/<name>/<version>`.
package struct ScannedVersion: Sendable {
  package let name: ByteString
  /// At least one, sorted by path; those in sub-folders too.
  package let files: [ScannedFile]
}

/// One folder `<org>/<name>`.
package struct ScannedModel: Sendable {
  package let name: ModelName
  /// The `model.json` that people wrote, as it is; nil where there is none.
  package let description: [UInt8]?
  /// Newest first, as `VersionOrder` tells.
  package let versions: [ScannedVersion]
}

/// What a folder of models holds, all of it: what can't be published stops the scan instead.
package struct CatalogScan: Sendable {
  /// The scanned folder, as the caller gave it.
  package let folder: String
  /// At least one, sorted by path.
  package let models: [ScannedModel]

  /// Every file of every version, in the order of the models and versions.
  package let files: [ScannedFile]

  init(folder: String, models: [ScannedModel]) {
    (self.folder, self.models) = (folder, models)
    files = models.flatMap { $0.versions.flatMap(\.files) }
  }
}
