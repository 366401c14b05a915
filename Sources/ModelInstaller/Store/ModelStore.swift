internal import FileIO
package import ModelCatalog
internal import Synchronization
internal import TUFMetadata

/// The installed models on disk.
///
/// ```
/// models/<org>/<name>/<version>/<variant>/…   the files of one variant, read-only; a whole version appears by one rename
/// records/<org>/<name>.json                   what is installed and what is active; replaced whole, after all that it names is on the disk
/// descriptions/<org>/<name>.json              the model's description, as it was fetched last
/// staging/                                    0700: versions being put together, files being fetched, what is being removed
/// reserve                                     space for a record when the disk is full
/// lock                                        held while the store is changed
/// ```
/// A process that is killed at any instruction leaves the record as it was or as it was to be; what else it leaves is used by the next one
/// that needs it, or cleared away. Below the store no symbolic link is followed.
package final class ModelStore: Sendable {
  package let path: String
  let folder: FileDescriptor
  /// Held as long as the store may be changed.
  private let lock: FileLock?
  /// Where files are fetched to, where that is another folder than the store's own.
  let stagingPath: String?
  /// Held from the first use of that folder on: other stores may use it too.
  let stagingLock = Mutex<FileLock?>(nil)

  /// What versions have to be for that are taken though nobody named them.
  let device: Device

  /// Whether this value may change the store.
  let isChangeable: Bool

  /// Opens a store to read it: nothing is made, locked or changed.
  /// - Returns: nil where there is none.
  package static func reading(
    _ path: String, staging: String? = nil, for device: Device = .current
  ) throws(InstallationError) -> ModelStore? {
    do throws(Errno) {
      return ModelStore(path, try FileDescriptor(opening: path, .directory), staging: staging, for: device, lock: nil)
    } catch {
      guard error == .notFound else { throw .file(.system(.open, path: path, error)) }
      return nil
    }
  }

  /// Opens a store to change it, made where it is missing, and brings records and files together after a crash.
  /// - Parameters:
  ///   - staging: where files are fetched to; another file system is allowed.
  ///   - patience: milliseconds to wait for another process.
  ///   - device: what is taken for it though nobody named it.
  package static func changing(
    _ path: String, staging: String? = nil, patience: UInt32 = 2000, for device: Device = .current
  ) throws(InstallationError) -> ModelStore {
    try onDisk { () throws(FileError) in try FileSystem.createDirectories(path, permissions: 0o755) }
    let lock = try lock("\(path)/lock", patience: patience) { .locked(path: $0, process: $1) }
    let folder = try at(.open, path) { () throws(Errno) in try FileDescriptor(opening: path, .directory) }
    let store = ModelStore(path, folder, staging: staging, for: device, lock: lock)
    try store.reconcile()
    return store
  }

  static func lock(
    _ path: String, patience: UInt32, held: (String, Int32?) -> ModelError
  ) throws(InstallationError) -> FileLock {
    do { return try FileLock(path, permissions: 0o644, patience: patience) } catch {
      switch error {
      case .held(let path, let process): throw .model(held(path, process))
      case .file(let error): throw .file(error)
      }
    }
  }

  private init(_ path: String, _ folder: consuming FileDescriptor, staging: String?, for device: Device, lock: consuming FileLock?) {
    self.path = path
    let own = try? folder.status()
    self.folder = folder
    isChangeable = lock != nil
    self.lock = lock
    stagingPath = staging.flatMap { staging in
      // Named as its own staging folder a store fetches into the one that it has: it holds that lock already.
      let named = try? FileSystem.status(of: staging, followingLinks: true)
      return own != nil && named?.inode == own?.inode && named?.device == own?.device ? nil : staging
    }
    self.device = device
  }

  // MARK: Folders

  /// Opens a folder of the store.
  /// - Returns: nil where it is not there.
  func openFolder(_ segments: [[UInt8]]) throws(InstallationError) -> FileDescriptor? {
    do throws(Errno) { return try folder.open(Array(segments.joined(separator: "/".utf8)), .directoryNoFollow) } catch {
      guard error == .notFound else { throw foreign(segments, error) }
      return nil
    }
  }

  /// Opens a folder of the store, made where it is missing.
  func makeFolder(_ segments: [[UInt8]], permissions: UInt16 = 0o755) throws(InstallationError) -> FileDescriptor {
    do throws(Errno) { return try folder.openFolder(creating: segments, permissions: permissions) } catch { throw foreign(segments, error) }
  }

  func shown(_ segments: [[UInt8]]) -> String {
    "\(path)/\(segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/"))"
  }

  /// Tells a symbolic link, or whatever else stands where a folder would have to, as what it is.
  private func foreign(_ segments: [[UInt8]], _ error: Errno) -> InstallationError {
    guard error == .tooManySymbolicLinks || error == .notDirectory else { return .file(.system(.open, path: shown(segments), error)) }
    for count in 1...max(segments.count, 1) {
      let beginning = Array(segments.prefix(count))
      let kind = try? FileSystem.status(of: shown(beginning), followingLinks: false).kind
      if let kind, kind != .directory { return .model(.foreign(path: shown(beginning), kind)) }
    }
    return .file(.system(.open, path: shown(segments), error))
  }

  // MARK: Records

  /// What is known of a model; an empty record where nothing is.
  package func record(of model: ModelName) throws(InstallationError) -> ModelRecord {
    let segments = [StoreName.records, model.organisation.bytes]
    let name = model.name.bytes + StoreName.suffix
    guard let records = try openFolder(segments),
      let bytes = try read(name, in: records, shown(segments + [name]), limit: ModelRecord.byteLimit)
    else { return ModelRecord(model) }
    return try ModelRecord(bytes, of: model, path: shown(segments + [name]))
  }

  /// Every model of which there is a record, in the order of their names.
  func models() throws(InstallationError) -> [ModelName] {
    var models: [ModelName] = []
    guard let records = try openFolder([StoreName.records]) else { return [] }
    for organisation in try at(.list, shown([StoreName.records]), { () throws(Errno) in try records.folderNames() }) {
      guard let folder = try openFolder([StoreName.records, organisation]) else { continue }
      let names = try at(.list, shown([StoreName.records, organisation])) { () throws(Errno) in try folder.names() }
      for name in names where name.suffix(5) == StoreName.suffix[...] {
        guard let model = try? ModelName(organisation: ByteString(organisation), name: ByteString(Array(name.dropLast(5)))) else {
          continue
        }
        models.append(model)
      }
    }
    return models.sorted()
  }

  /// Every record, in the order of the models' names. One that can't be read is the fault of its model alone.
  package func records() throws(InstallationError) -> [(model: ModelName, record: Result<ModelRecord, InstallationError>)] {
    var records: [(model: ModelName, record: Result<ModelRecord, InstallationError>)] = []
    for model in try models() {
      do throws(InstallationError) { records.append((model, .success(try record(of: model)))) } catch {
        records.append((model, .failure(error)))
      }
    }
    return records
  }

  /// The records that can be read: one that can't hinders no other model.
  func readableRecords() throws(InstallationError) -> [ModelRecord] { try records().compactMap { try? $0.record.get() } }

  /// Puts a record in place of the former one. What it names is on the disk itself by then.
  func write(_ record: ModelRecord) throws(InstallationError) {
    let bytes = record.bytes
    do throws(InstallationError) { try write(bytes, StoreName.records, record.model) } catch {
      guard error.isOfFullDisk, releaseReserve() else { throw error }
      try write(bytes, StoreName.records, record.model)
    }
    keepReserve(forRecordOf: bytes.count)
  }

  /// What the description says that was fetched last, for which nobody vouches; nil where there is none that can be read.
  func whatDescriptionSays(of model: ModelName) -> ModelDescription? {
    (try? keptDescription(of: model)).flatMap { try? ModelDescription(parsing: $0, of: model) }
  }

  /// The model's description as it was fetched last, which nobody vouches for; nil where something else stands in its place, which the next one
  /// replaces.
  package func keptDescription(of model: ModelName) throws(InstallationError) -> [UInt8]? {
    let segments = [StoreName.descriptions, model.organisation.bytes]
    let name = model.name.bytes + StoreName.suffix
    guard let folder = try openFolder(segments) else { return nil }
    guard (try? folder.status(of: name).kind) == .regular else { return nil }
    return try read(name, in: folder, shown(segments + [name]), limit: ModelDescription.byteLimit)
  }

  /// Takes over what the trusted manifest says of a model, at once, whatever becomes of what is done with it: which of the installed versions its
  /// publisher has withdrawn, for which devices they are, and the description itself. A store that is open for reading stays as it is.
  /// - Parameter bytes: the description, unless it is the one that was kept.
  func remember(_ description: ModelDescription, fetched bytes: [UInt8]?, of model: ModelName) throws(InstallationError) {
    guard isChangeable else { return }
    let former = try record(of: model)
    var record = former
    for entry in former.entries {
      guard let version = description.versions.first(where: { $0.name == entry.key.version }) else { continue }
      record[entry.key]?.withdrawal = version.withdrawal?.reason
      if let audience = description.audience(of: entry.key) { record[entry.key]?.audience = audience }
    }
    if record != former { try write(record) }
    guard let bytes else { return }
    try requireReplaceable(description: model)
    try write(bytes, StoreName.descriptions, model)
  }

  func forgetDescription(of model: ModelName) throws(InstallationError) {
    let segments = [StoreName.descriptions, model.organisation.bytes]
    guard let folder = try openFolder(segments) else { return }
    try at(.remove, shown(segments)) { () throws(Errno) in try folder.remove(model.name.bytes + StoreName.suffix) }
  }

  /// Makes way for a description: a link or an empty folder in its place goes, and what may be somebody's is told.
  private func requireReplaceable(description model: ModelName) throws(InstallationError) {
    let segments = [StoreName.descriptions, model.organisation.bytes]
    let name = model.name.bytes + StoreName.suffix
    guard let folder = try openFolder(segments), let kind = try? folder.status(of: name).kind, kind == .directory else { return }
    do throws(Errno) { try folder.removeFolder(name) } catch { throw .model(.foreign(path: shown(segments + [name]), kind)) }
  }

  private func write(_ bytes: [UInt8], _ top: [UInt8], _ model: ModelName) throws(InstallationError) {
    let segments = [top, model.organisation.bytes]
    let name = model.name.bytes + StoreName.suffix
    let parent = try makeFolder(segments)
    try onDisk { () throws(FileError) in
      let again = try FileError.describing(.open, shown(segments)) { () throws(Errno) in try parent.reopened() }
      let file = try TemporaryFile(named: name, in: again, path: shown(segments + [name]), permissions: 0o644)
      try file.write(all: bytes.span)
      try file.replace()
    }
  }

  private func read(
    _ name: [UInt8], in folder: borrowing FileDescriptor, _ path: String, limit: Int
  ) throws(InstallationError) -> [UInt8]? {
    let kind: FileKind
    do throws(Errno) { kind = try folder.status(of: name).kind } catch {
      guard error == .notFound else { throw .file(.system(.read, path: path, error)) }
      return nil
    }
    guard kind == .regular else { throw .model(.foreign(path: path, kind)) }
    let file = try at(.read, path) { () throws(Errno) in try folder.open(name, .readNoFollow) }
    return try onDisk { () throws(FileError) in try file.contents(limit: limit, named: path) }
  }
}

func at<Result: ~Copyable>(
  _ operation: FileOperation, _ path: String, _ body: () throws(Errno) -> Result
) throws(InstallationError) -> Result {
  do { return try body() } catch { throw .file(.system(operation, path: path, error)) }
}

func onDisk<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(InstallationError) -> Result {
  do { return try body() } catch { throw .file(error) }
}

extension FileDescriptor {
  /// The names in this directory but those of regular files: what a file manager leaves, say, is none of ours.
  func folderNames() throws(Errno) -> [[UInt8]] {
    var names: [[UInt8]] = []
    for name in try self.names() where try status(of: name).kind != .regular { names.append(name) }
    return names
  }
}
