internal import Digests
internal import FileIO
internal import TUFMetadata

/// A file system, as it is used for a folder that may not be there yet.
struct Disk {
  /// For messages.
  let path: String
  let device: UInt64
  let space: VolumeSpace

  init(_ folder: borrowing FileDescriptor, _ path: String) throws(InstallationError) {
    (device, space) = try at(.inspect, path) { () throws(Errno) in (try folder.status().device, try folder.space()) }
    self.path = path
  }

  /// That of the nearest folder at or above a path.
  init(nearest path: String) throws(InstallationError) {
    let names = path.split(separator: "/")
    for count in (0...names.count).reversed() {
      let place = (path.hasPrefix("/") ? "/" : count == 0 ? "." : "") + names.prefix(count).joined(separator: "/")
      do throws(Errno) {
        let folder = try FileDescriptor(opening: place, .directory)
        (device, space) = (try folder.status().device, try folder.space())
        self.path = path
        return
      } catch {
        guard error == .notFound else { throw .file(.system(.inspect, path: place, error)) }
      }
    }
    throw .file(.system(.inspect, path: path, .notFound))
  }
}

/// What the files that are missing will take, as the disks count it: content in whole blocks, the folders with their names, the files that a
/// disk has room for, and the store's records, of which the old one is there until the new one is whole.
struct DiskNeeds {
  /// What each disk has to have free. What is kept as the way back is on it already.
  private(set) var spaces: [InstallPlan.Space] = []
  /// What will be taken for good beyond what is now.
  private(set) var stayingByteCount: Int64 = 0

  /// What else a file system writes for files and folders, of which nobody can tell more than that it is little.
  private static let slack: Int64 = 256 << 10
  /// What a name in a folder takes beside its bytes.
  private static let nameByteCount = 24
  /// What a file takes in a record beside its path and its place.
  private static let recordByteCount = 320
  /// Temporary files, and the folders above a version.
  private static let fewFiles: Int64 = 16

  /// - Parameters:
  ///   - recordByteCount: of the model's record as it is now.
  ///   - reserved: how many bytes the store's reserve has.
  ///   - unwritten: how many bytes of the model's description, and folders of the store, are not there yet: an installation has written them before
  ///     it counts.
  ///   - parts: where files are fetched to; each comes from there into the store by one rename, or else by a copy.
  ///   - fetched: how many bytes of a file are there already.
  init(
    of missing: [ModelLookup.File], _ lookup: ModelLookup, recordByteCount: Int64, reserved: Int64,
    unwritten: (description: Int64, folders: Int) = (0, 0), store: Disk, parts: Disk, fetched: (TargetFile) -> Int64
  ) {
    guard !missing.isEmpty else { return }
    let isElsewhere = parts.device != store.device
    var (rest, largestRest, whole): (Int64, Int64, Int64) = (0, 0, 0)
    var seen: Set<SHA256Digest> = []
    for file in missing {
      let all = store.space.rounded(file.target.byteCount)
      let here = fetched(file.target)
      var own = here >= file.target.byteCount ? 0 : max(0, parts.space.rounded(file.target.byteCount) - here)
      largestRest = max(largestRest, own)
      // A second file of the same content is a copy of the first.
      if !seen.insert(file.target.hashes.sha256).inserted { own = all }
      rest = sum(rest, own)
      whole = sum(whole, all)
    }
    let (folderCount, names) = Self.folders(of: missing)
    let folders = sum(store.space.rounded(names), (0..<folderCount).reduce(0) { total, _ in sum(total, store.space.rounded(1)) })
    let entry = lookup.files.reduce(Int64(lookup.audience?.byteCount ?? 0)) { sum($0, Self.entryByteCount($1)) }
    let records = store.space.rounded(sum(recordByteCount, sum(entry, entry)))
    let content = isElsewhere ? whole : rest
    let reserve = max(0, store.space.rounded(ModelStore.reserveByteCount(forRecordOf: sum(recordByteCount, entry))) - reserved)
    let first = (0..<unwritten.folders).reduce(store.space.rounded(unwritten.description)) { total, _ in sum(total, store.space.rounded(1))
    }
    let own = sum(reserve, first)
    stayingByteCount = sum(content, sum(folders, sum(store.space.rounded(entry), own)))
    let files = sum(Int64(missing.count + folderCount + unwritten.folders), Self.fewFiles)
    let least = content > 0 ? Self.slack : 0
    spaces = [Self.space(store, sum(sum(content, least), sum(sum(folders, records), own)), files)]
    // One file after another lies there.
    if isElsewhere { spaces.insert(Self.space(parts, sum(largestRest, Self.slack), Self.fewFiles), at: 0) }
  }

  private static func space(_ disk: Disk, _ bytes: Int64, _ files: Int64) -> InstallPlan.Space {
    .init(
      path: disk.path, neededByteCount: bytes, freeByteCount: disk.space.freeByteCount, neededFileCount: files,
      freeFileCount: disk.space.freeFileCount)
  }

  /// How many folders the files lie in, and the bytes of all names in them.
  private static func folders(of files: [ModelLookup.File]) -> (count: Int, names: Int64) {
    var folders: Set<[ByteString]> = [[]]
    var names: Int64 = 0
    func add(_ name: ByteString) { names = sum(names, Int64(name.bytes.count + nameByteCount)) }
    for file in files {
      for (depth, name) in file.name.enumerated() {
        let isFile = depth == file.name.count - 1
        if isFile || folders.insert(Array(file.name.prefix(depth + 1))).inserted { add(name) }
      }
    }
    return (folders.count, names)
  }

  private static func entryByteCount(_ file: ModelLookup.File) -> Int64 {
    Int64(file.path.name.bytes.count + file.name.reduce(0) { $0 + $1.bytes.count + 1 } + recordByteCount)
  }
}

private func sum(_ first: Int64, _ second: Int64) -> Int64 {
  let (sum, overflow) = first.addingReportingOverflow(second)
  return overflow ? .max : sum
}

extension InstallPlan.Space {
  /// Why a disk does not do; nil where it does.
  package var shortage: ModelError? {
    if neededByteCount > freeByteCount { return .insufficientSpace(path: path, needed: neededByteCount, free: freeByteCount) }
    guard let free = freeFileCount, neededFileCount > free else { return nil }
    return .insufficientFiles(path: path, needed: neededFileCount, free: free)
  }
}
