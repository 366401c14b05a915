public import TUFMetadata

/// What a device has kept from earlier refreshes: the exact bytes, which are verified again before they are used.
public struct StoredMetadata: Equatable, Sendable {
  /// Root files of any versions, in ascending order of the version. Those that follow the anchor are walked before anything is
  /// asked for.
  public var roots: [[UInt8]]
  /// The root version under which timestamp and snapshot were verified; nil where neither was.
  public var verifiedUnderRoot: Version?
  public var timestamp: [UInt8]?
  public var snapshot: [UInt8]?
  public var targets: [UInt8]?

  public init(
    roots: [[UInt8]] = [], verifiedUnderRoot: Version? = nil, timestamp: [UInt8]? = nil, snapshot: [UInt8]? = nil, targets: [UInt8]? = nil
  ) {
    self.roots = roots
    self.verifiedUnderRoot = verifiedUnderRoot
    self.timestamp = timestamp
    self.snapshot = snapshot
    self.targets = targets
  }
}
