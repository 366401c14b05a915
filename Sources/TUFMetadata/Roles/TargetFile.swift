public import Digests

/// What is signed of one file (TUF 1.0.34 §4.5).
public struct TargetFile: Hashable, Sendable {
  /// The length in bytes.
  public let byteCount: Int64
  /// The digests of the whole file.
  public let hashes: FileHashes
  /// The fs-verity digest of the file, where the publisher gave one in `custom`.
  public let fsverity: FSVerityDigest?

  public init(byteCount: Int64, hashes: FileHashes, fsverity: FSVerityDigest?) {
    self.byteCount = byteCount
    self.hashes = hashes
    self.fsverity = fsverity
  }

  package init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    byteCount = try json.read(.length) { value throws(MetadataError) in try value.requireInteger(in: 0...Int64.max) }
    hashes = try json.read(.hashes) { value throws(MetadataError) in try FileHashes(value) }
    fsverity =
      try json.readIfPresent(.custom) { custom throws(MetadataError) in
        try custom.requireObject()
        return try custom.readIfPresent(.fsverity, Self.readVerity)
      } ?? nil
  }

  private static func readVerity(_ value: JSONValue) throws(MetadataError) -> FSVerityDigest {
    let digest = try value.withStringBytes { bytes throws(MetadataError) in
      do { return try FSVerityDigest(text: bytes) } catch {
        throw .invalidValue(path: "", expected: "an fs-verity digest: \(error)", found: MetadataError.quoted(bytes))
      }
    }
    guard let digest else { throw value.unexpected("an fs-verity digest as sha256:<64 digits>") }
    return digest
  }

  package var tree: JSONTree {
    var members: [ByteString: JSONTree] = [.length: .integer(byteCount), .hashes: hashes.tree]
    members[.custom] = fsverity.map { .object([.fsverity: .string(ByteString($0.description))]) }
    return .object(members)
  }
}
