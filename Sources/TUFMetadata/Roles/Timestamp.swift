/// Which snapshot is the newest (TUF 1.0.34 §4.6).
public struct Timestamp: ReadableRolePayload {
  public static let role = TopLevelRole.timestamp

  public let version: Version
  public let expires: UTCTime
  /// What the timestamp says of `snapshot.json`.
  public let snapshot: MetadataFile

  package init(_ json: JSONValue, header: RoleHeader) throws(MetadataError) {
    version = header.version
    expires = header.expires
    snapshot = try json.read(.meta) { value throws(MetadataError) in
      try value.requireObject()
      return try value.read(.snapshotFile) { value throws(MetadataError) in try MetadataFile(value) }
    }
  }
}
