package import Digests
package import ModelFormats
package import TUFMetadata

/// A file of a model, hashed from its first byte to its last. A class, for a hundred thousand of them are moved about.
package final class HashedFile: Sendable {
  package let file: ScannedFile
  /// What is to be signed of it.
  package let target: TargetFile
  /// What `<name>.verity` is to hold; nil for a file that has none.
  package let segments: SegmentDigests?
  /// What it says about itself.
  package let summary: ModelSummary

  package init(file: ScannedFile, target: TargetFile, segments: SegmentDigests?, summary: ModelSummary) {
    self.file = file
    self.target = target
    self.segments = segments
    self.summary = summary
  }
}
