public import TUFMetadata

/// What a device has kept from earlier refreshes: the exact bytes, which are verified again before they are used.
public struct StoredMetadata: Equatable, Sendable {
  /// Root files of any versions, in ascending order of the version. Those that follow the anchor are walked before anything is
  /// asked for.
  public var roots: [[UInt8]]
  /// The root version under which timestamp and snapshot were verified; nil where neither was.
  public var verifiedUnderRoot: Version?
  /// The newest time at which a refresh succeeded; nil where none has.
  public var newestRefresh: UTCTime?
  public var timestamp: [UInt8]?
  public var snapshot: [UInt8]?
  public var targets: [UInt8]?
  /// Whether timestamp and snapshot stand in for files that nobody has any more, so that nobody has signed them. For rehearsals on published
  /// files alone: no app can set it.
  package var holdsStandIns = false

  public init(
    roots: [[UInt8]] = [], verifiedUnderRoot: Version? = nil, newestRefresh: UTCTime? = nil, timestamp: [UInt8]? = nil,
    snapshot: [UInt8]? = nil, targets: [UInt8]? = nil
  ) {
    self.roots = roots
    self.verifiedUnderRoot = verifiedUnderRoot
    self.newestRefresh = newestRefresh
    self.timestamp = timestamp
    self.snapshot = snapshot
    self.targets = targets
  }

  /// Refuses a time that lies before the newest refresh by more than clocks are corrected by.
  ///
  /// A device whose clock was ahead at a refresh can't be locked out for long: that refresh succeeded only because the timestamp was still
  /// valid at that time, so that the true time catches up before a timestamp's lifetime is over.
  /// - Throws: `clockSetBack`.
  public func requireClock(at now: UTCTime, limits: VerificationLimits = .init()) throws(VerificationError) {
    guard let newestRefresh else { return }
    // Both times lie in the years 0000 to 9999.
    guard newestRefresh.secondsSince1970 - now.secondsSince1970 <= limits.clockSetbackSeconds else {
      throw .clockSetBack(newest: newestRefresh, now: now)
    }
  }
}
