package import Digests
package import TUFMetadata

/// Holds a file against the manifest while it arrives, in constant memory: nothing of it is trusted before `finish`.
package struct StreamVerification: ~Copyable {
  private let path: String
  private let file: TargetFile
  private let digests: DigestPass
  private var length: Int64 = 0

  /// - Parameters:
  ///   - path: for messages only.
  ///   - file: what the manifest says of it. Every digest that it has is computed.
  ///   - segments: where they are at hand, the tree is verified segment by segment elsewhere, and only the other digests here.
  package init(_ path: String, against file: TargetFile, segments: SegmentDigests? = nil) {
    self.path = path
    self.file = file
    digests = DecidingDigests(of: file, .every).pass(verifyingSegments: segments != nil)
  }

  /// Adds what arrived next.
  /// - Throws: `wrongLength` at the first byte too many.
  package mutating func update(_ bytes: Span<UInt8>) throws(VerificationError) {
    guard Int64(bytes.count) <= file.byteCount - length else {
      let (actual, overflow) = length.addingReportingOverflow(Int64(bytes.count))
      throw .wrongLength(path: path, expected: file.byteCount, actual: overflow ? .max : actual)
    }
    length += Int64(bytes.count)
    digests.hash(bytes)
  }

  /// Says that nothing more comes.
  /// - Throws: `wrongLength` or `wrongDigest`.
  package consuming func finish() throws(VerificationError) {
    guard length == file.byteCount else { throw .wrongLength(path: path, expected: file.byteCount, actual: length) }
    if let (expected, actual) = digests.finalize().mismatch(with: file) {
      throw .wrongDigest(path: path, expected: expected, actual: actual)
    }
  }
}
