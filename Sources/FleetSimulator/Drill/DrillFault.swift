/// A mistake that a test plants in a rehearsal, so that it is known which scenario finds it. A drill has none.
package enum DrillFault: String, CaseIterable, Sendable {
  /// The next root is signed by its own keys only.
  case newRootUnsignedByOldKeys
  /// After a rotation nothing is signed anew.
  case rotationWithoutResigning
  /// The old keys go with the root that brings the new ones.
  case overlapEndsAtOnce
  /// A stolen key stays listed beside the new one.
  case stolenKeyStays
  /// The published threshold is one lower than was thought.
  case thresholdOneLower
  /// The update of the app still ships the root whose keys were stolen.
  case appShipsStolenRoot
  /// What was renewed is not named by the roles above it.
  case renewalWithoutCascade
  /// Old roots are cleaned up.
  case oldRootsRemoved
  /// The mirror that missed a root never gets it.
  case mirrorStaysIncomplete
  /// A timestamp is visible after a crash, and what it names is not.
  case timestampOutlivesCrash
  /// The timestamp is copied to a mirror before what it names.
  case timestampCopiedFirst
  /// A version is given a second time.
  case versionGivenTwice
  /// After a fast-forward attack the key is added to and not replaced.
  case fastForwardedKeyStays
  /// A device takes its cache for one of the newest root, and so does not drop it after the key was taken away.
  case cacheTakenForNewer
  /// A device's clock was ahead by years when it last refreshed.
  case clockWasAhead
  /// The publisher put an older timestamp back than devices have seen.
  case publisherRolledBack
}
