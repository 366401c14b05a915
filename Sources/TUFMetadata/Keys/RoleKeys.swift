internal import Digests

/// Who may sign for a role, and how many of them must: distinct key ids and a threshold of at least 1 (TUF 1.0.34 §4.3).
///
/// The threshold may exceed the number of keys: such a role never verifies, and does not make the file that lists it invalid.
public struct RoleKeys: Hashable, Sendable {
  /// The ids of the keys, each once, in the order of the metadata.
  public let keyIDs: [KeyID]
  /// How many distinct keys must have signed; at least 1.
  public let threshold: Int

  /// - Throws: `MetadataError.invalidValue` for a threshold below 1 or a key id that stands twice.
  package init(keyIDs: [KeyID], threshold: Int) throws(MetadataError) {
    guard threshold >= 1 else { throw .invalidValue(path: "threshold", expected: "at least 1", found: String(threshold)) }
    guard Set(keyIDs).count == keyIDs.count else {
      throw .invalidValue(path: "keyids", expected: "each key id once", found: "a key id that stands twice")
    }
    self.keyIDs = keyIDs
    self.threshold = threshold
  }

  init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    let keyIDs = try json.read(.keyids) { list throws(MetadataError) in
      try list.requireElements { value throws(MetadataError) in KeyID(digest: try value.requireDigest()) }
    }
    let threshold = try json.read(.threshold) { value throws(MetadataError) in try value.requireInteger(in: 1...Int64(Int32.max)) }
    try self.init(keyIDs: keyIDs, threshold: Int(threshold))
  }

  package var tree: JSONTree {
    .object([
      .keyids: .array(keyIDs.map { .string(ByteString($0.digest.hexadecimal)) }),
      .threshold: .integer(Int64(threshold)),
    ])
  }
}
