package import ModelCatalog
package import TUFMetadata

extension ScannedModel {
  /// How many problems of one description are told in full.
  static let problemLimit = 100

  /// The description that people wrote, held against the files beside it; nil where nobody wrote one.
  /// - Throws: `SigningError.description` or `SigningError.descriptionMismatch`.
  package func readDescription(allowsMovingSources: Bool) throws(SigningError) -> ModelDescription? {
    guard let bytes = description else { return nil }
    let path = try descriptionPath()
    let described: ModelDescription
    do { described = try ModelDescription(parsing: bytes, of: name) } catch { throw .description(path: path, error) }
    let problems = problems(of: described) + (allowsMovingSources ? [] : movingSources(of: described))
    guard problems.isEmpty else {
      throw .descriptionMismatch(path: path, Array(problems.prefix(Self.problemLimit)), count: problems.count)
    }
    return described
  }

  /// - Throws: `SigningError.scan` where the path would be too long.
  package func descriptionPath() throws(SigningError) -> TargetPath {
    do { return try name.descriptionPath() } catch {
      throw .scan([ScanProblem(path: ByteString(name.prefix + ModelDescription.fileName.bytes), fault: .path(error))], count: 1)
    }
  }

  private func movingSources(of described: ModelDescription) -> [DescriptionProblem] {
    let files = described.versions.filter { $0.withdrawal == nil }.flatMap { $0.variants.flatMap(\.files) }
    return files.flatMap { file in
      file.sources.filter(\.isMoving).map { .movingSource(file.path, source: $0.description) }
    }
  }

  private func problems(of described: ModelDescription) -> [DescriptionProblem] {
    var problems: [DescriptionProblem] = []
    let present = Set(versions.flatMap { $0.files.map(\.path) })
    for version in described.versions where version.withdrawal == nil {
      var missing: Set<TargetPath> = []
      for file in version.variants.flatMap(\.files) where !present.contains(file.path) && missing.insert(file.path).inserted {
        problems.append(.missingFile(file.path, version: version.name))
      }
    }
    let listed = described.paths(includingWithdrawn: true)
    let names = Set(described.versions.map(\.name))
    for version in versions {
      let unlisted = version.files.map(\.path).filter { !listed.contains($0) }
      if names.contains(version.name) {
        problems += unlisted.map { .unlistedFile($0) }
      } else if !unlisted.isEmpty {
        problems.append(.undescribedVersion(version.name, files: unlisted))
      }
    }
    return problems
  }
}
