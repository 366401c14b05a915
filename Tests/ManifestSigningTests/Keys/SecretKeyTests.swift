import CSodium
import ManifestSigning
import TUFMetadata
import Testing

@Suite("Ed25519 secret keys") struct SecretKeyTests {
  @Test("the public half and the signature are those of RFC 8032 §7.1") func knownAnswer() throws {
    let key = try KnownKey.key()
    let publicKey = key.publicKey
    #expect(hexadecimal(publicKey.bytes) == KnownKey.publicKey)
    let signature = try key.sign([0x72])
    #expect(hexadecimal(signature.bytes) == KnownKey.signature)
  }

  @Test("an empty message can be signed") func emptyMessage() throws {
    let signature = try KnownKey.key().sign([])
    #expect(unsafe crypto_sign_verify_detached(signature.bytes, [], 0, try KnownKey.key().publicKey.bytes) == 0)
  }

  @Test("two new keys differ") func generate() throws {
    let first = try SecretKey.generate().publicKey
    let second = try SecretKey.generate().publicKey
    #expect(first != second)
  }

  @Test("a seed has exactly 32 bytes", arguments: [0, 1, 31, 33, 64]) func seedLength(count: Int) {
    let error = errorOf { () throws(KeyError) in try SecretKey(seed: secure([UInt8](repeating: 7, count: count))) }
    #expect(error != nil)
  }
}

@Suite("Secure bytes") struct SecureBytesTests {
  @Test("bytes come back as they went in") func roundTrip() throws {
    var bytes = try SecureBytes(capacity: 10)
    let fits = bytes.append([1, 2, 3])
    let tooMany = bytes.append([UInt8](repeating: 4, count: 8))
    let content = copy(bytes)
    #expect(fits && !tooMany && content == [1, 2, 3])
  }

  @Test("what is dropped from the end is wiped") func removeLast() throws {
    var bytes = try secure([1, 2, 3, 4])
    bytes.removeLast(2)
    let left = copy(bytes)
    #expect(left == [1, 2])
    var behind: [UInt8] = []
    // The block has room for four bytes, all of them written above.
    unsafe bytes.withUnsafeBytes { start, _ in behind = unsafe [start[2], start[3]] }
    #expect(behind == [0, 0])
  }

  @Test("a count that a closure makes up is held within the room") func boundedAppend() throws {
    var bytes = try SecureBytes(capacity: 4)
    // Nothing is written.
    unsafe bytes.append { _, _ in 100 }
    let full = bytes.count
    // Nothing is written.
    unsafe bytes.append { _, _ in -1 }
    let still = bytes.count
    bytes.removeLast(1000)
    let empty = bytes.count
    #expect(full == 4 && still == 4 && empty == 0)
  }

  @Test("comparison sees length and content") func equality() throws {
    let bytes = try secure([1, 2, 3])
    let same = bytes.isEqual(to: try secure([1, 2, 3]))
    let other = bytes.isEqual(to: try secure([1, 2, 4]))
    let shorter = bytes.isEqual(to: try secure([1, 2]))
    #expect(same && !other && !shorter)
  }
}
