internal import FileIO
package import ManifestVerifier
package import TUFMetadata

/// One metadata file as people read it: well formed, not verified.
package struct MetadataText {
  package let tree: JSONTree
  package let lines: [String]

  /// Reads a metadata file of any role.
  /// - Throws: `metadata` where it is malformed as JSON or as its role's metadata.
  package init(_ path: String, limits: VerificationLimits = .init()) throws(SigningError) {
    let bytes = try onDisk { () throws(FileError) in try readFile(path, limit: limits.metadataByteCount) }
    do throws(MetadataError) {
      let root = try JSONDocument(parsing: bytes).root
      let type = try root.read(.signed) { signed throws(MetadataError) in
        try signed.read(.type) { value throws(MetadataError) in try value.requireString() }
      }
      switch TopLevelRole(rawValue: type.description) {
      case .root: _ = try UnverifiedMetadata<Root>(parsing: bytes)
      case .timestamp: _ = try UnverifiedMetadata<Timestamp>(parsing: bytes)
      case .snapshot: _ = try UnverifiedMetadata<Snapshot>(parsing: bytes)
      case .targets: _ = try UnverifiedMetadata<Targets>(parsing: bytes)
      case nil: throw .invalidValue(path: "signed._type", expected: "one of the four roles", found: "another one")
      }
      tree = JSONTree(root)
    } catch {
      throw .metadata(path: path, error)
    }
    lines = String(decoding: PrettyJSON.bytes(tree, order: [.signed, .type, .version, .expires]), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }
}
