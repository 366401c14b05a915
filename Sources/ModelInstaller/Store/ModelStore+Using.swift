package import ModelCatalog
internal import TUFMetadata

extension ModelStore {
  /// The folder that holds an installed version's files.
  package func folderPath(of key: StoreKey, _ model: ModelName) -> String { shown(key.segments(of: model)) }

  /// Whether the active version is one that a request allows, and the very one that was verified: then there is nothing to do.
  package func activeSatisfying(_ request: ModelRequest) throws(InstallationError) -> Installation.Outcome? {
    guard let active = try record(of: request.model).activeEntry, request.allows(active.key),
      (try? isUnchanged(active, of: request.model)) == true
    else { return nil }
    return .present(active.key, activated: false)
  }

  /// What is wrong with a version that a record names. Its files are read, unless they are the very ones that were verified.
  /// - Parameter isThorough: whether they are read in any case.
  /// - Returns: nil where it is as signed. That it was withdrawn comes before what else is wrong with it, which no repair mends then.
  func fault(
    of key: StoreKey, in record: ModelRecord, isThorough: Bool = false, isCancelled: () -> Bool
  ) throws(InstallationError) -> InstallationError? {
    let model = record.model
    guard let entry = record[key] else {
      return .model(.contradictoryRecord(model: model.description, version: key.description, isActive: key == record.active))
    }
    let verified: ModelRecord.Entry
    do throws(InstallationError) {
      if !isThorough, try isUnchanged(entry, of: model) { return nil }
      verified = try verify(entry, of: model, isCancelled: isCancelled)
    } catch {
      if error == .cancelled { throw error }
      return entry.withdrawalError(of: model) ?? error
    }
    if isChangeable { try write(replacing: verified, in: model) }
    return nil
  }

  /// What is missing of the active version and of the way back, and what a record that was written says of them that can't be. No file is read.
  package func losses(of record: ModelRecord) -> [(isActive: Bool, error: InstallationError)] {
    var losses: [(isActive: Bool, error: InstallationError)] = []
    if record.active == nil { losses.append((true, record.withoutActive)) }
    for (key, isActive) in [(record.active, true), (record.previous, false)] {
      guard let key else { continue }
      guard let entry = record[key], isActive || key != record.active else {
        let error = ModelError.contradictoryRecord(model: record.model.description, version: key.description, isActive: isActive)
        losses.append((isActive, .model(error)))
        continue
      }
      // One that was withdrawn is not brought back, and no way back either.
      let withdrawn = entry.withdrawalError(of: record.model)
      guard isActive || withdrawn == nil, missingPath(of: entry, record.model) != nil else { continue }
      let lost = missing(entry, record.model)
      losses.append((isActive, withdrawn ?? lost))
    }
    return losses
  }

  /// Whether every file of an installed version is what was signed. Those are read that are not the very ones that were verified: after a copy of
  /// the store, or a crash, that tells nothing of their content.
  package func isIntact(_ entry: ModelRecord.Entry, of model: ModelName, isCancelled: () -> Bool) throws(InstallationError) -> Bool {
    for file in entry.files {
      do throws(InstallationError) {
        guard let usable = try use(file, of: entry, model, isCancelled: isCancelled) else { return false }
        _ = consume usable
      } catch {
        if error == .cancelled { throw error }
        return false
      }
    }
    return true
  }

  /// Whether the description that was fetched last, for which nobody vouches, withdraws every version: good for a hint.
  package func seemsAllWithdrawn(_ model: ModelName) -> Bool {
    whatDescriptionSays(of: model)?.versions.allSatisfy { $0.withdrawal != nil } ?? false
  }

  /// What reading every file came to.
  package struct Checked {
    package let intact: [ModelRequest]
    /// Active versions first: no other one's repair, should it fail, keeps them from theirs.
    package let damaged: [(request: ModelRequest, error: InstallationError)]
    /// What is not repaired: a model whose record can't be read, or a version whose place somebody has to make free first.
    package let refused: [(what: String, error: InstallationError)]
  }

  /// - Throws: where nothing that is installed is meant, or its record can't be read.
  private func requireKnown(_ request: ModelRequest, _ lost: [ModelName]) throws(InstallationError) {
    let record = try record(of: request.model)
    let known = record.entries.map(\.key)
    guard !known.isEmpty || record.active != nil else {
      if lost.contains(request.model) { throw .model(.noRecord(model: request.model.description)) }
      throw .model(.notInstalled(model: request.model.description, version: nil))
    }
    // One that the record names as active, and does not know, is told where no version is named.
    let named = request.version == nil ? known + [record.active].compactMap { $0 } : known
    guard !named.contains(where: request.allows) else { return }
    throw .model(.notAmongInstalled(request: request.description, known: known.map(\.description)))
  }

  /// Reads every file that is installed.
  /// - Parameter requests: which models and versions; all where there are none.
  /// - Returns: what is as signed, and what is not, each as a request for exactly that variant.
  /// - Throws: also what keeps the only request from meaning anything; of several that is among the refused.
  package func findDamaged(
    _ requests: [ModelRequest], isCancelled: () -> Bool
  ) throws(InstallationError) -> Checked {
    var intact: [ModelRequest] = []
    var damaged: [(request: ModelRequest, error: InstallationError)] = []
    var activeCount = 0
    var refused: [(what: String, error: InstallationError)] = []
    let lost = try modelsWithoutRecord()
    for request in requests {
      do throws(InstallationError) { try requireKnown(request, lost) } catch {
        // One that is asked for beside others keeps nothing from them.
        guard requests.count > 1 else { throw error }
        refused.append((request.description, error))
      }
    }
    let unknown = Set(refused.map(\.what))
    if requests.isEmpty { refused += lost.map { ($0.description, .model(.noRecord(model: $0.description))) } }
    for (model, record) in try records() {
      let own = requests.filter { $0.model == model && !unknown.contains($0.description) }
      guard requests.isEmpty || !own.isEmpty else { continue }
      let known: ModelRecord
      do throws(InstallationError) { known = try record.get() } catch {
        refused.append((model.description, error))
        continue
      }
      let isWanted = { (key: StoreKey) in requests.isEmpty || own.contains { $0.allows(key) } }
      // What was signed of a version that it does not know nobody here knows.
      for (isActive, error) in losses(of: known) {
        guard case .model(.contradictoryRecord) = error, !known.entries.isEmpty || known.active != nil,
          (isActive ? known.active : known.previous).map(isWanted) ?? true
        else { continue }
        refused.append((model.description, error))
      }
      for entry in known.entries where isWanted(entry.key) {
        let request = ModelRequest(model: model, version: entry.key.version, variant: entry.key.variant)
        do throws(InstallationError) {
          try write(replacing: verify(entry, of: model, isCancelled: isCancelled), in: model)
          try discardStaging(of: entry.key, of: model)
          intact.append(request)
        } catch {
          switch error {
          case .cancelled: throw error
          // What stands above its own folder is somebody's doing: nothing that is fetched could be put in place.
          case .model(.foreign): refused.append((request.description, error))
          // One that was withdrawn too: its publisher may have taken that back.
          case .model:
            let isActive = entry.key == known.active
            damaged.insert((request, error), at: isActive ? activeCount : damaged.count)
            activeCount += isActive ? 1 : 0
          default: refused.append((request.description, error))
          }
        }
      }
    }
    return Checked(intact: intact, damaged: damaged, refused: refused)
  }

  /// Notes by what a version's files are known now.
  private func write(replacing entry: ModelRecord.Entry, in model: ModelName) throws(InstallationError) {
    var record = try record(of: model)
    guard record[entry.key] != entry else { return }
    record[entry.key] = entry
    try write(record)
  }
}
