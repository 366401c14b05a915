internal import CSodium
internal import Digests
package import TUFMetadata

/// A signing key of the tests, made from a small number: worthless, and the same in every run.
package struct FixtureKey: Hashable, Sendable {
  package let publicKey: Ed25519PublicKey
  /// The key object as metadata lists it.
  package let tree: JSONTree
  /// The SHA-256 of that object's canonical JSON.
  package let id: KeyID
  private let secret: [UInt8]

  /// - Parameter note: an unknown member of the key object, which gives the same key another id.
  package init(_ number: UInt8, note: ByteString? = nil) {
    var publicBytes = [UInt8](repeating: 0, count: 32)
    var secret = [UInt8](repeating: 0, count: 64)
    // The buffers have the sizes that libsodium asks for.
    let result = unsafe crypto_sign_seed_keypair(&publicBytes, &secret, [UInt8](repeating: number, count: 32))
    precondition(result == 0, "libsodium makes no key")
    do { publicKey = try Ed25519PublicKey(bytes: publicBytes) } catch { preconditionFailure("a key of 32 bytes: \(error)") }
    self.secret = secret
    var tree = Key.tree(publicKey)
    if let note { tree["note"] = .string(note) }
    self.tree = tree
    id = KeyID(digest: SHA256.hash(of: tree.canonicalBytes))
  }

  package func signature(over message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 64)
    // The buffers have the sizes that libsodium asks for.
    let result = unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret)
    precondition(result == 0, "libsodium signs nothing")
    return signature
  }

  /// An entry of `signatures`.
  package func entry(over message: [UInt8]) -> JSONTree {
    .object(["keyid": .string(ByteString(id.description)), "sig": .string(ByteString(Hexadecimal.encode(signature(over: message).span)))])
  }

  public static func == (left: Self, right: Self) -> Bool { left.id == right.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
