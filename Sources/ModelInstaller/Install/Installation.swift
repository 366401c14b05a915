internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
internal import ModelFormats
internal import TUFMetadata

/// Installs one variant into a store: what is here is verified and used, what is missing is fetched, and only when every file is in place, on
/// the disk itself, and accepted by the caller does the version become active. Until then everything is as it was.
package struct Installation {
  package enum Outcome: Equatable, Sendable {
    /// It was there already, and unchanged; whether it had to be made the active one.
    case present(StoreKey, activated: Bool)
    case installed(StoreKey)
    /// It could not be fetched, and another version that is here serves in its place.
    case standIn(StoreKey, instead: StoreKey, reason: InstallationError)
  }

  let store: ModelStore
  let lookup: ModelLookup
  let context: DownloadContext
  /// Whether files that are there are read and not believed, as a repair does.
  let isRepair: Bool
  /// Whether nothing may be fetched.
  let isOffline: Bool

  private var model: ModelName { lookup.request.model }
  private var key: StoreKey { lookup.key }

  package init(_ lookup: ModelLookup, into store: ModelStore, _ context: DownloadContext, isRepair: Bool = false, isOffline: Bool = false) {
    (self.store, self.lookup, self.context) = (store, lookup, context)
    (self.isRepair, self.isOffline) = (isRepair, isOffline)
  }

  /// Runs it to its end.
  /// - Parameter check: the caller's own: gets the path of the folder that holds the files under their names; what it throws keeps the version
  ///   from becoming active.
  package func run(check: (_ folder: String) throws(InstallationError) -> Void) throws(InstallationError) -> Outcome {
    var record = try store.record(of: model)
    record.add(unrecorded: lookup.unrecorded)
    context.report(.state(.checking))
    guard store.isChangeable else { return try serve(record) }
    if !isRepair, let entry = record[key], isCurrent(entry), let intact = try intact(entry) {
      try store.discardStaging(of: key, of: model)
      try finishPresent(intact, wasActive: record.active == key && intact == entry, check)
      return .present(key, activated: record.active != key)
    }
    try store.requireWay(to: key, of: model)
    let assembly = try Assembly(lookup, in: store, context)
    do throws(InstallationError) {
      try assembly.useWhatIsHere()
      if !isOffline { try assembly.countGoodSegments() }
      let needs = try assembly.needs()
      context.report(.planned(try InstallPlan(lookup, in: store, missing: assembly.missing, needs, present: assembly.presentByteCount)))
      if let shortage = needs.spaces.lazy.compactMap(\.shortage).first {
        // On a disk that is too full nothing stays of a model of which nothing is here.
        if record.entries.isEmpty { try? store.forgetDescription(of: model) }
        throw InstallationError.model(shortage)
      }
      if !assembly.missing.isEmpty, isOffline {
        throw missingOffline("\(assembly.missing[0].path)")
      }
      context.report(.state(.downloading))
      for file in assembly.missing {
        guard !context.isCancelled() else { throw InstallationError.cancelled }
        try assembly.fetch(file)
      }
    } catch {
      guard let standIn = try standIn(for: error, record) else { throw error }
      return .standIn(standIn, instead: key, reason: error)
    }
    context.report(.state(.verifying))
    try assembly.finish()
    guard !context.isCancelled() else { throw .cancelled }
    try check(assembly.path)
    let entry = try assembly.entryAfterCheck()
    context.report(.state(.ready))
    guard !context.isCancelled() else { throw .cancelled }
    // What was repaired stays what it was.
    let isActive = !isRepair || record.active == key
    if isActive { context.report(.state(.activating)) }
    try store.place(key, of: model)
    try store.activate(entry, of: model, makingActive: !isRepair, unrecorded: lookup.unrecorded)
    try store.emptyTrash()
    if isActive { context.report(.state(.active)) }
    return .installed(key)
  }

  /// What is here serves as it is from a store that can't be changed.
  private func serve(_ record: ModelRecord) throws(InstallationError) -> Outcome {
    if let entry = record[key], isCurrent(entry), try intact(entry) != nil { return .present(key, activated: false) }
    let error = missingOffline("\(key)")
    guard let standIn = try standIn(for: error, record) else { throw error }
    return .standIn(standIn, instead: key, reason: error)
  }

  private func missingOffline(_ detail: String) -> InstallationError {
    .model(.missingOffline(model: lookup.request.description, detail: detail))
  }

  /// Repairs one version after another: what goes wrong with one keeps no other from its repair, be it its server, its publisher or the disk.
  /// - Parameter repaired: is told of each that is in order again.
  /// - Returns: those that are not, and why.
  /// - Throws: `cancelled`.
  package static func repair(
    _ lookups: [ModelLookup], in store: ModelStore, _ context: DownloadContext, repaired: (ModelRequest) -> Void
  ) throws(InstallationError) -> [(what: String, error: InstallationError)] {
    var refused: [(what: String, error: InstallationError)] = []
    for lookup in lookups {
      do throws(InstallationError) {
        _ = try Installation(lookup, into: store, context, isRepair: true).run { _ in }
        repaired(lookup.request)
      } catch {
        if error == .cancelled { throw error }
        refused.append((lookup.request.description, error))
      }
    }
    return refused
  }

  /// Whether an installed version is what is signed now: a publisher can replace files under an unchanged name.
  private func isCurrent(_ entry: ModelRecord.Entry) -> Bool {
    entry.files.count == lookup.files.count
      && zip(entry.files, lookup.files).allSatisfy { $0.path == $1.path && $0.name == $1.name && $0.target == $1.target }
  }

  /// An installed version that is as it was verified, or that reading it shows to be so.
  private func intact(_ entry: ModelRecord.Entry) throws(InstallationError) -> ModelRecord.Entry? {
    if try store.isUnchanged(entry, of: model) { return entry }
    do throws(InstallationError) { return try store.verify(entry, of: model, isCancelled: context.isCancelled) } catch {
      guard case .model = error else { throw error }
      return nil
    }
  }

  private func finishPresent(
    _ entry: ModelRecord.Entry, wasActive: Bool, _ check: (_ folder: String) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    if !wasActive {
      do throws(InstallationError) { try check(store.shown(key.segments(of: model))) } catch {
        // It stays installed, and may be gone back to.
        _ = try? store.restore(entry, of: model, isCancelled: context.isCancelled)
        throw error
      }
      let checked = try store.restore(entry, of: model, isCancelled: context.isCancelled)
      context.report(.state(.activating))
      try store.activate(checked, of: model, unrecorded: lookup.unrecorded)
    }
    context.report(.state(.active))
  }

  /// Finds what serves where a transfer failed: a complete version of the same variant that may still be used. A version that was asked for by
  /// name is not replaced by another.
  private func standIn(for error: InstallationError, _ record: ModelRecord) throws(InstallationError) -> StoreKey? {
    switch error {
    case .transport, .served, .model(.gated), .model(.noRepository), .model(.invalidToken), .model(.moved), .model(.wrongBeginning),
      .model(.missingOffline):
      break
    default: return nil
    }
    guard lookup.request.version == nil, !isRepair else { return nil }
    for candidate in lookup.standIns {
      guard let entry = record[candidate], let verified = try? store.verify(entry, of: model, isCancelled: context.isCancelled) else {
        continue
      }
      if store.isChangeable, record.active != candidate || verified != entry {
        try store.activate(verified, of: model, unrecorded: lookup.unrecorded)
      }
      return candidate
    }
    return nil
  }
}
