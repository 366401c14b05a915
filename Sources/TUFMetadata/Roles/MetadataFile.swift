public import Digests

/// What a timestamp says of the snapshot, and a snapshot of each targets file: version, length and hashes (TUF 1.0.34 §4.4).
public struct MetadataFile: Hashable, Sendable {
  public let version: Version
  /// The length in bytes, where it is stated.
  public let byteCount: Int64?
  public let hashes: FileHashes?

  package init(version: Version, byteCount: Int64?, hashes: FileHashes?) {
    self.version = version
    self.byteCount = byteCount
    self.hashes = hashes
  }

  init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    version = try json.read(.version) { value throws(MetadataError) in try value.requireVersion() }
    byteCount = try json.readIfPresent(.length) { value throws(MetadataError) in try value.requireInteger(in: 1...Int64.max) }
    hashes = try json.readIfPresent(.hashes) { value throws(MetadataError) in try FileHashes(value) }
  }

  package var tree: JSONTree {
    var members: [ByteString: JSONTree] = [.version: .integer(version.number)]
    members[.length] = byteCount.map { .integer($0) }
    members[.hashes] = hashes?.tree
    return .object(members)
  }

  /// The `meta` object of a timestamp or snapshot.
  static func readAll(_ json: JSONValue) throws(MetadataError) -> [ByteString: MetadataFile] {
    try json.requireObject()
    var files: [ByteString: MetadataFile] = [:]
    files.reserveCapacity(json.count)
    for (name, value) in json.members {
      do { files[name] = try MetadataFile(value) } catch { throw error.within(name) }
    }
    return files
  }
}

/// The digests that metadata gives for a file. SHA-256 is always there; where SHA-512 is given as well, both have to hold.
public struct FileHashes: Hashable, Sendable {
  public let sha256: SHA256Digest
  public let sha512: SHA512Digest?

  public init(sha256: SHA256Digest, sha512: SHA512Digest? = nil) {
    self.sha256 = sha256
    self.sha512 = sha512
  }

  init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    sha256 = try json.read(.sha256) { value throws(MetadataError) in try value.requireDigest() }
    sha512 = try json.readIfPresent(.sha512) { value throws(MetadataError) in
      let text = try value.requireString()
      do { return try SHA512Digest(hexadecimal: text.bytes.span) } catch {
        throw .invalidValue(path: "", expected: "a SHA-512 digest: \(error)", found: MetadataError.quoted(text.bytes.span))
      }
    }
  }

  package var tree: JSONTree {
    var members: [ByteString: JSONTree] = [.sha256: .string(ByteString(sha256.hexadecimal))]
    members[.sha512] = sha512.map { .string(ByteString($0.hexadecimal)) }
    return .object(members)
  }
}
