/// Which versions of the targets files belong together (TUF 1.0.34 §4.4).
public struct Snapshot: ReadableRolePayload {
  public static let role = TopLevelRole.snapshot

  public let version: Version
  public let expires: UTCTime
  /// What the snapshot says of `targets.json` and of each delegated role's file, by file name.
  public let files: [ByteString: MetadataFile]
  /// What the snapshot says of `targets.json`.
  public let targets: MetadataFile

  package init(_ json: JSONValue, header: RoleHeader) throws(MetadataError) {
    version = header.version
    expires = header.expires
    files = try json.read(.meta) { value throws(MetadataError) in try MetadataFile.readAll(value) }
    guard let targets = files[.targetsFile] else { throw .missingMember(name: "targets.json", path: "meta") }
    self.targets = targets
  }
}
