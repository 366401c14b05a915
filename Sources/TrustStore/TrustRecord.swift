internal import FileIO
internal import TUFMetadata

/// What a device remembers beside the metadata files: where its trust begins, and the root that the cache was verified under.
///
/// A small text file, one `name value` a line, in this order:
/// ```
/// signed-manifest-trust 1
/// anchor 1
/// verified-under-root 3
/// ```
/// The last line is missing where no timestamp or snapshot is kept.
struct TrustRecord: Equatable {
  static let format: Int64 = 1
  static let byteLimit = 4096

  /// The version of the root that trust begins at.
  var anchor: Version
  /// The root version under which timestamp and snapshot were verified.
  var verifiedUnderRoot: Version?

  init(anchor: Version, verifiedUnderRoot: Version? = nil) {
    self.anchor = anchor
    self.verifiedUnderRoot = verifiedUnderRoot
  }

  /// - Parameter path: for the error.
  init(_ bytes: [UInt8], path: String) throws(TrustStoreError) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    let format = try Self.number("signed-manifest-trust", &lines, path)
    guard format <= Self.format else { throw .newerFormat(path: path, found: format, supported: Self.format) }
    guard let anchor = Version(try Self.number("anchor", &lines, path)) else { throw Self.damaged(path) }
    self.anchor = anchor
    verifiedUnderRoot = lines.count > 1 ? Version(try Self.number("verified-under-root", &lines, path)) : nil
    // Nothing else was written, and no number in another spelling.
    guard self.bytes == bytes else { throw Self.damaged(path) }
  }

  var bytes: [UInt8] {
    var text = "signed-manifest-trust \(Self.format)\nanchor \(anchor)\n"
    if let verifiedUnderRoot { text += "verified-under-root \(verifiedUnderRoot)\n" }
    return Array(text.utf8)
  }

  private static func number(_ name: String, _ lines: inout ArraySlice<ArraySlice<UInt8>>, _ path: String) throws(TrustStoreError) -> Int64
  {
    let parts = (lines.popFirst() ?? []).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].elementsEqual(name.utf8), let number = Int64(String(decoding: parts[1], as: UTF8.self)), number >= 1
    else { throw damaged(path) }
    return number
  }

  private static func damaged(_ path: String) -> TrustStoreError {
    .damaged(path: path, expected: "the lines that this software wrote")
  }
}
