internal import Digests
package import TUFMetadata

/// Something that signs for one key.
package protocol Signer: AnyObject {
  var publicKey: Ed25519PublicKey { get }

  /// Refuses a message that is too long to be signed, before anything is.
  func requireRoom(forMessageOf byteCount: Int) throws(SigningError)

  /// Signs the exact bytes.
  func sign(_ message: [UInt8]) throws(SigningError) -> Ed25519Signature
}

/// A secret key that is open in this process.
package final class SecretKeySigner: Signer {
  private let key: SecretKey

  package init(_ key: consuming SecretKey) { self.key = key }

  package var publicKey: Ed25519PublicKey { key.publicKey }

  package func requireRoom(forMessageOf byteCount: Int) {}

  package func sign(_ message: [UInt8]) throws(SigningError) -> Ed25519Signature { try key.sign(message) }
}

/// Stands in for a signer to find out how long its messages will be: it asks the limit, and gives a signature of zeros.
final class SignerRehearsal: Signer {
  private let signer: any Signer

  init(_ signer: any Signer) { self.signer = signer }

  var publicKey: Ed25519PublicKey { signer.publicKey }

  func requireRoom(forMessageOf byteCount: Int) throws(SigningError) { try signer.requireRoom(forMessageOf: byteCount) }

  func sign(_ message: [UInt8]) throws(SigningError) -> Ed25519Signature { .zero }
}

/// A metadata file that was signed here.
struct SignedMetadata {
  /// The whole file, in canonical form, so that a verifier needs no second copy to check the signatures.
  let bytes: [UInt8]

  /// Signs a payload in its canonical form.
  init(_ message: [UInt8], by signers: [any Signer]) throws(SigningError) {
    // All are asked before one signs.
    for signer in signers { try signer.requireRoom(forMessageOf: message.count) }
    var entries: [(KeyID, Ed25519Signature)] = []
    for signer in signers { entries.append((Key(signer.publicKey).id, try signer.sign(message))) }
    let signatures = JSONTree.array(
      entries.sorted { $0.0 < $1.0 }.map { id, signature in
        .object([.keyid: .string(ByteString(id.digest.hexadecimal)), .sig: .string(ByteString(Hexadecimal.encode(signature.bytes.span)))])
      })
    var bytes = Array("{\"signatures\":".utf8)
    bytes.reserveCapacity(message.count + 1024)
    signatures.appendCanonical(to: &bytes)
    bytes += Array(",\"signed\":".utf8)
    bytes += message
    bytes.append(UInt8(ascii: "}"))
    self.bytes = bytes
  }
}
