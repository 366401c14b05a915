internal import TUFMetadata

/// Where the hashes of a file's segments are published.
struct SegmentSource: Sendable {
  init?(of path: TargetPath, _ target: TargetFile, mirrors: [Mirror], consistentSnapshot: Bool) { return nil }
}
