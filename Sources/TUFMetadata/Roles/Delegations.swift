/// The roles that a targets role trusts with some of the paths (TUF 1.0.34 §4.5).
public struct Delegations: Sendable {
  /// The keys of the delegated roles.
  public let keys: [KeyID: Key]
  /// The delegated roles in the order in which a search visits them.
  public let roles: [DelegatedRole]
  let hashPrefixes: HashPrefixIndex

  init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    keys = try json.read(.keys) { value throws(MetadataError) in try Key.readAll(value) }
    roles = try json.read(.roles) { value throws(MetadataError) in
      try value.requireElements { value throws(MetadataError) in try DelegatedRole(value) }
    }
    var names: Set<ByteString> = []
    for role in roles where !names.insert(role.name).inserted {
      throw .invalidValue(path: "roles", expected: "each role once", found: "\(MetadataError.quoted(role.name.bytes.span)) twice")
    }
    hashPrefixes = HashPrefixIndex(roles)
  }
}

/// One delegation: a role's name, its keys, and what it is trusted with.
public struct DelegatedRole: Hashable, Sendable {
  /// Which targets a role is trusted with.
  public enum Scope: Hashable, Sendable {
    /// Those whose path matches one of the patterns.
    case paths([PathPattern])
    /// Those the SHA-256 of whose path begins with one of these texts of hexadecimal digits.
    case pathHashPrefixes([ByteString])
  }

  /// The name: not empty, and not that of a top-level role.
  public let name: ByteString
  public let keys: RoleKeys
  /// Whether a search that reached this role looks no further.
  public let isTerminating: Bool
  public let scope: Scope

  init(_ json: JSONValue) throws(MetadataError) {
    try json.requireObject()
    name = try json.read(.name) { value throws(MetadataError) in
      let name = try value.requireString()
      // Its file could be taken for the top-level role's.
      guard !name.bytes.isEmpty, !TopLevelRole.isReserved(name) else {
        throw value.unexpected("a name that is not empty and not a top-level role's")
      }
      return name
    }
    keys = try RoleKeys(json)
    isTerminating = try json.read(.terminating) { value throws(MetadataError) in try value.requireBoolean() }
    let paths = try json.readIfPresent(.paths) { value throws(MetadataError) in
      try value.requireElements { value throws(MetadataError) in PathPattern(try value.requireString()) }
    }
    let prefixes = try json.readIfPresent(.pathHashPrefixes) { value throws(MetadataError) in
      try value.requireElements { value throws(MetadataError) in try Self.readPrefix(value) }
    }
    switch (paths, prefixes) {
    case (let paths?, nil): scope = .paths(paths)
    case (nil, let prefixes?): scope = .pathHashPrefixes(prefixes)
    default: throw .invalidValue(path: "", expected: "either paths or path_hash_prefixes", found: paths == nil ? "neither" : "both")
    }
  }

  private static func readPrefix(_ value: JSONValue) throws(MetadataError) -> ByteString {
    let prefix = try value.requireString()
    let isHexadecimal = prefix.bytes.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    guard isHexadecimal, prefix.bytes.count <= 64 else { throw value.unexpected("at most 64 lower-case hexadecimal digits") }
    return prefix
  }
}
