internal import ModelCatalog
internal import TUFMetadata

extension ByteString {
  fileprivate static let format: ByteString = "format"
  fileprivate static let active: ByteString = "active"
  fileprivate static let previous: ByteString = "previous"
  fileprivate static let installed: ByteString = "installed"
  fileprivate static let variant: ByteString = "variant"
  fileprivate static let place: ByteString = "place"
  fileprivate static let target: ByteString = "target"
  fileprivate static let device: ByteString = "device"
  fileprivate static let inode: ByteString = "inode"
  fileprivate static let changed: ByteString = "changed"
  fileprivate static let audience: ByteString = "for"
}

extension ModelRecord {
  static let format: Int64 = 1
  /// For several versions of a model of 100,000 files.
  static let byteLimit = 512 << 20

  var bytes: [UInt8] {
    var members: [ByteString: JSONTree] = [
      .format: .integer(Self.format), .model: .string(ByteString(model.description)), .installed: .array(entries.map(\.tree)),
    ]
    members[.active] = active?.tree
    members[.previous] = previous?.tree
    return JSONTree.object(members).canonicalBytes + [UInt8(ascii: "\n")]
  }

  /// - Throws: `damagedRecord` or `newerFormat`.
  init(_ bytes: [UInt8], of model: ModelName, path: String) throws(InstallationError) {
    let root: JSONValue
    let found: Int64
    do throws(MetadataError) {
      root = try JSONDocument(parsing: bytes, limits: JSONLimits(byteCount: Self.byteLimit, valueCount: 1 << 26)).root
      try root.requireObject()
      found = try root.read(.format) { value throws(MetadataError) in try value.requireInteger(in: 1...Int64.max) }
    } catch { throw Self.damaged(path, error) }
    guard found <= Self.format else { throw .model(.newerFormat(path: path, found: found, supported: Self.format)) }
    do { try self.init(root, of: model) } catch { throw Self.damaged(path, error) }
  }

  private static func damaged(_ path: String, _ error: MetadataError) -> InstallationError {
    .model(.damagedRecord(path: path, expected: "what this software wrote: \(error)"))
  }

  private init(_ root: JSONValue, of model: ModelName) throws(MetadataError) {
    self.init(model)
    try root.read(.model) { value throws(MetadataError) in
      guard value.string == ByteString(model.description) else { throw value.unexpected("\"\(model)\"") }
    }
    entries = try root.read(.installed) { value throws(MetadataError) in
      let entries = try value.requireElements { value throws(MetadataError) in try Entry(value, of: model) }
      guard Set(entries.map(\.key)).count == entries.count else { throw value.unexpected("each version and variant once") }
      return entries
    }
    active = try root.readIfPresent(.active) { value throws(MetadataError) in try StoreKey(value, of: model) }
    previous = try root.readIfPresent(.previous) { value throws(MetadataError) in try StoreKey(value, of: model) }
  }
}

extension StoreKey {
  fileprivate var tree: JSONTree { .object([.version: .string(version), .variant: .string(variant)]) }

  fileprivate init(_ json: JSONValue, of model: ModelName) throws(MetadataError) {
    let version = try json.read(.version) { value throws(MetadataError) in try value.requireString() }
    let variant = try json.read(.variant) { value throws(MetadataError) in try value.requireString() }
    do { try self.init(version: version, variant: variant, of: model) } catch { throw json.unexpected("names of folders") }
  }
}

extension ModelRecord.Entry {
  fileprivate var tree: JSONTree {
    var members: [ByteString: JSONTree] = [
      .version: .string(key.version), .variant: .string(key.variant), .files: .array(files.map(\.tree)),
    ]
    members[.withdrawn] = withdrawal.map { .string(ByteString($0)) }
    members[.audience] = audience?.tree
    return .object(members)
  }

  fileprivate init(_ json: JSONValue, of model: ModelName) throws(MetadataError) {
    key = try StoreKey(json, of: model)
    files = try json.read(.files) { value throws(MetadataError) in
      let files = try value.requireElements { value throws(MetadataError) in try ModelRecord.File(value) }
      // Of a version without files nothing could be amiss.
      guard !files.isEmpty else { throw value.unexpected("at least one file") }
      return files
    }
    withdrawal = try json.readIfPresent(.withdrawn) { value throws(MetadataError) in try value.requireString().description }
    audience = try json.readIfPresent(.audience) { value throws(MetadataError) in try Audience(value) }
  }
}

extension ModelRecord.File {
  fileprivate var tree: JSONTree {
    .object([
      .path: .string(path.name), .place: .string(ByteString(Array(name.map(\.bytes).joined(separator: "/".utf8)))), .target: target.tree,
      // Bit patterns: the system's numbers may be larger than JSON's integers here.
      .device: .integer(Int64(bitPattern: identity.device)), .inode: .integer(Int64(bitPattern: identity.inode)),
      .changed: .integer(identity.changedNanoseconds),
    ])
  }

  fileprivate init(_ json: JSONValue) throws(MetadataError) {
    path = try json.read(.path) { value throws(MetadataError) in try TargetPath(value.requireString()) }
    name = try json.read(.place) { value throws(MetadataError) in try TargetPath(value.requireString()).segments }
    let target = try json.read(.target) { value throws(MetadataError) in try TargetFile(value) }
    let number = { (name: ByteString) throws(MetadataError) in
      try json.read(name) { value throws(MetadataError) in try value.requireInteger(in: Int64.min...Int64.max) }
    }
    self.target = target
    identity = FileIdentity(
      device: UInt64(bitPattern: try number(.device)), inode: UInt64(bitPattern: try number(.inode)), byteCount: target.byteCount,
      changedNanoseconds: try number(.changed))
  }
}
