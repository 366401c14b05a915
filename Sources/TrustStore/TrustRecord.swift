internal import Digests
internal import FileIO
internal import TUFMetadata

/// What a device remembers beside the metadata files: where its trust begins, the root that the cache was verified under, which files have to
/// be there, which of them a rotation has superseded, and when a refresh last succeeded.
///
/// A small text file, one `name value` a line, in this order:
/// ```
/// signed-manifest-trust 4
/// anchor 1
/// verified-under-root 3
/// kept timestamp
/// kept snapshot
/// rotating-since-root 2
/// superseded timestamp 9f86d081…
/// superseded snapshot 60303ae2…
/// newest-refresh 2030-01-01T00:00:00Z
/// end
/// ```
/// The third line is missing where no timestamp or snapshot was kept yet, each of the next two where that file need not be there, the three
/// after them where no rotation is half done, the one before the last where no refresh has succeeded yet. A superseded file is named by its
/// SHA-256. Format 1 has no newest refresh, format 2 nothing that was kept, format 3 nothing of rotations and no end; all are read, and
/// become format 4 when the record is next written.
struct TrustRecord: Equatable {
  static let format: Int64 = 4
  static let byteLimit = 4096

  /// The version of the root that trust begins at.
  var anchor: Version
  /// The root version under which timestamp and snapshot were verified, or for which they were superseded.
  var verifiedUnderRoot: Version?
  /// Whether the file was written, so that it is missed where it is gone: an older one could be taken for new then.
  var keptTimestamp = false
  var keptSnapshot = false
  /// The root version of the last complete set, while a rotation is half done.
  private(set) var rotatingSinceRoot: Version?
  /// The files against which nothing new is held, as long as they are these very files.
  var supersededTimestamp: SHA256Digest?
  var supersededSnapshot: SHA256Digest?
  /// The newest time at which a whole refresh succeeded.
  private(set) var newestRefresh: UTCTime?

  init(anchor: Version) { self.anchor = anchor }

  /// Notes that a rotation took away keys of what is kept.
  mutating func supersede(_ timestamp: SHA256Digest?, _ snapshot: SHA256Digest?, _ root: Version) {
    rotatingSinceRoot = rotatingSinceRoot ?? verifiedUnderRoot ?? root
    (keptTimestamp, keptSnapshot, verifiedUnderRoot) = (false, false, root)
    (supersededTimestamp, supersededSnapshot) = (timestamp, snapshot)
  }

  /// Notes that all roles were verified.
  mutating func finishRefresh(at time: UTCTime) {
    newestRefresh = max(newestRefresh ?? time, time)
    (keptTimestamp, keptSnapshot) = (true, true)
    (rotatingSinceRoot, supersededTimestamp, supersededSnapshot) = (nil, nil, nil)
  }

  /// - Parameter path: for the error.
  init(_ bytes: [UInt8], path: String) throws(TrustStoreError) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    guard let format = Self.value("signed-manifest-trust", &lines).flatMap(Self.number) else { throw Self.damaged(path) }
    guard format <= Self.format else { throw .newerFormat(path: path, found: format, supported: Self.format) }
    guard let anchor = Self.value("anchor", &lines).flatMap(Self.number).flatMap(Version.init) else { throw Self.damaged(path) }
    self.anchor = anchor
    verifiedUnderRoot = Self.value("verified-under-root", &lines).flatMap(Self.number).flatMap(Version.init)
    if format >= 3 { (keptTimestamp, keptSnapshot) = (Self.skip(Self.timestampLine, &lines), Self.skip(Self.snapshotLine, &lines)) }
    if format >= 4 {
      rotatingSinceRoot = Self.value("rotating-since-root", &lines).flatMap(Self.number).flatMap(Version.init)
      supersededTimestamp = Self.value("superseded timestamp", &lines).flatMap(Self.digest)
      supersededSnapshot = Self.value("superseded snapshot", &lines).flatMap(Self.digest)
    }
    newestRefresh = format < 2 ? nil : Self.value("newest-refresh", &lines).flatMap { try? UTCTime(text: $0.span) }
    // Nothing else was written, no line is left over or unreadable, and no number has another spelling. A record that was cut at the end of
    // a line lacks its last one.
    guard self.bytes(format: format) == bytes else { throw Self.damaged(path) }
  }

  var bytes: [UInt8] { bytes(format: Self.format) }

  private func bytes(format: Int64) -> [UInt8] {
    var text = "signed-manifest-trust \(format)\nanchor \(anchor)\n"
    if let verifiedUnderRoot { text += "verified-under-root \(verifiedUnderRoot)\n" }
    if keptTimestamp { text += Self.timestampLine + "\n" }
    if keptSnapshot { text += Self.snapshotLine + "\n" }
    if let rotatingSinceRoot { text += "rotating-since-root \(rotatingSinceRoot)\n" }
    if let supersededTimestamp { text += "superseded timestamp \(supersededTimestamp)\n" }
    if let supersededSnapshot { text += "superseded snapshot \(supersededSnapshot)\n" }
    if let newestRefresh { text += "newest-refresh \(newestRefresh)\n" }
    return Array((text + (format >= 4 ? "end\n" : "")).utf8)
  }

  /// The value of the next line; nil where that has another name, and then it stays the next.
  private static func value(_ name: String, _ lines: inout ArraySlice<ArraySlice<UInt8>>) -> [UInt8]? {
    let prefix = Array(name.utf8) + [UInt8(ascii: " ")]
    guard let line = lines.first, line.starts(with: prefix) else { return nil }
    lines.removeFirst()
    return Array(line.dropFirst(prefix.count))
  }

  private static let timestampLine = "kept timestamp"
  private static let snapshotLine = "kept snapshot"

  /// - Returns: whether the next line was this one.
  private static func skip(_ line: String, _ lines: inout ArraySlice<ArraySlice<UInt8>>) -> Bool {
    guard let next = lines.first, next.elementsEqual(line.utf8) else { return false }
    lines.removeFirst()
    return true
  }

  private static func number(_ digits: [UInt8]) -> Int64? {
    guard let number = Int64(String(decoding: digits, as: UTF8.self)), number >= 1 else { return nil }
    return number
  }

  private static func digest(_ digits: [UInt8]) -> SHA256Digest? { try? SHA256Digest(hexadecimal: digits.span) }

  private static func damaged(_ path: String) -> TrustStoreError {
    .damaged(path: path, expected: "the lines that this software wrote")
  }
}
