internal import FileIO
package import ModelCatalog
package import ModelFormats
package import TUFMetadata

/// What a derived description says because nobody said better.
package enum DescriptionWarning: Equatable, Sendable {
  /// The licence is given as "unknown".
  case unknownLicence(ModelName)
}

extension DescriptionWarning: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownLicence(let name): "\(name): the licence is published as \"unknown\"; write \(name)/model.json to name it"
    }
  }
}

extension ModelDescription {
  /// The licence of a model where nobody named one.
  package static let unknownLicence = "unknown"

  /// Makes a description of what lies in a folder, for a model that nobody described.
  ///
  /// The versions stand in the order of `VersionOrder`, newest first. What an earlier description says of a version whose files are
  /// still the same ones is kept, and so are its title, its licence and its withdrawn versions, whose files may be gone.
  /// - Parameters:
  ///   - summaries: what the files say about themselves, as far as they do.
  ///   - previous: the description that is published now.
  package static func derived(
    from model: ScannedModel, summaries: [TargetPath: ModelSummary], previous: ModelDescription?
  ) -> (description: ModelDescription, warnings: [DescriptionWarning]) {
    var versions = model.versions.map { version in
      let earlier = previous?.versions.first { $0.name == version.name }
      return Version(deriving: version, summaries: summaries, earlier: earlier)
    }
    let present = Set(versions.map(\.name))
    versions += previous?.versions.filter { $0.withdrawal != nil && !present.contains($0.name) } ?? []
    versions.sort { VersionOrder.isNewer($0.name, than: $1.name) }
    var description = ModelDescription(
      title: previous?.title ?? model.name.name.description, licence: previous?.licence ?? unknownLicence, versions: versions)
    description.additional = previous?.additional ?? [:]
    let warnings: [DescriptionWarning] = description.licence == unknownLicence ? [.unknownLicence(model.name)] : []
    return (description, warnings)
  }
}

extension ModelDescription.Version {
  fileprivate init(deriving version: ScannedVersion, summaries: [TargetPath: ModelSummary], earlier: Self?) {
    let paths = version.files.map(\.path)
    let before = earlier?.variants.flatMap { $0.files.map(\.path) } ?? []
    if let earlier, before == paths || Set(before) == Set(paths) {
      self = earlier
      return
    }
    var variant = ModelDescription.Variant(name: ModelDescription.Variant.defaultName, files: paths.map { ModelDescription.File(path: $0) })
    // The largest file is the model; a projector or an adapter beside it may be stored otherwise.
    let known = version.files.filter { (summaries[$0.path]?.format ?? .unknown) != .unknown }
    if let largest = known.max(by: { ($0.status.byteCount, $1.path) < ($1.status.byteCount, $0.path) }),
      let summary = summaries[largest.path]
    {
      variant.format = summary.format.rawValue
      variant.quantisation = summary.quantisation
    }
    self.init(
      name: version.name, variants: [variant], withdrawal: earlier?.withdrawal, additional: earlier?.additional ?? [:])
  }
}
