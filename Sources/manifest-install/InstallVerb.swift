internal import CommandFailures
internal import CommandLineSupport
internal import DeviceCommands
internal import ModelCatalog
internal import ModelInstaller
internal import TUFMetadata

enum InstallVerb {
  private static let rehearse = Option.flag(
    "--dry-run",
    "Tell the variant, what would be fetched, and the disk space it takes, and fail where there is too little; change nothing. Asks the mirrors, so "
      + "not with --offline.")
  private static let offline = Option.flag("--offline", "Use what is here; contact nobody. Not with --dry-run.")
  private static let check = Option.value(
    "--check", "COMMAND",
    "Run this in a shell once all is verified; unless it ends with 0 the version does not become active. MODEL_FOLDER names the folder of its files; MODEL, "
      + "MODEL_VERSION and MODEL_VARIANT what it is.")

  static let verb = Verb(
    "install", "Install a model: fetch, verify and activate it.",
    arguments: [StoreOptions.model],
    options: ModelSession.options + [StoreOptions.platform, StoreOptions.architecture, StoreOptions.runtime, check, rehearse, offline],
    conflicts: [[rehearse.name, offline.name]],
    discussion: [
      "Takes the newest version that is not withdrawn and has a variant for this device, and of its variants the exact architecture's first, then the "
        + "platform's general one. Newer versions that have none are named.",
      "What is on this disk already is verified and used: an interrupted download goes on, and a file that another version has is not fetched again. The "
        + "space that is needed is known before the first byte is fetched.",
      "Every file is verified while it arrives; the version appears in the store as a whole, and becomes active only then. Until then, and whatever "
        + "goes wrong, the version that was active stays so. It is kept as the way back: see rollback.",
      "With --offline the active version serves; where it is damaged or missing, another one of the same variant that is here, once all of it was read and found to "
        + "be as signed. The output says so, and repair brings the active one back. It "
        + "says too where the active variant is not the one for the device that is named, or can't be used on this one.",
      "Where a newer version can't be fetched, a complete copy of the same variant serves that is here, still signed, not withdrawn, and for this device; the output says so. "
        + "So it does for an active version that is damaged or missing where no mirror has newer metadata to give; metadata that expired or that can't be trusted is told, and no other version made active. "
        + "A version that is named is not replaced so.",
      Network.discussion, Hub.discussion, MirrorOptions.discussion,
      "With --json: one object a line, events and last the result: {\"model\",\"version\",\"variant\",\"status\",\"folder\"…}, and of another variant than the "
        + "device's \"device\" and \"variant_for_device\". The status is installed, activated "
        + "(it was here already), present, stand-in or, of a rehearsal, planned.",
    ],
    exitCodes: [
      .signature, .expiredOrRolledBack, .fileMismatch, .network, .disk, .locked, .malformed, .nothingForDevice, .found,
    ],
    examples: [
      .init("manifest-install install org/name", "the newest version, for this device"),
      .init("manifest-install install org/name@1.2:q4 --dry-run", "what it would take"),
      .init("manifest-install install org/name --check 'my-app --try \"$MODEL_FOLDER\"'", "only if the app can use it"),
    ],
    hasEvents: true, run: GivenOptions.remembering(run))

  private static func run(_ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let request = try StoreOptions.request(invocation.required(StoreOptions.model.name))
    let device = try StoreOptions.device(invocation)
    let path = try StoreOptions.folder(invocation)
    if invocation.flag(rehearse.name) { return try rehearse(request, device, path, invocation, output) }
    let isOffline = invocation.flag(offline.name)
    if isOffline, let store = try ModelStore.reading(path), let outcome = try store.activeSatisfying(request) {
      try show(outcome, of: request.model, in: store, output)
      try tellMisfit(of: outcome, request, device, invocation, in: store, output)
      return .done
    }
    // Before a store is made: a command line that can't work leaves nothing behind.
    let prepared = isOffline ? nil : try ModelSession(invocation, output)
    let store: ModelStore
    do { store = try ModelStore.changing(path, staging: invocation.value(StoreOptions.staging.name)) } catch {
      // What can't be changed can be used all the same.
      guard error.forbidsWriting, let readable = try ModelStore.reading(path) else { throw error }
      guard isOffline else { throw try explaining(error, request, readable) }
      store = readable
    }
    if isOffline, let outcome = try useInstalled(request, device, invocation, store) {
      try show(outcome, of: request.model, in: store, output)
      try tellMisfit(of: outcome, request, device, invocation, in: store, output)
      return .done
    }
    let session = try prepared ?? ModelSession(invocation, output)
    defer { session.progress.finish() }
    if !isOffline { try StoreOptions.tellLosses(of: request.model, in: store) { session.context.report(.warning($0)) } }
    let found: ModelLookup.Outcome
    do {
      found =
        isOffline
        ? try session.lookUpOffline(request, in: store, device: device) : try session.lookUp([request], in: store, device: device)[0]
    } catch {
      if !isOffline, let outcome = try standIn(for: error, request, device, invocation, store) {
        session.progress.finish()
        let unseen = "nothing newer can be had, so that withdrawals may go unseen"
        // What stands in tells by itself why.
        let isTold = if case .standIn = outcome { true } else { false }
        output.warning("\(unseen)\(isTold ? "" : ": " + Failure(explainingInstallation: error).description)")
        try show(outcome, of: request.model, in: store, output)
        return .done
      }
      warnOfWithdrawnActive(request.model, store, output)
      throw try explaining(error, request, store)
    }
    let outcome: Installation.Outcome
    do {
      let lookup = try chosen(found)
      outcome = try Installation(lookup, into: store, session.context, isOffline: isOffline).run { folder throws(InstallationError) in
        try runCheck(invocation, lookup, folder)
      }
    } catch {
      warnOfWithdrawnActive(request.model, store, output)
      throw try explaining(error, request, store)
    }
    session.progress.finish()
    try show(outcome, of: request.model, in: store, output)
    return .done
  }

  private static func chosen(_ outcome: ModelLookup.Outcome) throws -> ModelLookup {
    switch outcome {
    case .found(let lookup): return lookup
    case .nothing(let nothing): throw InstallationError.model(.nothingForDevice(nothing))
    }
  }

  private static func rehearse(
    _ request: ModelRequest, _ device: Device, _ path: String, _ invocation: Invocation, _ output: Output
  ) throws -> ExitCode {
    let store = try ModelStore.reading(path)
    let session = try ModelSession(invocation, output)
    let found = try session.lookUp([request], in: store, device: device)[0]
    session.progress.finish()
    let plan = try InstallPlan(rehearsing: chosen(found), in: store, at: path, staging: invocation.value(StoreOptions.staging.name))
    output.line("\(plan.model)@\(plan.version):\(plan.variant)", style: .heading)
    let kind = [plan.format, plan.quantisation].compactMap { $0 }.joined(separator: ", ")
    if !kind.isEmpty { output.line("Format:     \(kind)") }
    output.line("Licence:    \(plan.licence)")
    output.line("Download:   \(HumanReadable.bytes(plan.downloadByteCount)) of \(HumanReadable.bytes(plan.byteCount))")
    output.line("Disk:       \(HumanReadable.bytes(plan.diskByteCount)) more than now; what is installed stays")
    for space in plan.space {
      output.line(
        "Space:      \(HumanReadable.bytes(space.neededByteCount)) needed, \(HumanReadable.bytes(space.freeByteCount)) free: \(space.path)")
    }
    let lacks = plan.isInstalled && plan.files.contains { $0.present < $0.byteCount } ? ", but not all of it is here" : ""
    output.line("Installed:  \(plan.isActive ? "yes, and active" : plan.isInstalled ? "yes" : "no")\(lacks)")
    output.report("model", .string(plan.model))
    output.report("version", .string(plan.version))
    output.report("variant", .string(plan.variant))
    output.report("status", "planned")
    output.report("installed", .bool(plan.isInstalled))
    output.report("active", .bool(plan.isActive))
    output.report("download", .integer(plan.downloadByteCount))
    output.report("disk", .integer(plan.diskByteCount))
    output.report("bytes", .integer(plan.byteCount))
    output.report(
      "space",
      .array(
        plan.space.map { ["path": .string($0.path), "needed": .integer($0.neededByteCount), "free": .integer($0.freeByteCount)] }))
    output.report(
      "files",
      .array(
        plan.files.map { ["path": .string($0.path), "bytes": .integer($0.byteCount), "present": .integer($0.present)] }))
    if let shortage = plan.space.lazy.compactMap(\.shortage).first { throw InstallationError.model(shortage) }
    return .done
  }

  /// Uses an installed version without asking anybody: what is installed never depends on metadata that is reachable or fresh.
  private static func useInstalled(
    _ request: ModelRequest, _ device: Device, _ invocation: Invocation, _ store: ModelStore
  ) throws -> Installation.Outcome? {
    do throws(InstallationError) {
      let trust = try? ModelSession.keptTrust(invocation)
      return try store.activateInstalled(request, on: device, trust: trust, isCancelled: { Interruption.isRequested })
    } catch {
      throw StoreOptions.failure(of: error, in: store, isOffline: true)
    }
  }

  /// What serves where no newer metadata, or not the model's description, could be had.
  private static func standIn(
    for error: any Error, _ request: ModelRequest, _ device: Device, _ invocation: Invocation, _ store: ModelStore
  ) throws -> Installation.Outcome? {
    guard let error = error as? InstallationError else { return nil }
    let trust = try? ModelSession.keptTrust(invocation)
    return try store.standIn(for: error, request, on: device, trust: trust, isCancelled: { Interruption.isRequested })
  }

  /// Says that what is used is not what a device would be given: where the device can't use it, or another one was asked for.
  private static func tellMisfit(
    of outcome: Installation.Outcome, _ request: ModelRequest, _ device: Device, _ invocation: Invocation, in store: ModelStore,
    _ output: Output
  ) throws {
    guard request.variant == nil, case .present(let key, _) = outcome else { return }
    let fit = try store.fit(of: key, of: request.model, to: device, isThorough: StoreOptions.namesDevice(invocation)) {
      try? ModelSession.keptTrust(invocation)
    }
    switch fit {
    case .right: return
    case .unknown:
      output.warning("whether the active variant \(key.variant) is for \(device) can't be told: no signed description of it is here")
    case .other(let variant, _):
      let choice = variant.map { "that is \($0), to be asked for as \(request.model)@\(key.version):\($0)" } ?? "none for it is known here"
      output.warning("the active variant \(key.variant) is used, which is not the one for \(device): \(choice)")
      output.report("variant_for_device", .optional(variant))
    }
    output.report("device", .string(device.description))
  }

  private static func runCheck(_ invocation: Invocation, _ lookup: ModelLookup, _ folder: String) throws(InstallationError) {
    guard let command = invocation.value(check.name) else { return }
    let (model, version) = (lookup.request.model.description, lookup.key.version.description)
    let end = ShellCommand(command).run([
      "MODEL_FOLDER": folder, "MODEL": model, "MODEL_VERSION": version, "MODEL_VARIANT": lookup.key.variant.description,
    ])
    switch end {
    case .exited(0): return
    case .exited(let status): throw .model(.notReady(model: model, version: version, detail: "exit status \(status)"))
    case .killed(let signal): throw .model(.notReady(model: model, version: version, detail: "ended by signal \(signal)"))
    case .notStarted(let reason): throw .model(.notReady(model: model, version: version, detail: reason))
    }
  }

  /// What fails leaves the version active that was: if that is withdrawn, it says so.
  private static func warnOfWithdrawnActive(_ model: ModelName, _ store: ModelStore, _ output: Output) {
    guard let entry = (try? store.record(of: model))?.activeEntry, let reason = entry.withdrawal else { return }
    output.warning("\(model)@\(entry.key), which stays active, was withdrawn by its publisher: \(reason)")
  }

  /// Adds to a failure what keeps working.
  private static func explaining(_ error: any Error, _ request: ModelRequest, _ store: ModelStore) throws -> any Error {
    switch error as? InstallationError {
    // They say so themselves.
    case .model(.notReady), .model(.changedByCheck), .model(.format), .cancelled: return error
    default: break
    }
    let explained = (error as? InstallationError).map { StoreOptions.failure(of: $0, in: store, mayGoBack: false) }
    guard let record = try? store.record(of: request.model), !record.entries.isEmpty else { return explained ?? error }
    var failure = (error as? Failure) ?? explained ?? Failure(explainingInstallation: error)
    let advice: String
    if let active = record.activeEntry,
      (try? store.isIntact(active, of: request.model, isCancelled: { Interruption.isRequested })) == true
    {
      advice = "\(request.model)@\(active.key) is installed and stays active: --offline uses it"
    } else if let error = error as? InstallationError, error.saysNothingOfInstalled, !error.isOfTransfer {
      // Where it is, all that is here was tried already.
      advice = "--offline uses what is here, where something serves"
    } else {
      return failure
    }
    failure.hint = [failure.hint, advice].compactMap { $0 }.joined(separator: "; ")
    return failure
  }

  static func show(
    _ outcome: Installation.Outcome, of model: ModelName, in store: ModelStore, _ output: Output
  ) throws {
    let record = try store.record(of: model)
    let key: StoreKey
    switch outcome {
    case .present(let installed, let activated):
      key = installed
      output.line("\(activated ? "activated" : "present")  \(model)@\(key)", style: .good)
      output.report("status", activated ? "activated" : "present")
    case .installed(let installed):
      key = installed
      output.line("installed  \(model)@\(key)", style: .good)
      output.report("status", "installed")
    case .standIn(let installed, let instead, let reason):
      key = installed
      if instead == record.active {
        output.warning("\(StoreOptions.failure(of: reason, in: store, isOffline: true).description)")
      } else {
        output.warning("\(model)@\(instead) could not be installed: \(reason)")
      }
      output.line("stand-in  \(model)@\(key) serves instead of \(instead)", style: .bad)
      output.report("status", "stand-in")
      output.report("instead_of", .string(instead.description))
      output.report("reason", .string(reason.description))
    }
    if let reason = record[key]?.withdrawal { output.warning("\(model)@\(key) was withdrawn by its publisher: \(reason)") }
    output.line("Folder:     \(store.folderPath(of: key, model))")
    // What stands in already leads nowhere else.
    if let wayBack = try store.intactWayBack(of: record, isCancelled: { Interruption.isRequested }), wayBack != key {
      output.line("Way back:   \(wayBack) (manifest-install rollback \(model)\(GivenOptions.current.store))")
    }
    output.report("model", .string(model.description))
    output.report("version", .string(key.version.description))
    output.report("variant", .string(key.variant.description))
    output.report("withdrawn", .optional(record[key]?.withdrawal))
    output.report("folder", .string(store.folderPath(of: key, model)))
  }
}
