internal import Digests
internal import TUFMetadata

extension FileHashes {
  /// Holds metadata against every digest that was signed for it.
  func requireMatch(_ bytes: [UInt8], role: ByteString) throws(VerificationError) {
    let sha256 = SHA256.hash(of: bytes)
    guard sha256 == self.sha256 else {
      throw .wrongMetadataDigest(role: role, expected: "sha256:\(self.sha256)", actual: "sha256:\(sha256)")
    }
    guard let expected = self.sha512 else { return }
    let sha512 = SHA512.hash(of: bytes)
    guard sha512 == expected else {
      throw .wrongMetadataDigest(role: role, expected: "sha512:\(expected)", actual: "sha512:\(sha512)")
    }
  }
}
