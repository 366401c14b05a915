internal import ManifestSigning
internal import ManifestVerifier
internal import TUFMetadata

/// A publisher, or an upload, that is cut off in the middle.
extension Rehearsal {
  /// A piece of the publisher's work.
  enum Work: Equatable {
    /// What is due is signed again.
    case publication
    /// The keys of a role are replaced.
    case rotation(TopLevelRole)

    var name: String {
      switch self {
      case .publication: "a publication"
      case .rotation(let role): "a rotation of \(role)"
      }
    }
  }

  var works: [Work] { [.publication] + TopLevelRole.allCases.map { .rotation($0) } }

  /// The publisher's machine stops before each file that is put in place, and the work is done again.
  func crash(in work: Work) throws(SimulationError) -> DrillFinding {
    let time = time(of: work)
    let before = try before(work)
    let after = try done(work)
    let goals = [DrillGoal(before), DrillGoal(after)]
    var found: [String] = []
    var count = 0
    var isFinished = false
    // Most places leave what another has left already: devices would see nothing else.
    var seen: Set<[[String: [UInt8]]]> = []
    while !isFinished {
      let staged = try stage(before)
      isFinished = try staged.run(untilPlacing: count) { (staged) throws(SimulationError) in try perform(work, on: staged) }
      var files = try staged.files()
      if faults.contains(.timestampOutlivesCrash), !isFinished {
        files[TopLevelRole.timestamp.fileName] = after.files[TopLevelRole.timestamp.fileName]
      }
      try staged.resume(after: before.root.version, with: keys(for: work), at: time) { () throws(SimulationError) in
        try perform(work, on: staged)
      }
      var resumed = before
      try adopt(&resumed, staged.files())
      let stop = "stopped after \(Words.count(count, "file"))"
      count += 1
      guard seen.insert([files, resumed.files]).inserted else { continue }
      var devices = self.devices
      for index in devices.indices {
        if let fault = devices[index].fault(at: time, from: SimulatedMirror(files), expecting: goals) { found.append("\(stop), \(fault)") }
      }
      found += faults(&devices, following: resumed, at: time).map { "\(stop), and the work done again: \($0)" }
    }
    return DrillFinding(
      .publisherCrash, role: work.name, device: words(devices),
      expected: "wherever it stops, each device sees the old state or the new one; once the work is done again, all follow",
      good: "so it was at \(Words.count(count, "place")); no device had to wait", faults: found)
  }

  /// The files are copied to a mirror, one by one, and the copying stops.
  func interruption(of work: Work) throws(SimulationError) -> DrillFinding {
    let time = time(of: work)
    let before = try before(work)
    let after = try done(work)
    let goals = [DrillGoal(before), DrillGoal(after)]
    let order = copied(before, after)
    var found: [String] = []
    var waitingPlaces = 0
    for count in 0...order.count {
      var files = before.files
      for path in faults.contains(.timestampCopiedFirst) ? order.suffix(count) : order.prefix(count) { files[path] = after.files[path] }
      var devices = self.devices
      var isWaiting = false
      for index in devices.indices {
        guard let fault = devices[index].fault(at: time, from: SimulatedMirror(files), expecting: goals) else { continue }
        if work == .publication || work == .rotation(.root) { found.append("stopped after \(Words.count(count, "file")), \(fault)") }
        isWaiting = true
      }
      if isWaiting { waitingPlaces += 1 }
      found += faults(&devices, following: after, at: time).map { "once all is copied: \($0)" }
    }
    let waits = waitingPlaces == 0 ? "no device had to wait" : "at \(waitingPlaces) of them devices have to wait until it goes on"
    return DrillFinding(
      .interruptedUpload, role: work.name, device: words(devices),
      expected: "nothing wrong is trusted, and all follow once everything is copied",
      good: "so it was at \(Words.count(order.count + 1, "place")); \(waits)", faults: found,
      outage: waitingPlaces == 0 ? .none : .openEnded("until the upload is complete; copy the whole folder at once to avoid it"))
  }

  // MARK: The work

  private func time(of work: Work) -> UTCTime { work == .publication ? dueTime(.targets, of: publisher) : now }

  /// What is published before the work: for a publication all that has a shorter life was renewed meanwhile, and targets is due.
  private func before(_ work: Work) throws(SimulationError) -> SimulatedPublisher {
    guard work == .publication else { return publisher }
    let time = time(of: work)
    var before = publisher
    try renewRoot(&before, at: time)
    before.snapshot.expires = time.adding(days: lifetimes[.snapshot] ?? 1)
    before.timestamp.expires = time.adding(days: lifetimes[.timestamp] ?? 1)
    before.snapshot.advance()
    before.timestamp.advance()
    try before.publish()
    return before
  }

  private func newKeys(_ work: Work) throws(SimulationError) -> [SimulatedKey] {
    if case .rotation(let role) = work { try newKeys(for: RehearsedRole(role), "crash") } else { [] }
  }

  private func keys(for work: Work) throws(SimulationError) -> [SimulatedKey] { allKeys(publisher) + (try newKeys(work)) }

  private func perform(_ work: Work, on staged: borrowing StagedRepository) throws(SimulationError) {
    switch work {
    case .publication: _ = try staged.refresh(with: keys(for: work), at: time(of: work))
    case .rotation(let role):
      let exchanged = pairs(RehearsedRole(role), try newKeys(work))
      try staged.rotate(.topLevel(role), exchanged, .replace, with: keys(for: work), at: time(of: work))
    }
  }

  /// What is published once the work is done.
  private func done(_ work: Work) throws(SimulationError) -> SimulatedPublisher {
    var after = try before(work)
    let staged = try stage(after)
    try perform(work, on: staged)
    try adopt(&after, staged.files())
    return after
  }

  /// The files in the order in which they are to be copied: whatever is named comes before what names it, the root right before the timestamp.
  private func copied(_ before: SimulatedPublisher, _ after: SimulatedPublisher) -> [String] {
    let changed = after.files.keys.filter { after.files[$0] != before.files[$0] }
    func rank(_ path: String) -> Int {
      switch path {
      case TopLevelRole.timestamp.fileName: 4
      case "\(after.root.version).root.json": 3
      case "\(after.snapshot.version).snapshot.json": 2
      case "\(after.targets.version).targets.json": 1
      default: 0
      }
    }
    return changed.sorted { (rank($0), $0) < (rank($1), $1) }
  }
}

extension DrillDevice {
  /// Refreshes, and has to come to one of several states.
  /// - Returns: in words what was otherwise; nil where nothing was.
  fileprivate mutating func fault(at now: UTCTime, from mirror: SimulatedMirror, expecting goals: [DrillGoal]) -> String? {
    do throws(SimulationError) {
      let manifest = try refresh(from: [mirror], at: now)
      // Between the root and the timestamp the old publication is seen under the new root.
      let isKnown = goals.contains { goal in
        goal.timestamp == manifest.timestamp.payload.version && goal.targets == manifest.targets.payload.version
      }
      return isKnown ? nil : "\(name): it trusts targets \(manifest.targets.payload.version)"
    } catch { return "\(name): \(error)" }
  }
}
