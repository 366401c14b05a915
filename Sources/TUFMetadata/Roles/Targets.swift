/// The manifest itself: the length and the digests of every file (TUF 1.0.34 §4.5).
///
/// Every entry is checked when the file is read; what is kept is the text and an index, so that a hundred thousand targets
/// cost little more memory than their file.
public struct Targets: ReadableRolePayload {
  public static let role = TopLevelRole.targets

  public let version: Version
  public let expires: UTCTime
  /// The roles that this one delegates to; nil where it delegates nothing.
  public let delegations: Delegations?

  private let entries: JSONMembers

  package init(_ json: JSONValue, header: RoleHeader) throws(MetadataError) {
    version = header.version
    expires = header.expires
    entries = try json.read(.targets) { value throws(MetadataError) in
      try value.requireObject()
      let entries = value.members
      for position in entries.indices { try Self.check(entries, at: position) }
      return entries
    }
    delegations = try json.readIfPresent(.delegations) { value throws(MetadataError) in try Delegations(value) }
  }

  // Once for each of what may be a hundred thousand entries: nothing is allocated where nothing is wrong.
  private static func check(_ entries: JSONMembers, at position: Int) throws(MetadataError) {
    do {
      try entries.withNameBytes(at: position) { name throws(MetadataError) in try TargetPath.check(name) }
      _ = try TargetFile(entries.value(at: position))
    } catch {
      throw error.within(entries.name(at: position))
    }
  }

  /// The number of targets.
  public var count: Int { entries.count }

  /// The file that is signed under a path; nil where there is none.
  public subscript(path: TargetPath) -> TargetFile? {
    // Every entry was checked in the initialiser, so that reading it again can't fail.
    entries.value(named: path.name.bytes.span).flatMap { try? TargetFile($0) }
  }

  /// All targets, in byte order of their paths.
  public var all: some Sequence<(path: TargetPath, file: TargetFile)> {
    entries.indices.lazy.compactMap { position in file(at: position).map { (path(at: position), $0) } }
  }

  /// The path of a target by its number in byte order of the paths.
  package func path(at position: Int) -> TargetPath { TargetPath(checked: entries.name(at: position)) }

  /// The file of a target by its number in byte order of the paths; never nil, for every entry was checked in the initialiser.
  package func file(at position: Int) -> TargetFile? { try? TargetFile(entries.value(at: position)) }

  /// How the path of a target stands to another in byte order: below 0 where it comes first, 0 where both are the same. Nothing is allocated.
  package func order(at position: Int, to path: TargetPath) -> Int {
    entries.withNameBytes(at: position) { $0.byteOrder(to: path.name.bytes.span) }
  }
}
