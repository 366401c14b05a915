/// What a drill plays. The raw value is the `id` in reports, and does not change once published.
package enum DrillScenario: String, CaseIterable, Sendable {
  // The published bytes, unmodified.
  case rootChain = "root-chain"
  case keyIDs = "key-ids"
  case keyMembers = "key-members"
  case cascade = "cascade"
  case renewal = "renewal"
  case catalog = "catalog"
  case replayFresh = "replay-fresh"
  case replayCached = "replay-cached"
  case replayFastForwarded = "replay-fast-forwarded"
  case replayOffline = "replay-offline"
  // The same structure with throw-away keys.
  case rotation
  case rotationOverlap = "rotation-overlap"
  case keyLoss = "key-loss"
  case compromise
  case compromiseBelowThreshold = "compromise-below-threshold"
  case compromiseRootThreshold = "compromise-root-threshold"
  case expiry
  case returnAfterYears = "return-after-years"
  case missedRoot = "missed-root"
  case publisherCrash = "publisher-crash"
  case interruptedUpload = "interrupted-upload"
  case laggingMirror = "lagging-mirror"
  case fastForward = "fast-forward"

  /// Whether it looks at the published bytes themselves.
  package var isReplay: Bool { Self.replays.contains(self) }

  private static let replays: Set<DrillScenario> = [
    .rootChain, .keyIDs, .keyMembers, .cascade, .renewal, .catalog, .replayFresh, .replayCached, .replayFastForwarded, .replayOffline,
  ]

  package var title: String {
    switch self {
    case .rootChain: "Every root is there"
    case .keyIDs: "Every key id is that of its key"
    case .keyMembers: "No key is described anew"
    case .cascade: "Whatever names a file names its newest version"
    case .renewal: "Everything is renewed in time"
    case .catalog: "Every model of the list is found"
    case .replayFresh: "A fresh device"
    case .replayCached: "A device that is up to date"
    case .replayFastForwarded: "A device whose cache was fast-forwarded"
    case .replayOffline: "A device that was offline for years"
    case .rotation: "The keys of a role are replaced at once"
    case .rotationOverlap: "The keys of a role are replaced with an overlap"
    case .keyLoss: "One key is lost"
    case .compromise: "As many keys as a role needs are stolen"
    case .compromiseBelowThreshold: "One key fewer than a role needs is stolen"
    case .compromiseRootThreshold: "As many root keys as root needs are stolen"
    case .expiry: "A role expires, and is renewed a day late"
    case .returnAfterYears: "Devices come back after five years"
    case .missedRoot: "A mirror misses a root"
    case .publisherCrash: "The publisher crashes between two files"
    case .interruptedUpload: "An upload stops between two files"
    case .laggingMirror: "A mirror lags behind"
    case .fastForward: "A thief uses up the version numbers"
    }
  }

  /// What is played, and what it guards against.
  package var summary: String {
    switch self {
    case .rootChain: "The walk must work from every root that an app ever shipped: no version may be missing."
    case .keyIDs: "A wrong key id in a rotated root has broken other clients. Each is computed anew."
    case .keyMembers: "A key type that was renamed in a new root has broken other clients. The same key must look the same in every root."
    case .cascade: "After one role was renewed, those above it must be signed again, or no device sees it."
    case .renewal: "An expired root took a fleet offline. What is published must last until it is sure to have been renewed."
    case .catalog: "What a team listed goes with the team, and the list of models would go on naming it."
    case .replayFresh: "An app that ships one of the published roots refreshes for the first time, from the published bytes."
    case .replayCached: "The same app has refreshed from these very bytes before."
    case .replayFastForwarded:
      "A thief of the timestamp key made the device trust the highest version that there is. Only a root that takes that key away helps."
    case .replayOffline: "The same app last refreshed when its root was the newest, years ago: all that it kept has expired."
    case .rotation: "The new root lists other keys for the role, and everything is signed anew. Devices of every age must follow."
    case .rotationOverlap: "First the new keys are added, later the old ones taken away. In between, either alone must do."
    case .keyLoss: "Every single key is lost once. The others must be able to sign without it, or to replace it."
    case .compromise: "After the rotation no device that refreshed may accept what the stolen keys sign, and nobody else may be cut off."
    case .compromiseBelowThreshold: "The thief signs what he likes. No device may accept it."
    case .compromiseRootThreshold: "The thief can name new keys. This has no cure in band: devices need an update of the app."
    case .expiry: "Up to its expiry devices refresh, from then on they refuse with a clear error, and what is installed goes on working."
    case .returnAfterYears: "Five yearly roots, each with the keys of one more role replaced. Devices of every age must follow all of them."
    case .missedRoot: "One mirror has a newer root and timestamp, but not the root between. It must recover, and a second mirror must do."
    case .publisherCrash: "The publisher's machine stops before each file of a publication and of a rotation, and the work is begun again."
    case .interruptedUpload:
      "The same files are copied to a mirror one by one, the timestamp last, and the copying stops after each of them."
    case .laggingMirror: "A mirror is a publication behind. Versions must never go down, and no mirror may freeze devices for long."
    case .fastForward:
      "The thief of a role's keys signs the highest version that there is. Replacing the keys must bring every device back."
    }
  }
}
