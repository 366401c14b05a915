public import Digests

/// Where the `.verity` of a target is served, how long it is, and what makes it trusted. It is no target: nothing signs it, and no metadata
/// lists it. Its name and length follow from what is signed of the file, and its content is held against the signed fs-verity digest.
extension TargetFile {
  /// What stands behind the name of a file in the name of its `.verity`.
  public static let segmentsSuffix = ".verity"

  /// The exact number of bytes in the file's `.verity`, and so the most to fetch of it; nil where the file has none.
  public var segmentsByteCount: Int? { fsverity == nil ? nil : SegmentDigests.byteCount(fileLength: byteCount) }

  /// Where the file's `.verity` lies below the folder or URL of the targets: beside the file itself, under the file's name with `.verity`.
  /// - Parameters:
  ///   - path: the target path of the file.
  ///   - consistentSnapshot: what the trusted root says.
  /// - Returns: the path's bytes; nil where the file has no `.verity`, or where the name would be longer than file systems take.
  public func segmentsPath(of path: TargetPath, consistentSnapshot: Bool) -> [UInt8]? {
    guard segmentsByteCount != nil else { return nil }
    let served = consistentSnapshot ? path.prefixed(by: hashes.sha256.hexadecimal) : path.name.bytes
    let result = served + Self.segmentsSuffix.utf8
    let nameByteCount = result.count - (result.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)
    return nameByteCount <= TargetPath.segmentByteLimit ? result : nil
  }

  /// Holds the content of a `.verity`, from any source, against what is signed of the file.
  /// - Throws: `DigestError.noSegments`, `DigestError.segmentsLength` or `DigestError.segmentsRoot`.
  public func segmentDigests(_ bytes: [UInt8]) throws(DigestError) -> SegmentDigests {
    guard let fsverity else { throw .noSegments(fileLength: byteCount) }
    return try SegmentDigests(bytes: bytes, fileLength: byteCount, root: fsverity)
  }
}
