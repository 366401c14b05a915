internal import ManifestVerifier
internal import TUFMetadata

/// What makes signatures outside of this process's own code: a program, or a token.
protocol SignatureSource: AnyObject {
  /// A signature over the exact bytes, not yet believed.
  func signature(over message: [UInt8]) throws(SignerFault) -> Ed25519Signature
}

/// A signer whose key this process never sees. Each signature is verified before it is used.
final class ExternalSigner: Signer {
  let publicKey: Ed25519PublicKey
  let longestMessage: Int?
  private let name: String
  private let source: any SignatureSource

  init(name: String, publicKey: Ed25519PublicKey, longestMessage: Int?, source: any SignatureSource) {
    self.name = name
    self.publicKey = publicKey
    self.longestMessage = longestMessage
    self.source = source
  }

  func requireRoom(forMessageOf byteCount: Int) throws(SigningError) {
    guard let longestMessage, byteCount > longestMessage else { return }
    throw .signer(name: name, .messageTooLong(byteCount: byteCount, limit: longestMessage))
  }

  func sign(_ message: [UInt8]) throws(SigningError) -> Ed25519Signature {
    try requireRoom(forMessageOf: message.count)
    let signature: Ed25519Signature
    do throws(SignerFault) { signature = try source.signature(over: message) } catch {
      throw error == .interrupted ? .cancelled : .signer(name: name, error)
    }
    guard publicKey.isValid(signature, over: message.span) else { throw .signer(name: name, .otherKey) }
    return signature
  }
}
