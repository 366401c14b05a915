internal import Digests
internal import TUFMetadata

/// The digests that decide about one file, computed together while it is read once.
struct FileDigests: ~Copyable {
  private var tree: FSVerityHasher?
  private var sha256: SHA256?
  private var sha512: SHA512?

  /// - Parameter segments: where they are at hand, the tree is verified segment by segment elsewhere.
  init(of file: TargetFile, _ method: FileVerifier.Method, segments: SegmentDigests? = nil) {
    let usesTree = method != .whole && file.fsverity != nil
    let usesWhole = method != .tree || !usesTree
    tree = usesTree && segments == nil ? FSVerityHasher() : nil
    sha256 = usesWhole ? SHA256() : nil
    sha512 = usesWhole && file.hashes.sha512 != nil ? SHA512() : nil
  }

  mutating func update(_ bytes: Span<UInt8>) {
    tree?.update(bytes)
    sha256?.update(bytes)
    sha512?.update(bytes)
  }

  /// The first digest that is not the signed one, as texts that begin with the algorithm's name.
  consuming func mismatch(with file: TargetFile) -> (expected: String, actual: String)? {
    if let expected = file.fsverity, let actual = tree.take()?.finalize(), actual != expected {
      return ("fs-verity \(expected)", "fs-verity \(actual)")
    }
    if let actual = sha256.take()?.finalize(), actual != file.hashes.sha256 {
      return ("sha256:\(file.hashes.sha256)", "sha256:\(actual)")
    }
    if let expected = file.hashes.sha512, let actual = sha512.take()?.finalize(), actual != expected {
      return ("sha512:\(expected)", "sha512:\(actual)")
    }
    return nil
  }
}
