internal import Digests
package import ManifestSigning
package import TUFMetadata

/// A real Ed25519 key that a seed and a name stand for: worthless, and the same in every run.
package final class SimulatedKey: Signer, Sendable {
  package let name: String
  /// The key as metadata lists it.
  package let key: Key
  package let publicKey: Ed25519PublicKey
  private let secret: SecretKey

  package init(_ name: String, seed: UInt64) throws(SimulationError) {
    do throws(KeyError) {
      var bytes = try SecureBytes(capacity: SecretKey.seedByteCount)
      bytes.append(SHA256.hash(of: Array("\(seed)/\(name)".utf8)).bytes)
      secret = try SecretKey(seed: bytes)
    } catch { throw .signing(.key(error, path: name)) }
    self.name = name
    publicKey = secret.publicKey
    key = Key(publicKey)
  }

  package func requireRoom(forMessageOf byteCount: Int) {}

  package func sign(_ message: [UInt8]) throws(SigningError) -> Ed25519Signature { try secret.sign(message) }

  /// The key's id, as metadata writes it.
  var idText: JSONTree { .string(ByteString(key.id.digest.hexadecimal)) }

  /// An entry of `signatures`.
  func entry(over message: [UInt8]) throws(SimulationError) -> JSONTree {
    let signature: Ed25519Signature
    do { signature = try sign(message) } catch { throw .signing(error) }
    return .object([
      .keyid: idText,
      .sig: .string(ByteString(Hexadecimal.encode(signature.bytes.span))),
    ])
  }
}

extension [SimulatedKey] {
  /// The `keys` object of root or of delegations.
  var list: JSONTree {
    .object(Dictionary(map { (ByteString($0.key.id.description), Key.tree($0.publicKey)) }, uniquingKeysWith: { first, _ in first }))
  }

  /// A metadata file over exactly these bytes, whatever they say.
  package func file(over message: [UInt8]) throws(SimulationError) -> [UInt8] {
    var entries: [JSONTree] = []
    // In the order in which the publishers that are not simulated write them.
    for key in sorted(by: { $0.key.id < $1.key.id }) { entries.append(try key.entry(over: message)) }
    var bytes = [UInt8]("{\"signatures\":".utf8)
    JSONTree.array(entries).appendCanonical(to: &bytes)
    bytes += [UInt8](",\"signed\":".utf8)
    bytes += message
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}
