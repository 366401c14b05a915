internal import ManifestVerifier
internal import ModelCatalog
package import TUFMetadata

/// What one targets version says of a request: which variant it comes to on this device, and what is signed of its files.
package struct ModelLookup: Sendable {
  package struct File: Sendable {
    let path: TargetPath
    /// Below the version's folder.
    let name: [ByteString]
    let target: TargetFile
    let sources: [DownloadSource]
    /// The hashes of its segments, where they are published.
    let segments: SegmentSource?
  }

  package enum Outcome: Sendable {
    case found(ModelLookup)
    case nothing(NothingForDevice)
  }

  /// What several requests come to that do not depend on each other.
  package struct Outcomes: Sendable {
    package var found: [Outcome] = []
    /// What the manifest says of a model forbids it, or it says nothing.
    package var refused: [(what: String, error: InstallationError)] = []
    /// What the mirrors did not bring of a model, or not as it is signed: another manifest may do better.
    package var failed: [(request: ModelRequest, error: InstallationError)] = []

    package init() {}

    /// Of requests for which no manifest can be had.
    package init(failed requests: [ModelRequest], _ error: InstallationError) { failed = requests.map { ($0, error) } }

    /// Takes in what one request comes to.
    package mutating func add(
      _ request: ModelRequest, _ lookUp: () throws(InstallationError) -> Outcome
    ) throws(InstallationError) {
      do throws(InstallationError) { found.append(try lookUp()) } catch {
        if error.isOfMirror {
          failed.append((request, error))
        } else if case .model = error {
          refused.append((request.description, error))
        } else {
          throw error
        }
      }
    }

    /// Of what is installed, and of which nothing newer can be had, the record tells what was signed, where nothing speaks against that.
    /// - Parameter requests: all of them, in the order in which they are to be repaired.
    package mutating func useRecords(
      of requests: [ModelRequest], _ context: DownloadContext, _ lookUp: (ModelRequest) throws(InstallationError) -> ModelLookup
    ) throws(InstallationError) {
      let failed = failed
      self.failed = []
      var told: Set<String> = []
      for (request, error) in failed {
        guard error.saysNothingOfInstalled else {
          refused.append((request.description, error))
          continue
        }
        if told.insert(error.description).inserted {
          context.report(.warning("no newer metadata can be had, so that withdrawals may go unseen: \(error)"))
        }
        try add(request) { () throws(InstallationError) in .found(try lookUp(request)) }
      }
      refused += self.failed.map { ($0.request.description, $0.error) }
      self.failed = []
      let places = found.map { outcome in
        guard case .found(let lookup) = outcome else { return requests.count }
        return requests.firstIndex(of: lookup.request) ?? requests.count
      }
      found = zip(places, found).sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// What one of several that depend on each other fails with.
    package var error: InstallationError? { refused.first?.error ?? failed.first?.error }

    /// Those found, as far as there is something for the device.
    package var lookups: [ModelLookup] { found.compactMap { if case .found(let lookup) = $0 { lookup } else { nil } } }
  }

  package let request: ModelRequest
  package let key: StoreKey
  package let licence: String
  package let quantisation: String?
  package let format: String?
  /// For which devices it is, where that is known.
  let audience: Audience?
  package let files: [File]
  /// Of the model's description.
  let descriptionByteCount: Int64
  /// Versions of the same variant that are here, not withdrawn, and of which every file is signed now as it was then.
  let standIns: [StoreKey]
  /// Versions that stand here whole, and that no record tells of.
  let unrecorded: [ModelRecord.Entry]

  /// Reads the model's description, chooses, and looks every file up. Nothing is fetched but the description.
  /// - Parameters:
  ///   - store: nil where there is none yet.
  ///   - network: used on this thread.
  ///   - find: looks a target up in the trusted manifest.
  package static func run(
    _ request: ModelRequest, for device: Device, in store: ModelStore?, mirrors: [Mirror], consistentSnapshot: Bool,
    _ context: DownloadContext, over network: AnyTransport, find: (TargetPath) throws(InstallationError) -> TargetFile
  ) throws(InstallationError) -> Outcome {
    let model = request.model
    var record = try store?.record(of: model) ?? ModelRecord(model)
    guard let path = try? model.descriptionPath() else { throw .model(.unknownModel(model.description)) }
    let signed: TargetFile
    do throws(InstallationError) { signed = try find(path) } catch {
      if case .verification(.notListed) = error { throw .model(.unknownModel(model.description)) }
      throw error
    }
    // The description as it was fetched last, where it is still the one that is signed.
    var bytes = try store?.keptDescription(of: model) ?? []
    let isKept = isSigned(bytes, path, signed)
    if !isKept {
      let sources = DownloadSource.published(path, signed, mirrors: mirrors, consistentSnapshot: consistentSnapshot)
      guard !sources.isEmpty else { throw .model(.missingOffline(model: request.description, detail: "\(path)")) }
      bytes = try MemoryDownload.run(path, signed, from: sources, byteLimit: Int64(ModelDescription.byteLimit), context, over: network)
    }
    let description: ModelDescription
    do { description = try ModelDescription(parsing: bytes, of: model) } catch {
      throw .model(.malformedDescription(path: path.description, error))
    }
    try store?.remember(description, fetched: isKept ? nil : bytes, of: model)
    let (version, variant): (ModelDescription.Version, ModelDescription.Variant)
    switch try VariantChoice(request, from: description, for: device) {
    case .nothing(let nothing): return .nothing(nothing)
    case .chosen(let chosenVersion, let chosenVariant, let passedOver):
      (version, variant) = (chosenVersion, chosenVariant)
      if !passedOver.isEmpty {
        let names = passedOver.map(\.name.description).joined(separator: ", ")
        context.report(.warning("\(model): nothing for \(device) is in \(names); the newest version that has something is \(version.name)"))
      }
    }
    let key = try StoreKey(version: version.name, variant: variant.name, of: model)
    var files: [File] = []
    for (file, name) in zip(variant.files, try places(of: variant, key, model)) {
      let target = try find(file.path)
      let sources = DownloadSource.all(
        of: file.path, target, file.sources, hub: context.hub, mirrors: mirrors, consistentSnapshot: consistentSnapshot)
      let segments = SegmentSource(of: file.path, target, mirrors: mirrors, consistentSnapshot: consistentSnapshot)
      files.append(File(path: file.path, name: name, target: target, sources: sources, segments: segments))
    }
    let unrecorded = try store?.unrecorded(of: record, description, find) ?? []
    record.add(unrecorded: unrecorded)
    var standIns: [StoreKey] = []
    for entry in record.entries.reversed() where entry.key.variant == key.variant && entry.key != key {
      guard let known = description.versions.first(where: { $0.name == entry.key.version }), known.withdrawal == nil,
        request.variant != nil || description.audience(of: entry.key)?.includes(device) == true
      else { continue }
      if entry.files.allSatisfy({ file in (try? find(file.path)) == file.target }) { standIns.append(entry.key) }
    }
    // What works now comes first.
    if let active = record.active, standIns.contains(active) { standIns = [active] + standIns.filter { $0 != active } }
    return .found(
      ModelLookup(
        request: request, key: key, licence: description.licence, quantisation: variant.quantisation, format: variant.format,
        audience: Audience(of: variant), files: files,
        descriptionByteCount: Int64(bytes.count), standIns: standIns, unrecorded: unrecorded))
  }

  /// Whether bytes are a small target.
  static func isSigned(_ bytes: [UInt8], _ path: TargetPath, _ target: TargetFile) -> Bool {
    do throws(VerificationError) {
      var verification = StreamVerification(path.description, against: target)
      try verification.update(bytes.span)
      try verification.finish()
      return true
    } catch { return false }
  }

  /// Where each file of a variant stands in the version's folder: at its path below the folder that is named after the version, where all of them
  /// lie in that; else below the model's.
  static func places(
    of variant: ModelDescription.Variant, _ key: StoreKey, _ model: ModelName
  ) throws(InstallationError) -> [[ByteString]] {
    let versionPrefix = model.prefix + key.version.bytes + [UInt8(ascii: "/")]
    let isInside = variant.files.allSatisfy { $0.path.name.bytes.starts(with: versionPrefix) }
    let places = variant.files.map { Array($0.path.segments.dropFirst(isInside ? 3 : 2)) }
    let all = Set(places)
    var seen: Set<[ByteString]> = []
    for place in places {
      // A file in the place of another's folder can't be laid out either.
      for count in 1..<max(place.count, 1) where all.contains(Array(place.prefix(count))) {
        throw .model(.unusableName(model: model.description, name: place.map(\.description).joined(separator: "/")))
      }
      guard seen.insert(place).inserted else {
        throw .model(.unusableName(model: model.description, name: place.map(\.description).joined(separator: "/")))
      }
    }
    return places
  }
}
