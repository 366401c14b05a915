package import FileIO
package import ModelCatalog
package import TUFMetadata

/// What the store knows of one model: which versions are there, which of them is active, and which was before it.
///
/// It tells what to look for, not what to believe: a file counts for what its bytes are, or for being the unchanged file that was verified.
package struct ModelRecord: Equatable, Sendable {
  /// A file as it was when it was last verified.
  package struct File: Equatable, Sendable {
    package let path: TargetPath
    /// Below the version's folder.
    package let name: [ByteString]
    package let target: TargetFile
    package var identity: FileIdentity
  }

  package struct Entry: Equatable, Sendable {
    package let key: StoreKey
    package var files: [File]
    /// Why the publisher withdrew the version, as far as it is known here.
    package var withdrawal: String?
    /// For which devices it is, as the description told that was verified last; nil where that is not known.
    package var audience: Audience?

    func withdrawalError(of model: ModelName) -> InstallationError? {
      withdrawal.map { .model(.withdrawn(model: model.description, version: key.version.description, reason: $0)) }
    }

    package var byteCount: Int64 { files.reduce(0) { sum, file in sum &+ max(file.target.byteCount, 0) } }
  }

  package let model: ModelName
  /// In the order in which they were installed.
  package var entries: [Entry] = []
  package var active: StoreKey?
  package var previous: StoreKey?

  package init(_ model: ModelName) { self.model = model }

  package subscript(_ key: StoreKey) -> Entry? {
    get { entries.first { $0.key == key } }
    set {
      let index = entries.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let entry?): entries[index] = entry
      case (nil, let entry?): entries.append(entry)
      case (let index?, nil): entries.remove(at: index)
      case (nil, nil): break
      }
    }
  }

  package var activeEntry: Entry? { active.flatMap { self[$0] } }

  /// Takes in what stands here whole, as if it had been installed before all others.
  mutating func add(unrecorded found: [Entry]) { entries = found.filter { self[$0.key] == nil } + entries }

  /// What is wrong with a record that names no active version: this software writes none.
  var withoutActive: InstallationError {
    .model(.contradictoryRecord(model: model.description, version: nil, isActive: true))
  }

  /// The variant that is this device's as far as a record tells: the active version's, else that of the one before it, else the only one there is.
  /// Any other may be for another device.
  var ownVariant: ByteString? {
    if let known = active ?? previous { return known.variant }
    let variants = Set(entries.map(\.key.variant))
    return variants.count == 1 ? variants.first : nil
  }

  /// Versions that could be gone back to, best first: the one that was active before, of whatever variant, then the one of the own variant that was
  /// installed last, and is for the device. None is withdrawn.
  func alternatives(on device: Device) -> [Entry] {
    let usable = entries.reversed().filter { $0.key != active && $0.withdrawal == nil }
    return usable.filter { $0.key == previous }
      + usable.filter { $0.key != previous && $0.key.variant == ownVariant && $0.audience?.includes(device) == true }
  }

  /// What going back leads to.
  func wayBack(on device: Device, isComplete: (Entry) -> Bool) -> StoreKey? { alternatives(on: device).first(where: isComplete)?.key }
}

/// By what a file is known again without reading it: no program can change its content and leave all of this as it was.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int64
  package let changedNanoseconds: Int64

  package init(_ status: FileStatus) {
    (device, inode, byteCount) = (status.device, status.inode, status.byteCount)
    changedNanoseconds = status.changedNanoseconds
  }

  /// That of no file: what is known by it is read before it is used.
  static let unknown = FileIdentity(device: 0, inode: 0, byteCount: 0, changedNanoseconds: 0)

  init(device: UInt64, inode: UInt64, byteCount: Int64, changedNanoseconds: Int64) {
    (self.device, self.inode, self.byteCount, self.changedNanoseconds) = (device, inode, byteCount, changedNanoseconds)
  }
}
