internal import Digests
package import FileIO
package import ModelFormats
package import TUFMetadata

/// What earlier publications have found out about the files of one folder: a file that the file system tells is the same needs no reading.
///
/// A file is the same where path, device, inode, length, time of modification and time of change are, the times to the nanosecond. No program
/// can set the time of change. But a clock moves in steps: a file that changed just before it was hashed might change again within the step,
/// and would still seem the same, so such a file is not remembered.
package struct DigestCache: Sendable {
  /// What is known of one file. It was held against its format, and is no secret key. A class, for a hundred thousand of them are moved about.
  package final class Entry: Equatable, Sendable {
    package let path: TargetPath
    let device: UInt64
    let inode: UInt64
    let modifiedNanoseconds: Int64
    let changedNanoseconds: Int64
    let target: TargetFile
    package let summary: ModelSummary

    init(
      path: TargetPath, device: UInt64, inode: UInt64, modifiedNanoseconds: Int64, changedNanoseconds: Int64, target: TargetFile,
      summary: ModelSummary
    ) {
      (self.path, self.device, self.inode) = (path, device, inode)
      (self.modifiedNanoseconds, self.changedNanoseconds) = (modifiedNanoseconds, changedNanoseconds)
      (self.target, self.summary) = (target, summary)
    }

    package static func == (left: Entry, right: Entry) -> Bool {
      (left.device, left.inode, left.modifiedNanoseconds, left.changedNanoseconds)
        == (right.device, right.inode, right.modifiedNanoseconds, right.changedNanoseconds)
        && left.path == right.path && left.target == right.target && left.summary == right.summary
    }
  }

  /// Coarse file systems count in two seconds, others in the kernel's ticks of a few milliseconds; whoever serves a network file system has a
  /// clock of his own.
  package static let clockStep: Int64 = 2_000_000_000

  /// Stands for the keys whose bare seeds the files were searched for.
  var searchedKeys: SHA256Digest?
  /// In byte order of their paths, each path once.
  package private(set) var entries: [Entry]
  /// Whether it differs from what was read.
  package private(set) var isChanged = false

  /// - Parameter entries: in byte order of their paths, each path once.
  package init(_ entries: [Entry] = []) { self.entries = entries }

  /// What is known of a file; nil where it has to be read.
  /// - Parameter next: where the file probably stands among the entries; then, where the one behind it does. Who asks for one file after
  ///   another, in the order of their paths, need not search.
  package func known(_ path: TargetPath, _ status: FileStatus, expectedAt next: inout Int) -> Entry? {
    let isThere = entries.indices.contains(next) && entries[next].path == path
    guard let position = isThere ? next : entries.position(of: path, by: \.path) else { return nil }
    next = position + 1
    let entry = entries[position]
    guard status.kind == .regular, entry.target.byteCount == status.byteCount, entry.device == status.device,
      entry.inode == status.inode, entry.modifiedNanoseconds == status.modifiedNanoseconds,
      entry.changedNanoseconds == status.changedNanoseconds
    else { return nil }
    return entry
  }

  /// Remembers what was hashed.
  /// - Parameters:
  ///   - files: each path once.
  ///   - start: a time before the files were read, in nanoseconds since 1970.
  package mutating func remember(_ files: some Sequence<HashedFile>, readAfter start: Int64?) {
    guard let start else { return }
    let stable = files.filter { hashed in
      let status = hashed.file.status
      return hashed.target.fsverity != nil && status.modifiedNanoseconds < start &- Self.clockStep
        && status.changedNanoseconds < start &- Self.clockStep
    }
    guard !stable.isEmpty else { return }
    isChanged = true
    var added: [Entry] = []
    for hashed in stable {
      let (status, summary) = (hashed.file.status, hashed.summary)
      let entry = Entry(
        path: hashed.file.path, device: status.device, inode: status.inode, modifiedNanoseconds: status.modifiedNanoseconds,
        changedNanoseconds: status.changedNanoseconds, target: hashed.target,
        summary: ModelSummary(format: summary.format, content: summary.content, quantisation: summary.quantisation))
      if let position = entries.position(of: entry.path, by: \.path) { entries[position] = entry } else { added.append(entry) }
    }
    guard !added.isEmpty else { return }
    entries += added
    entries.sort { $0.path < $1.path }
  }

  /// Forgets what is no longer there.
  /// - Parameter keys: stands for the keys whose bare seeds the files have been searched for by now.
  mutating func keepOnly(_ scan: CatalogScan, searchedFor keys: SHA256Digest) {
    if searchedKeys != keys {
      searchedKeys = keys
      isChanged = true
    }
    let found = scan.files.count { $0.known != nil || entries.position(of: $0.path, by: \.path) != nil }
    guard found < entries.count else { return }
    isChanged = true
    let paths = Set(scan.files.map(\.path))
    entries.removeAll { !paths.contains($0.path) }
  }
}

extension HashedFile {
  /// A file that was hashed before. Its `.verity` is not remembered but read from where it is served.
  /// - Returns: nil where that is missing or damaged, so that the file has to be read to write it anew.
  convenience init?(file: ScannedFile, _ entry: DigestCache.Entry, servedIn layout: RepositoryLayout) {
    var segments: SegmentDigests?
    if let byteCount = entry.target.segmentsByteCount, let place = layout.segments(file.path, entry.target) {
      guard let bytes = try? readFile(place, limit: byteCount, followingLinks: false),
        let digests = try? entry.target.segmentDigests(bytes)
      else { return nil }
      segments = digests
    }
    self.init(file: file, target: entry.target, segments: segments, summary: entry.summary)
  }
}
