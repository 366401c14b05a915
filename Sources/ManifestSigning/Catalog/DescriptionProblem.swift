internal import ModelCatalog
public import TUFMetadata

/// One reason why a `model.json` does not fit the files that lie beside it.
public enum DescriptionProblem: Equatable, Sendable {
  /// It lists a file that is not there, for a version that is not withdrawn.
  case missingFile(TargetPath, version: ByteString)
  /// A file is there that it does not list.
  case unlistedFile(TargetPath)
  /// A version's folder is there, and the version is not described.
  /// - `files`: those in it that are not listed.
  case undescribedVersion(ByteString, files: [TargetPath])
  /// A source on the Hugging Face Hub names a branch or a tag, or nothing, and no commit.
  case movingSource(TargetPath, source: String)
}

extension DescriptionProblem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missingFile(let path, let version):
      "version \(version) lists \(path), which is not there; add the file, or mark the version as \"withdrawn\" with a \"reason\""
    case .unlistedFile(let path): "\(path) is in no version; list it under \"files\" of a variant, or remove it"
    case .movingSource(let path, let source):
      "\(path) has the source \(source), which can come to lead to another file; name a commit as hf:owner/repository@<40 digits>/path, or give "
        + "--allow-moving"
    case .undescribedVersion(let version, let files):
      "version \(version) is not described; add to \"versions\": " + Self.example(version: version, files: files)
    }
  }

  /// What is to be added, on one line, as it can be pasted; long lists are cut.
  private static func example(version: ByteString, files: [TargetPath]) -> String {
    let shown = files.prefix(3)
    let paths = shown.map { "{\"path\": \"\($0)\"}" } + (files.count > shown.count ? ["…"] : [])
    let variant = "{\"name\": \"\(ModelDescription.Variant.defaultName)\", \"files\": [\(paths.joined(separator: ", "))]}"
    return "{\"version\": \"\(version)\", \"variants\": [\(variant)]}"
  }
}
