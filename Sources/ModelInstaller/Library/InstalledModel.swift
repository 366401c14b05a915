internal import FileIO
internal import ModelCatalog
internal import TUFMetadata

/// A variant of a model that is installed.
public struct InstalledModel: Equatable, Sendable {
  /// `ORG/NAME`.
  public let model: String
  public let version: String
  public let variant: String
  /// The names of its files, below its folder.
  public let files: [String]
  /// The folder that holds them, for a runtime that takes paths only; a descriptor of `ModelLibrary.open` is what was verified.
  public let folder: String
  /// All files together.
  public let byteCount: Int64
  public let isActive: Bool
  /// Whether `rollBack` leads to it.
  public let isPrevious: Bool
  /// Whether all of its files are there. Where they are not, `repair` brings them back, and `rollBack` leads to a version that works without them.
  public let isComplete: Bool
  /// Why the publisher withdrew it, as far as that is known here. It stays usable until another is installed.
  public let withdrawal: String?
  /// Why this version serves, and not the newest one: that could not be fetched.
  public internal(set) var standsInBecause: InstallationError?

  /// The active version of a record, where it has one. Its files are looked at, each once, and no other version's.
  static func active(of record: ModelRecord, in store: ModelStore) -> InstalledModel? {
    record.activeEntry.map { entry in
      InstalledModel(entry, of: record, in: store, isPrevious: false, isComplete: store.missingPath(of: entry, record.model) == nil)
    }
  }

  /// Every version of a record. Each file is looked at once.
  static func all(of record: ModelRecord, in store: ModelStore) -> [InstalledModel] {
    let complete = Set(record.entries.filter { store.missingPath(of: $0, record.model) == nil }.map(\.key))
    let wayBack = record.wayBack(on: store.device) { complete.contains($0.key) }
    return record.entries.map { entry in
      InstalledModel(entry, of: record, in: store, isPrevious: entry.key == wayBack, isComplete: complete.contains(entry.key))
    }
  }

  private init(_ entry: ModelRecord.Entry, of record: ModelRecord, in store: ModelStore, isPrevious: Bool, isComplete: Bool) {
    model = record.model.description
    version = entry.key.version.description
    variant = entry.key.variant.description
    files = entry.files.map { file in file.name.map(\.description).joined(separator: "/") }
    folder = store.folderPath(of: entry.key, record.model)
    byteCount = entry.byteCount
    isActive = record.active == entry.key
    self.isPrevious = isPrevious
    self.isComplete = isComplete
    withdrawal = entry.withdrawal
  }
}

/// A file of an installed model, open, whose content is what was signed. Load from the descriptor, not from a path: a path can come to lead elsewhere.
public struct ModelFile: ~Copyable, Sendable {
  public let byteCount: Int64
  /// Whether it had to be read to know that it is what was signed; where it had not, it is the very file that was verified before, unchanged.
  public let wasRead: Bool
  private let descriptor: FileDescriptor

  init(_ file: consuming UsableFile) {
    byteCount = file.byteCount
    wasRead = file.wasRead
    descriptor = file.intoDescriptor()
  }

  /// The number of the open file, valid as long as this value lives: to map, or to read at offsets.
  public var fileDescriptor: CInt { descriptor.descriptor }
}
