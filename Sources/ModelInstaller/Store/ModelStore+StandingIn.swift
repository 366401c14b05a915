package import ModelCatalog
internal import TUFMetadata

/// What is used of what is here, without asking anybody.
///
/// The active version serves whatever is known of it. Any other has to be listed as it was signed by the manifest that was trusted last, and, unless its variant is
/// named, to be known to be for the device: nothing is believed because a file beside it says so.
extension ModelStore {
  /// The active version where it is as signed; else what serves instead, which is read in full first. The record stays as it is: it tells what was
  /// signed of the active version, so that a repair brings that back. One that was asked for by name is not replaced.
  /// - Parameter trust: what was trusted last; nil where that can't be read, and nothing stands in.
  /// - Returns: nil where the request allows no active version.
  /// - Throws: what is wrong with the active version, where nothing serves instead.
  package func activeOrStandIn(
    _ request: ModelRequest, on device: Device, trust: KeptTrust?, isCancelled: () -> Bool
  ) throws(InstallationError) -> Installation.Outcome? {
    let record = try record(of: request.model)
    guard let active = record.active, request.allows(active) else { return nil }
    guard let fault = try fault(of: active, in: record, isCancelled: isCancelled) else { return .present(active, activated: false) }
    guard request.version == nil, let trust else { throw fault }
    let description = trust.description(of: request.model, in: self)
    // Nobody asked for another variant, which may be for another device.
    let candidates = record.entries.reversed().filter { $0.key != active && $0.key.variant == active.variant }
    for entry in candidates.filter({ $0.key == record.previous }) + candidates.filter({ $0.key != record.previous })
    where mayServe(entry, request, device, trust, description) {
      guard try self.fault(of: entry.key, in: record, isThorough: true, isCancelled: isCancelled) == nil else { continue }
      return .standIn(entry.key, instead: active, reason: fault)
    }
    throw fault
  }

  /// Makes an installed version active that a request allows, without asking anybody: the active one, or what stands in for it, else the one that
  /// was installed last, of the variant that is named, or else of the own one that is for the device.
  /// - Parameter trust: what was trusted last; where that can't be read only a version that is named becomes active.
  /// - Returns: nil where none is here, or only variants that nobody named and that may be for another device.
  /// - Throws: `withdrawn` where a version is asked for, or would have to become active, that is known to be withdrawn; `damaged`; `missing`.
  package func activateInstalled(
    _ request: ModelRequest, on device: Device, trust: KeptTrust?, isCancelled: () -> Bool
  ) throws(InstallationError) -> Installation.Outcome? {
    let model = request.model
    let record = try record(of: model)
    if let outcome = try activeOrStandIn(request, on: device, trust: trust, isCancelled: isCancelled) { return outcome }
    let description = trust?.description(of: model, in: self)
    let candidates = record.entries.filter { entry in
      guard request.allows(entry.key) else { return false }
      // Which variant was in use is not known where none is active.
      return record.active == nil || (request.variant ?? record.ownVariant) == entry.key.variant
    }
    var usable = candidates.reversed().filter { $0.withdrawal == nil && mayServe($0, request, device, trust, description) }
    // Of a record that names no active version any will do that is as signed.
    if record.active != nil { usable = Array(usable.prefix(1)) }
    var failure: InstallationError?
    for entry in usable {
      do throws(InstallationError) {
        let verified = try verify(entry, of: model, isCancelled: isCancelled)
        // From a store that can't be changed it serves all the same.
        if isChangeable { try activate(verified, of: model) }
        return .present(entry.key, activated: isChangeable)
      } catch {
        if error == .cancelled { throw error }
        failure = failure ?? error
      }
    }
    if let failure = failure ?? candidates.last?.withdrawalError(of: model) { throw failure }
    return nil
  }

  /// Whether an installed version that is not the active one may be used.
  /// - Parameter description: the one that is signed; nil where it is not here.
  private func mayServe(
    _ entry: ModelRecord.Entry, _ request: ModelRequest, _ device: Device, _ trust: KeptTrust?, _ description: ModelDescription?
  ) -> Bool {
    guard entry.withdrawal == nil, trust?.lists(entry) ?? (request.version != nil) else { return false }
    if let description {
      guard let version = description.versions.first(where: { $0.name == entry.key.version }), version.withdrawal == nil else {
        return false
      }
    }
    return request.variant != nil || audience(of: entry, description)?.includes(device) == true
  }

  /// For which devices an installed version is: as the signed description says, else as that did which was verified when it was noted.
  private func audience(of entry: ModelRecord.Entry, _ description: ModelDescription?) -> Audience? {
    description?.audience(of: entry.key) ?? entry.audience
  }

  /// What fits a device, held against the version that is used.
  package enum Fit: Equatable, Sendable {
    /// It is what the device would be given, as far as that can be told.
    case right
    /// The device is given another variant of this version, or none (nil). `isUsable` tells whether it could use the one that is here all the same.
    case other(variant: String?, isUsable: Bool)
    /// For which devices it is nobody knows here.
    case unknown
  }

  /// Whether an installed version is what a device would be given.
  /// - Parameter trust: what was trusted last, which is asked where the record does not do.
  ///   - isThorough: whether another variant that would fit better counts too.
  package func fit(
    of key: StoreKey, of model: ModelName, to device: Device, isThorough: Bool, trust: () -> KeptTrust?
  ) throws(InstallationError) -> Fit {
    guard let entry = try record(of: model)[key] else { return .unknown }
    if !isThorough, entry.audience?.includes(device) == true { return .right }
    let description = trust()?.description(of: model, in: self)
    guard let audience = audience(of: entry, description) else { return .unknown }
    let isUsable = audience.includes(device)
    guard let version = description?.versions.first(where: { $0.name == key.version }) else {
      return isUsable ? .right : .other(variant: nil, isUsable: false)
    }
    let best = VariantChoice.best(of: version, on: device)
    return best?.name == key.variant ? .right : .other(variant: best?.name.description, isUsable: isUsable)
  }

  /// What serves where a mirror failed before it was known what is signed now, and there is no active version that is as signed: what would without a
  /// network. It becomes active, as where a file of the newest version could not be fetched.
  /// - Parameter error: why nothing newer can be had.
  /// - Returns: nil where the active version is as signed, or nothing serves.
  package func standIn(
    for error: InstallationError, _ request: ModelRequest, on device: Device, trust: KeptTrust?, isCancelled: () -> Bool
  ) throws(InstallationError) -> Installation.Outcome? {
    guard error.isOfTransfer, request.version == nil, let trust else { return nil }
    let found: Installation.Outcome?
    do throws(InstallationError) { found = try activateInstalled(request, on: device, trust: trust, isCancelled: isCancelled) } catch {
      if error == .cancelled { throw error }
      return nil
    }
    switch found {
    case .standIn(let key, let instead, _)?:
      if let entry = try record(of: request.model)[key] { try activate(entry, of: request.model) }
      return .standIn(key, instead: instead, reason: error)
    case .present(_, activated: true)?: return found
    default: return nil
    }
  }
}
