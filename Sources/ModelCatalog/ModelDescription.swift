public import TUFMetadata

/// What people say about a model: `model.json`. It holds no length and no digest; those stand only in the targets metadata.
///
/// Members that this version of the format doesn't know are kept.
public struct ModelDescription: Equatable, Sendable {
  /// The last segment of the description's path.
  package static let fileName: ByteString = "model.json"
  /// The value of `schema`, which names the format and its version.
  package static let schema: ByteString = "signed-manifest/model/1"
  /// The longest description, in bytes: that of a model of a million files. Stops a folder in which something else bears its name.
  package static let byteLimit = 128 << 20
  /// The most values and member names in it; each file takes three.
  static let valueLimit = 1 << 23

  public var title: String
  /// An SPDX expression, or whatever names the licence.
  public var licence: String
  /// At least one. The order decides which is the newest, which stands first; the names don't.
  public var versions: [Version]
  package var additional: [ByteString: JSONTree] = [:]

  package init(title: String, licence: String, versions: [Version]) {
    self.title = title
    self.licence = licence
    self.versions = versions
  }

  /// One version of the model.
  public struct Version: Equatable, Sendable {
    /// Different from those of the other versions.
    public var name: ByteString
    /// At least one.
    public var variants: [Variant]
    /// Nil unless the version must not be installed any more.
    public var withdrawal: Withdrawal?
    package var additional: [ByteString: JSONTree] = [:]

    package init(name: ByteString, variants: [Variant], withdrawal: Withdrawal? = nil, additional: [ByteString: JSONTree] = [:]) {
      self.name = name
      self.variants = variants
      self.withdrawal = withdrawal
      self.additional = additional
    }
  }

  /// One of the forms that a version comes in; a device takes the first that it can run.
  public struct Variant: Equatable, Sendable {
    /// Different from those of the version's other variants.
    public var name: ByteString
    /// Operating systems; empty for any.
    public var platforms: [String] = []
    /// Processor architectures; empty for any.
    public var architectures: [String] = []
    /// Programs that load the files, with the lowest version of each that can; empty where nobody said.
    public var minimumRuntime: [ByteString: String] = [:]
    public var quantisation: String?
    public var format: String?
    /// At least one.
    public var files: [File]
    package var additional: [ByteString: JSONTree] = [:]

    package init(name: ByteString, files: [File]) {
      self.name = name
      self.files = files
    }

    /// The variant's name where nobody gave one.
    package static let defaultName: ByteString = "default"
  }

  /// One file of a variant.
  public struct File: Equatable, Sendable {
    /// Below the model's own folder.
    public var path: TargetPath
    /// Where else than in the published tree the file can be had, best first.
    public var sources: [FileSource] = []
    package var additional: [ByteString: JSONTree] = [:]

    package init(path: TargetPath, sources: [FileSource] = []) {
      self.path = path
      self.sources = sources
    }
  }

  /// Why a version must not be installed any more.
  public struct Withdrawal: Equatable, Sendable {
    public var reason: String
    package var additional: [ByteString: JSONTree] = [:]

    package init(reason: String) { self.reason = reason }
  }

  /// The newest version that is not withdrawn.
  public var newest: Version? { versions.first { $0.withdrawal == nil } }

  /// The paths that the versions list, each once.
  package func paths(includingWithdrawn: Bool) -> Set<TargetPath> {
    var paths: Set<TargetPath> = []
    for version in versions where includingWithdrawn || version.withdrawal == nil {
      for variant in version.variants { paths.formUnion(variant.files.map(\.path)) }
    }
    return paths
  }
}
