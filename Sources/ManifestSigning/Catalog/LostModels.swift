internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
public import TUFMetadata

extension Catalog {
  /// The descriptions that a published list of models names and no device finds: whoever was trusted with them is so no longer, say.
  /// - Parameters:
  ///   - bytes: of the list. Where they can't be read, that is told elsewhere.
  ///   - delegated: a delegated role's metadata.
  package static func lostModels(_ bytes: [UInt8], _ targets: Targets, _ delegated: @escaping (ByteString) -> Targets?) -> [TargetPath] {
    guard let root = try? JSONDocument(parsing: bytes).root,
      let models = try? root.readIfPresent("models", { value throws(MetadataError) in try value.requireElements { $0 } })
    else { return [] }
    let search = FileSearch(targets: targets, delegated: delegated)
    return models.compactMap { model in
      guard let name = model.member(.path)?.string, let path = try? TargetPath(name) else { return nil }
      return search.find(path) == nil ? path : nil
    }
  }

  /// The list of models that lies in the published tree; nil where there is none, or none that can be read.
  package static func published(_ targets: Targets, _ layout: RepositoryLayout) -> [UInt8]? {
    guard let path = try? TargetPath(fileName), let file = targets[path] else { return nil }
    return try? readFile(layout.target(path, file), limit: Int(clamping: file.byteCount), followingLinks: false)
  }
}

extension PublishedState {
  func lostModels(_ delegated: PublishedDelegations, _ layout: RepositoryLayout) -> [TargetPath] {
    guard let targets = manifest?.targets.payload, let bytes = Catalog.published(targets, layout) else { return [] }
    return Catalog.lostModels(bytes, targets) { delegated.files[$0]?.targets }
  }
}

extension RepositoryVerification {
  /// The models that the published list of models names and devices can't find.
  public func lostModels(of state: PublishedState) throws(SigningError) -> [TargetPath] {
    state.lostModels(try PublishedDelegations(state, layout), layout)
  }
}
