internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
internal import TUFMetadata

extension ModelStore {
  /// What stands in the store whole, as the trusted manifest describes it now, and no record tells of, in the order in which it was published: the
  /// record was lost, or a process was killed right before it wrote it. A version appears by one rename, so that it is no leftover of an installation that
  /// was never finished. Nothing is read: by what its files are known nobody can tell, so that each is read before it is used.
  /// - Parameter find: looks a target up in the trusted manifest. Where it can't tell of a version, another lookup may.
  func unrecorded(
    of record: ModelRecord, _ description: ModelDescription, _ find: (TargetPath) throws(InstallationError) -> TargetFile
  ) throws(InstallationError) -> [ModelRecord.Entry] {
    let model = record.model
    var entries: [ModelRecord.Entry] = []
    for version in description.versions.reversed() {
      for variant in version.variants {
        guard let key = try? StoreKey(version: version.name, variant: variant.name, of: model), record[key] == nil,
          let folder = try? openFolder(key.segments(of: model)),
          let places = try? ModelLookup.places(of: variant, key, model)
        else { continue }
        var entry = ModelRecord.Entry(key: key, files: [], withdrawal: version.withdrawal?.reason, audience: Audience(of: variant))
        do throws(InstallationError) {
          for (file, name) in zip(variant.files, places) {
            let target = try find(file.path)
            let status = try? folder.status(of: Array(name.map(\.bytes).joined(separator: "/".utf8)))
            guard let status, status.kind == .regular, status.byteCount == target.byteCount else { break }
            entry.files.append(.init(path: file.path, name: name, target: target, identity: .unknown))
          }
        } catch {
          if error == .cancelled { throw error }
          continue
        }
        if entry.files.count == variant.files.count { entries.append(entry) }
      }
    }
    return entries
  }
}
