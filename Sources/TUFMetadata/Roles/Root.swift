/// Who may sign for the four roles (TUF 1.0.34 §4.3).
public struct Root: ReadableRolePayload {
  public static let role = TopLevelRole.root

  public let version: Version
  public let expires: UTCTime
  /// Whether the names of metadata and target files carry versions and hashes (TUF 1.0.34 §6.2).
  public let consistentSnapshot: Bool
  /// All keys that root lists, each under the id that was computed for it.
  public let keys: [KeyID: Key]
  private let roles: [TopLevelRole: RoleKeys]

  /// The keys and the threshold of a role.
  public subscript(role: TopLevelRole) -> RoleKeys {
    // Every initialiser makes sure that all four roles are there.
    roles[role] ?? RoleKeys.unmeetable
  }

  package init(header: RoleHeader, consistentSnapshot: Bool, keys: [Key], roles: [TopLevelRole: RoleKeys]) throws(MetadataError) {
    version = header.version
    expires = header.expires
    self.consistentSnapshot = consistentSnapshot
    self.keys = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.roles = roles
    for role in TopLevelRole.allCases where roles[role] == nil { throw .missingMember(name: role.rawValue, path: "roles") }
  }

  package init(_ json: JSONValue, header: RoleHeader) throws(MetadataError) {
    version = header.version
    expires = header.expires
    consistentSnapshot =
      try json.readIfPresent(.consistentSnapshot) { value throws(MetadataError) in try value.requireBoolean() } ?? false
    keys = try json.read(.keys) { value throws(MetadataError) in try Key.readAll(value) }
    roles = try json.read(.roles) { value throws(MetadataError) in
      try value.requireObject()
      var roles: [TopLevelRole: RoleKeys] = [:]
      for role in TopLevelRole.allCases {
        roles[role] = try value.read(role.name) { value throws(MetadataError) in try RoleKeys(value) }
      }
      return roles
    }
  }
}

extension RoleKeys {
  /// No key at all, so that the threshold is never met.
  static let unmeetable = RoleKeys(threshold: Int(Int32.max))

  private init(threshold: Int) {
    keyIDs = []
    self.threshold = threshold
  }
}
