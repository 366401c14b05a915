package import ModelCatalog
internal import TUFMetadata

extension ModelStore {
  /// The folder that holds an installed version's files.
  package func folderPath(of key: StoreKey, _ model: ModelName) -> String { shown(key.segments(of: model)) }

  /// Whether the active version is one that a request allows, and as it was signed: then there is nothing to do, and nothing to write.
  /// - Parameter isReading: whether files are read that are not the very ones that were verified.
  package func activeSatisfying(
    _ request: ModelRequest, isReading: Bool = false, isCancelled: () -> Bool = { false }
  ) throws(InstallationError) -> Installation.Outcome? {
    guard let active = try record(of: request.model).activeEntry, request.version == nil || request.version == active.key.version,
      request.variant == nil || request.variant == active.key.variant,
      try isReading ? isIntact(active, of: request.model, isCancelled: isCancelled) : isUnchanged(active, of: request.model)
    else { return nil }
    return .present(active.key, activated: false)
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

  /// Makes an installed version active that a request allows, without asking anybody: the active one, else the one that was installed last.
  /// - Returns: nil where none is here.
  /// - Throws: `withdrawn` where a version is asked for, or would have to become active, that is known to be withdrawn; `damaged`.
  package func activateInstalled(
    _ request: ModelRequest, isCancelled: () -> Bool
  ) throws(InstallationError) -> Installation.Outcome? {
    let model = request.model
    let record = try record(of: model)
    let candidates = record.entries.filter { entry in
      (request.version == nil || entry.key.version == request.version) && (request.variant == nil || entry.key.variant == request.variant)
    }
    if let active = candidates.first(where: { $0.key == record.active }) {
      if try !isUnchanged(active, of: model) { try write(replacing: verify(active, of: model, isCancelled: isCancelled), in: model) }
      return .present(active.key, activated: false)
    }
    guard let entry = candidates.last(where: { $0.withdrawal == nil }) ?? candidates.last else { return nil }
    if let reason = entry.withdrawal {
      throw .model(.withdrawn(model: model.description, version: entry.key.version.description, reason: reason))
    }
    try activate(try verify(entry, of: model, isCancelled: isCancelled), of: model)
    return .present(entry.key, activated: true)
  }

  /// What reading every file came to.
  package struct Checked {
    package let intact: [ModelRequest]
    package let damaged: [(request: ModelRequest, error: InstallationError)]
    /// What is not repaired: a model whose record can't be read, or a damaged version that its publisher withdrew.
    package let refused: [(what: String, error: InstallationError)]
  }

  /// Reads every file that is installed.
  /// - Parameter requests: which models and versions; all where there are none.
  /// - Returns: what is as signed, and what is not, each as a request for exactly that variant.
  package func findDamaged(
    _ requests: [ModelRequest], isCancelled: () -> Bool
  ) throws(InstallationError) -> Checked {
    var intact: [ModelRequest] = []
    var damaged: [(request: ModelRequest, error: InstallationError)] = []
    for request in requests where try record(of: request.model).entries.isEmpty {
      throw .model(.notInstalled(model: request.model.description, version: nil))
    }
    var refused: [(what: String, error: InstallationError)] = []
    for (model, record) in try records() {
      let own = requests.filter { $0.model == model }
      guard requests.isEmpty || !own.isEmpty else { continue }
      let entries: [ModelRecord.Entry]
      do throws(InstallationError) { entries = try record.get().entries } catch {
        refused.append((model.description, error))
        continue
      }
      for entry in entries {
        let isWanted = own.contains { request in
          (request.version == nil || request.version == entry.key.version)
            && (request.variant == nil || request.variant == entry.key.variant)
        }
        guard requests.isEmpty || isWanted else { continue }
        let request = ModelRequest(model: model, version: entry.key.version, variant: entry.key.variant)
        do throws(InstallationError) {
          try write(replacing: verify(entry, of: model, isCancelled: isCancelled), in: model)
          try discardStaging(of: entry.key, of: model)
          intact.append(request)
        } catch {
          guard case .model = error else { throw error }
          guard let reason = entry.withdrawal else {
            damaged.append((request, error))
            continue
          }
          let withdrawn = ModelError.withdrawn(model: model.description, version: entry.key.version.description, reason: reason)
          refused.append((request.description, .model(withdrawn)))
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
