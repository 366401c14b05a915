public import TUFMetadata

/// The name of a model: its organisation and its own, which are the first two folders of its files' paths.
public struct ModelName: Hashable, Sendable {
  public let organisation: ByteString
  public let name: ByteString
  /// What every path of the model's files begins with.
  package let prefix: [UInt8]

  /// - Throws: `MetadataError.invalidValue` where one of them can't be a folder of a target path, or holds a `/`.
  package init(organisation: ByteString, name: ByteString) throws(MetadataError) {
    let path = try TargetPath(ByteString(organisation.bytes + [UInt8(ascii: "/")] + name.bytes))
    guard path.segments == [organisation, name] else {
      throw .invalidValue(path: "", expected: "a model's name as organisation/name", found: "\"\(path)\"")
    }
    self.organisation = organisation
    self.name = name
    prefix = path.name.bytes + [UInt8(ascii: "/")]
  }

  /// The path of the model's description.
  /// - Throws: `MetadataError.invalidValue` where the path would be too long.
  package func descriptionPath() throws(MetadataError) -> TargetPath {
    try TargetPath(ByteString(prefix + ModelDescription.fileName.bytes))
  }
}

extension ModelName: Comparable {
  /// The order of the paths.
  public static func < (left: Self, right: Self) -> Bool { left.prefix.lexicographicallyPrecedes(right.prefix) }
}

extension ModelName: CustomStringConvertible {
  public var description: String { "\(organisation)/\(name)" }
}
