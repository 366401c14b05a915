package import ModelCatalog
package import TUFMetadata

/// The list of a repository's models: `catalog.json`, derived from their descriptions.
package struct Catalog: Equatable, Sendable {
  /// The target's path.
  package static let fileName: ByteString = "catalog.json"
  /// The value of `schema`, which names the format and its version.
  package static let schema: ByteString = "signed-manifest/catalog/1"

  package let models: [Entry]

  package struct Entry: Equatable, Sendable {
    package let name: ModelName
    /// Of the model's description.
    package let path: TargetPath
    package let title: String
    /// Nil where every version is withdrawn.
    package let newest: ByteString?
  }

  /// - Parameter descriptions: in any order.
  /// - Throws: `MetadataError.invalidValue` where the path of a description would be too long.
  package init(_ descriptions: [ModelName: ModelDescription]) throws(MetadataError) {
    var models: [Entry] = []
    for name in descriptions.keys.sorted() {
      guard let description = descriptions[name] else { continue }
      let path = try name.descriptionPath()
      models.append(Entry(name: name, path: path, title: description.title, newest: description.newest?.name))
    }
    self.models = models
  }

  /// The file that stands for it: the same bytes for the same models.
  package var bytes: [UInt8] {
    let models = models.map { model in
      var members: [ByteString: JSONTree] = [
        .model: .string(ByteString(model.name.description)), .title: .string(ByteString(model.title)), .path: .string(model.path.name),
      ]
      members[.newest] = model.newest.map { .string($0) }
      return JSONTree.object(members)
    }
    return PrettyJSON.bytes(.object([.schema: .string(Self.schema), .models: .array(models)]), order: .descriptionMembers)
  }
}
