internal import Digests
internal import FileIO
internal import ManifestVerifier
internal import ModelCatalog
internal import ModelFormats
internal import TUFMetadata

/// A version that is being put together in staging, file by file, each verified before it gets its name there.
final class Assembly {
  private let store: ModelStore
  private let lookup: ModelLookup
  private let context: DownloadContext
  private let folder: FileDescriptor
  private let parts: FileDescriptor
  private let network: AnyTransport
  /// The folder's path.
  let path: String
  /// What is still to be fetched, in the order of the description.
  private(set) var missing: [ModelLookup.File] = []
  /// A finished file of each content, by its SHA-256.
  private var finished: [SHA256Digest: ModelLookup.File] = [:]
  /// Of missing files in whose places something stands: the hashes of their segments, and how many bytes are good in those.
  private var damaged: [TargetPath: (segments: SegmentDigests, goodByteCount: Int64)] = [:]
  /// By what the finished files are known.
  private var identities: [TargetPath: FileIdentity] = [:]

  private var model: ModelName { lookup.request.model }

  init(_ lookup: ModelLookup, in store: ModelStore, _ context: DownloadContext) throws(InstallationError) {
    (self.store, self.lookup, self.context) = (store, lookup, context)
    let name = lookup.key.stagingName(of: lookup.request.model)
    let versions = try store.makeStaging([StoreName.versions])
    path = store.shown([StoreName.staging, StoreName.versions, name])
    folder = try at(.create, path) { () throws(Errno) in
      // A check that refused it may have left it as nobody can open it.
      try? versions.setPermissions(of: name, 0o755)
      return try versions.openFolder(creating: [name], permissions: 0o755)
    }
    parts = try store.makeParts()
    network = AnyTransport(try context.makeTransport())
  }

  private func shown(_ file: ModelLookup.File) -> String { "\(path)/\(file.name.map(\.description).joined(separator: "/"))" }

  /// The folder that a file stands in, made where it is missing.
  private func parent(of file: ModelLookup.File) throws(InstallationError) -> FileDescriptor {
    try at(.create, shown(file)) { () throws(Errno) in
      try folder.openFolder(creating: file.name.dropLast().map(\.bytes), permissions: 0o755)
    }
  }

  private func lastName(_ file: ModelLookup.File) -> [UInt8] { file.name.last?.bytes ?? [] }

  // MARK: What is here

  /// Puts in place what an earlier attempt left, or another version holds, once it is verified.
  func useWhatIsHere() throws(InstallationError) {
    try restoreFolder()
    let index = try StoredFiles(in: store)
    try store.keepingIdentities(of: index.numbers(of: lookup.files.lazy.map(\.target))) { () throws(InstallationError) in
      for file in lookup.files { try use(file, index) }
    }
  }

  private func use(_ file: ModelLookup.File, _ index: StoredFiles) throws(InstallationError) {
    guard !context.isCancelled() else { throw .cancelled }
    if try isInPlace(file) {
      finished[file.target.hashes.sha256] = file
      context.report(.file(path: file.path.description, byteCount: file.target.byteCount, present: file.target.byteCount))
      context.report(.verified(path: file.path.description))
      return
    }
    // Its own place too: a crash may have come between moving the version there and recording it.
    let own = StoredFiles.Place(folder: lookup.key.segments(of: model), name: file.name)
    if try useStored(file, index.places(of: file.target)) ? true : useStored(file, [own]) {
      finished[file.target.hashes.sha256] = file
    } else {
      missing.append(file)
    }
  }

  /// Removes what is not one of the version's files, and sets permissions right: a folder of that name belongs to no other version, but to an earlier publication maybe.
  private func restoreFolder() throws(InstallationError) {
    try at(.list, path) { () throws(Errno) in try folder.restoreVersion(of: lookup.files.map(\.name)) }
  }

  private func isInPlace(_ file: ModelLookup.File) throws(InstallationError) -> Bool {
    let parent = try parent(of: file)
    guard let status = try? parent.status(of: lastName(file)) else { return false }
    if status.kind == .regular, status.permissions & 0o222 == 0, status.byteCount == file.target.byteCount,
      let open = try? parent.open(lastName(file), .readNoFollow), try verifies(open, file, at: shown(file)) != nil
    {
      return true
    }
    try at(.remove, shown(file)) { () throws(Errno) in try parent.removeTree(lastName(file)) }
    return false
  }

  /// - Returns: the open file where it is what is signed.
  private func verifies(
    _ open: consuming FileDescriptor, _ file: ModelLookup.File, at path: String
  ) throws(InstallationError) -> VerifiedFile? {
    var verifier = FileVerifier(method: .every)
    do throws(VerificationError) {
      return try verifier.verify(open, path: path, against: file.target, isCancelled: context.isCancelled)
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      // A disk that can't give a file back has damaged it.
      case .file(let error) where error.errno != .inputOutput: throw .file(error)
      default: return nil
      }
    }
  }

  /// Uses the same content where another version, or this one, holds it.
  private func useStored(_ file: ModelLookup.File, _ places: [StoredFiles.Place]) throws(InstallationError) -> Bool {
    for place in places {
      guard let open = try? store.openFile(place.name, below: place.folder) else { continue }
      let path = store.shown(place.folder + place.name.map(\.bytes))
      guard let verified = try verifies(open, file, at: path) else { continue }
      if try share(verified, place, file) {
        context.report(.file(path: file.path.description, byteCount: file.target.byteCount, present: file.target.byteCount))
        context.report(.verified(path: file.path.description))
        return true
      }
    }
    return false
  }

  /// Gives a verified file a second life in this version: by sharing its storage, by a second name, or as a copy, which is verified anew.
  private func share(
    _ verified: consuming VerifiedFile, _ place: StoredFiles.Place, _ file: ModelLookup.File
  ) throws(InstallationError) -> Bool {
    let parent = try parent(of: file)
    let name = lastName(file)
    let status = verified.status
    let source = verified.intoDescriptor()
    let clone = try temporary(file, in: parent)
    var isClone = true
    do throws(Errno) { try clone.file.clone(from: source) } catch {
      if error == .noSpace || error == .quotaExceeded || error == .inputOutput { throw .file(.system(.copy, path: shown(file), error)) }
      isClone = false
    }
    if isClone {
      do { try clone.replace() } catch { throw .file(error) }
      return true
    }
    if try link(place, status, to: name, in: parent) { return true }
    try copy(source, status.byteCount, to: file, in: parent)
    return true
  }

  /// Gives a verified file a second name.
  /// - Returns: false on a file system without links, or for a file with too many of them.
  private func link(
    _ place: StoredFiles.Place, _ status: FileStatus, to name: [UInt8], in parent: borrowing FileDescriptor
  ) throws(InstallationError) -> Bool {
    guard let last = place.name.last?.bytes, let holder = try store.openFolder(place.folder + place.name.dropLast().map(\.bytes)) else {
      return false
    }
    let again = try at(.open, path) { () throws(Errno) in try parent.reopened() }
    do throws(Errno) { try holder.hardLink(last, to: name, in: again) } catch { return false }
    // The name may have come to stand for another file meanwhile.
    guard let linked = try? again.status(of: name), linked.isSameFile(as: status), linked.byteCount == status.byteCount,
      linked.modifiedNanoseconds == status.modifiedNanoseconds
    else {
      try at(.remove, path) { () throws(Errno) in try again.remove(name) }
      return false
    }
    try at(.synchronize, path) { () throws(Errno) in try parent.synchronizeNames() }
    return true
  }

  private func temporary(_ file: ModelLookup.File, in parent: borrowing FileDescriptor) throws(InstallationError) -> TemporaryFile {
    let again = try at(.open, shown(file)) { () throws(Errno) in try parent.reopened() }
    do { return try TemporaryFile(named: lastName(file), in: again, path: shown(file), permissions: 0o444) } catch { throw .file(error) }
  }

  /// Copies a file that was verified, and verifies the copy.
  private func copy(
    _ source: borrowing FileDescriptor, _ byteCount: Int64, to file: ModelLookup.File, in parent: borrowing FileDescriptor
  ) throws(InstallationError) {
    let copy = try temporary(file, in: parent)
    var verification = StreamVerification(file.path.description, against: file.target)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    while offset < byteCount {
      guard !context.isCancelled() else { throw .cancelled }
      let count = try at(.read, shown(file)) { () throws(Errno) in try source.fill(&buffer, at: offset, enough: byteCount - offset) }
      guard count > 0 else { break }
      do { try verification.update(buffer.span.extracting(first: count)) } catch { throw .verification(error) }
      try onDisk { () throws(FileError) in try copy.write(all: buffer.span.extracting(first: count)) }
      offset += Int64(count)
    }
    do { try verification.finish() } catch { throw .verification(error) }
    do { try copy.replace() } catch { throw .file(error) }
  }

  // MARK: What is not

  /// What the missing files will take.
  func needs() throws(InstallationError) -> DiskNeeds {
    DiskNeeds(
      of: missing, lookup, recordByteCount: Int64(try store.record(of: model).bytes.count), reserved: store.reservedByteCount,
      store: try Disk(folder, store.path), parts: try Disk(parts, store.partsPath), fetched: fetchedByteCount)
  }

  /// How much of a file an earlier attempt left.
  func fetchedByteCount(_ target: TargetFile) -> Int64 {
    (try? parts.allocatedByteCount(of: target.hashes.sha256.hexadecimal)).map { min($0, target.byteCount) } ?? 0
  }

  /// Counts, of files that are damaged in their places, what need not be fetched.
  func countGoodSegments() throws(InstallationError) {
    for file in missing {
      guard let former = former(file), let segments = try file.segments?.fetch(file.path, context, over: network) else { continue }
      var files = [former]
      if let part = try? parts.open(file.target.hashes.sha256.hexadecimal, .readNoFollow) { files.append(FormerFile(part)) }
      let download = SegmentDownload(file.path, file.target, segments, from: [], context)
      damaged[file.path] = (segments, download.goodByteCount(in: files))
    }
  }

  /// How much of a missing file need not be fetched, as far as that is known.
  func presentByteCount(_ file: ModelLookup.File) -> Int64 { damaged[file.path]?.goodByteCount ?? fetchedByteCount(file.target) }

  /// Fetches a file, checks its format, and puts it in place.
  func fetch(_ file: ModelLookup.File) throws(InstallationError) {
    // Another file of this version may have had the same content.
    if try isInPlace(file) { return }
    if let twin = finished[file.target.hashes.sha256], twin.target == file.target,
      let open = try? parent(of: twin).open(lastName(twin), .readNoFollow), let verified = try verifies(open, twin, at: shown(twin))
    {
      let count = verified.status.byteCount
      let descriptor = verified.intoDescriptor()
      try copy(descriptor, count, to: file, in: try self.parent(of: file))
      return
    }
    let part = try PartFile(file.target, in: parts, at: store.partsPath)
    try download(file, into: part)
    try requireFormat(file, part)
    context.report(.verified(path: file.path.description))
    try settle(file, part)
    finished[file.target.hashes.sha256] = file
  }

  private func download(_ file: ModelLookup.File, into part: PartFile) throws(InstallationError) {
    var segments = damaged[file.path]?.segments
    if segments == nil { segments = try file.segments?.fetch(file.path, context, over: network) }
    if let segments {
      try SegmentDownload(file.path, file.target, segments, from: file.sources, context).run(into: part, replacing: former(file))
    } else {
      var stream = StreamDownload(file.path, file.target, from: file.sources, context, over: network)
      try stream.run(into: part)
    }
  }

  /// What stands in the file's place now, damaged or of an earlier publication.
  private func former(_ file: ModelLookup.File) -> FormerFile? {
    guard let found = try? store.openFile(file.name, below: lookup.key.segments(of: model)) else { return nil }
    return FormerFile(found)
  }

  private func requireFormat(_ file: ModelLookup.File, _ part: PartFile) throws(InstallationError) {
    do {
      _ = try ModelInspection.inspect(name: file.path.description, length: UInt64(clamping: file.target.byteCount)) {
        offset, count throws(Errno) in
        var bytes = [UInt8](repeating: 0, count: count)
        let found = try part.file.fill(&bytes, at: Int64(clamping: offset))
        bytes.removeLast(count - found)
        return bytes
      }
    } catch {
      switch error {
      case .format(let error): throw .model(.format(path: file.path.description, error))
      case .read(let error): throw .file(.system(.read, path: part.path, error))
      }
    }
  }

  /// Moves a fetched file to its name in this version, read-only and on the disk itself.
  private func settle(_ file: ModelLookup.File, _ part: PartFile) throws(InstallationError) {
    try at(.synchronize, part.path) { () throws(Errno) in
      try part.file.setPermissions(0o444)
      try part.file.synchronize()
    }
    let parent = try parent(of: file)
    do throws(Errno) {
      try parts.rename(part.name, to: lastName(file), in: parent)
      try parent.synchronizeNames()
    } catch {
      guard error == .crossesFileSystems else { throw .file(.system(.rename, path: shown(file), error)) }
      try copy(part.file, file.target.byteCount, to: file, in: parent)
      try at(.remove, part.path) { () throws(Errno) in try parts.remove(part.name) }
    }
  }

  // MARK: The end

  /// Sees to it that every file is there, and that all names are on the disk itself.
  func finish() throws(InstallationError) {
    for file in lookup.files {
      let parent = try parent(of: file)
      let status = try at(.inspect, shown(file)) { () throws(Errno) in try parent.status(of: lastName(file)) }
      guard status.kind == .regular, status.byteCount == file.target.byteCount else {
        throw .verification(.wrongLength(path: shown(file), expected: file.target.byteCount, actual: status.byteCount))
      }
      identities[file.path] = FileIdentity(status)
    }
    try at(.synchronize, path) { () throws(Errno) in try folder.synchronizeAllNames() }
  }

  /// The version as it is to be recorded, once the caller's check is done with it. A check is meant to read. What it put beside the version's files is removed, and
  /// permissions are set right; a file that is not the very one that was verified is verified again.
  /// - Throws: `changedByCheck`.
  func entryAfterCheck() throws(InstallationError) -> ModelRecord.Entry {
    try restoreFolder()
    var entry = ModelRecord.Entry(key: lookup.key, files: [], audience: lookup.audience)
    for file in lookup.files {
      let parent = try parent(of: file)
      let status = try? parent.status(of: lastName(file))
      var identity = status.map { FileIdentity($0) }
      if identity == nil || identity != identities[file.path] { identity = try identityWhereIntact(file, in: parent) }
      guard let identity else {
        throw .model(.changedByCheck(model: model.description, version: lookup.key.version.description, path: shown(file)))
      }
      entry.files.append(.init(path: file.path, name: file.name, target: file.target, identity: identity))
    }
    return entry
  }

  /// - Returns: by what a file is known; nil where it is not what is signed.
  private func identityWhereIntact(_ file: ModelLookup.File, in parent: borrowing FileDescriptor) throws(InstallationError) -> FileIdentity?
  {
    guard (try? parent.status(of: lastName(file)).kind) == .regular, let open = try? parent.open(lastName(file), .readNoFollow),
      let verified = try verifies(open, file, at: shown(file))
    else { return nil }
    let intact = verified.intoDescriptor()
    return try at(.synchronize, shown(file)) { () throws(Errno) in
      try intact.synchronize()
      try parent.synchronizeNames()
      return FileIdentity(try intact.status())
    }
  }
}

extension FileDescriptor {
  fileprivate func synchronizeAllNames() throws(Errno) {
    for name in try names() where try status(of: name).kind == .directory { try open(name, .directoryNoFollow).synchronizeAllNames() }
    try synchronizeNames()
  }
}
