internal import Digests
internal import TUFMetadata

/// Which digests decide about a file.
struct DecidingDigests {
  let usesTree: Bool
  let usesWhole: Bool
  let usesSHA512: Bool

  init(of file: TargetFile, _ method: FileVerifier.Method) {
    usesTree = method != .whole && file.fsverity != nil
    usesWhole = method != .tree || !usesTree
    usesSHA512 = usesWhole && file.hashes.sha512 != nil
  }

  /// - Parameter verifiesSegments: whether the tree is verified segment by segment elsewhere.
  func pass(verifyingSegments: Bool = false) -> DigestPass {
    DigestPass(sha256: usesWhole, sha512: usesSHA512, fsverity: usesTree && !verifyingSegments)
  }
}

extension DigestPass.Outcome {
  /// The first digest that is not the signed one, as texts that begin with the algorithm's name.
  func mismatch(with file: TargetFile) -> (expected: String, actual: String)? {
    if let expected = file.fsverity, let actual = fsverity, actual != expected { return ("fs-verity \(expected)", "fs-verity \(actual)") }
    if let actual = sha256, actual != file.hashes.sha256 { return ("sha256:\(file.hashes.sha256)", "sha256:\(actual)") }
    if let expected = file.hashes.sha512, let actual = sha512, actual != expected { return ("sha512:\(expected)", "sha512:\(actual)") }
    return nil
  }
}
