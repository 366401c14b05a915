public import TUFMetadata

/// What a device has kept from earlier refreshes: the exact bytes, which are verified again before they are used.
public struct StoredMetadata: Equatable, Sendable {
  /// Root files of any versions, in ascending order of the version. Those that follow the anchor are walked before anything is
  /// asked for.
  public var roots: [[UInt8]]
  /// The root version under which timestamp and snapshot were verified, or for which they were superseded; nil where neither was kept yet.
  public var verifiedUnderRoot: Version?
  /// The root version under which the last complete set was verified, from the time at which a rotation superseded its timestamp and
  /// snapshot to the next refresh that succeeds; otherwise nil.
  public var rotatingSinceRoot: Version?
  /// Of timestamp and snapshot those that a rotation superseded. They are still read where no mirror is asked, and nothing new is held
  /// against them.
  public var superseded: Set<TopLevelRole> = []
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

  /// What new versions are held against: without what a rotation superseded.
  var baseline: StoredMetadata {
    var baseline = self
    if superseded.contains(.timestamp) { baseline.timestamp = nil }
    if superseded.contains(.snapshot) { baseline.snapshot = nil }
    return baseline
  }

  /// How far what is kept may be apart.
  var lag: Lag { verifiedUnderRoot == nil ? .none : rotatingSinceRoot == nil ? .older : .other }

  enum Lag {
    /// What no refresh has kept, a publisher's set say, belongs together in every part.
    case none
    /// A refresh that broke off leaves files that are older than the newer ones above them say.
    case older
    /// One that broke off in a rotation leaves files of before it below those of after it, whose versions may begin anew.
    case other

    func allows(_ kept: Version, insteadOf signed: Version) -> Bool {
      switch self {
      case .none: false
      case .older: kept < signed
      case .other: kept != signed
      }
    }
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
