internal import ModelCatalog
internal import TUFMetadata

extension ModelLookup {
  /// What the record of an installed version tells, where no newer metadata can be had: the lengths and digests that were signed when it was
  /// installed are enough to repair it.
  /// - Parameters:
  ///   - request: for exactly one variant of one version.
  ///   - consistentSnapshot: as the newest trusted root says.
  /// - Throws: `withdrawn` where the version is known to be; `notInstalled`.
  package init(
    recorded request: ModelRequest, in store: ModelStore, mirrors: [Mirror], consistentSnapshot: Bool, _ context: DownloadContext
  ) throws(InstallationError) {
    let model = request.model
    let record = try store.record(of: model)
    guard let entry = record.entries.first(where: { $0.key.version == request.version && $0.key.variant == request.variant }) else {
      throw .model(.notInstalled(model: model.description, version: request.version?.description))
    }
    if let withdrawn = entry.withdrawalError(of: model) { throw withdrawn }
    // Of the kept description, for which nobody vouches, only the places count at which files may be.
    let description = store.whatDescriptionSays(of: model)
    let variant = description?.versions.first { $0.name == entry.key.version }?.variants.first { $0.name == entry.key.variant }
    let files = entry.files.map { file in
      let named = variant?.files.first { $0.path == file.path }?.sources ?? []
      return File(
        path: file.path, name: file.name, target: file.target,
        sources: DownloadSource.all(
          of: file.path, file.target, named, hub: context.hub, mirrors: mirrors, consistentSnapshot: consistentSnapshot),
        segments: SegmentSource(of: file.path, file.target, mirrors: mirrors, consistentSnapshot: consistentSnapshot))
    }
    self.init(
      request: request, key: entry.key, licence: description?.licence ?? "", quantisation: variant?.quantisation, format: variant?.format,
      audience: entry.audience, files: files, descriptionByteCount: 0, standIns: [], unrecorded: [])
  }
}
