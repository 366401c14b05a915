public import TUFMetadata

/// The metadata file that a refresh needs next.
public struct MetadataRequest: Hashable, Sendable {
  /// The role whose metadata it is.
  public let role: MetadataRole
  /// The version in the file's name; nil where the name has none.
  public let version: Version?
  /// The most bytes that will be taken: a transfer that brings more can be broken off.
  public let byteLimit: Int

  /// The path below the metadata URL (TUF 1.0.34 §6.2).
  public var urlPath: String { version.map { "\($0).\(role.fileName)" } ?? role.fileName }
}

/// What a step of a refresh changes in the state that a device keeps. Changes are stored in the order in which they are
/// returned, each durably before the next.
public enum TrustChange: Equatable, Sendable {
  /// A new root is trusted.
  case root(Version, bytes: [UInt8])
  /// A timestamp or snapshot key was taken away: nothing new is held against both files any more, or a fast-forward attack would never be
  /// recovered from (TUF 1.0.34 §5.3.11). They stay until their successors arrive, for what is installed is checked with them meanwhile.
  case supersedeTimestampAndSnapshot(root: Version)
  /// Root, timestamp, snapshot and targets were verified at this time. Where an earlier refresh was at a later one, that time stays.
  case refreshed(at: UTCTime)
  /// New metadata of another role is trusted, under the given root version.
  case metadata(MetadataRole, bytes: [UInt8], root: Version)
}
