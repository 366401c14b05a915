import Digests
import TestSupport
import Testing

@Suite("SHA-256 and SHA-512 are those of FIPS 180-4")
struct SHA2Tests {
  /// The examples of FIPS 180-4 and NIST's CAVP, and every length about the padding of a block.
  static let messages: [[UInt8]] =
    [
      [], Array("abc".utf8), Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
      Array("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu".utf8),
      [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
    ] + [55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 129].map { [UInt8](repeating: 0xbd, count: $0) }

  @Test("equal to Python's hashlib", arguments: messages)
  func knownAnswers(message: [UInt8]) throws {
    let script = "import hashlib,sys; m=sys.stdin.buffer.read(); print(hashlib.sha256(m).hexdigest(), hashlib.sha512(m).hexdigest())"
    let expected = try Peer.run("python3", "-c", script, input: message)
    #expect("\(SHA256.hash(of: message)) \(SHA512.hash(of: message))" == expected)
  }

  @Test("the published answers for \"abc\" and for nothing")
  func published() {
    #expect(SHA256.hash(of: Array("abc".utf8)).description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(SHA256.hash(of: [UInt8]()).description == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA512.hash(of: Array("abc".utf8)).description
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
  }

  @Test("how the stream is cut does not matter", arguments: [0, 1, 64, 4096, 100_003, 3_000_001], [1 as UInt64, 2, 3])
  func chunks(length: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let message = generator.bytes(length)
    var sha256 = SHA256()
    var sha512 = SHA512()
    for piece in generator.pieces(of: length, largest: 1 << 16) {
      sha256.update(message.span.extracting(piece))
      sha512.update(message.span.extracting(piece))
    }
    let (short, long) = (sha256.finalize().description, sha512.finalize().description)
    #expect(short == (try Peer.openssl("sha256", of: message)))
    #expect(long == (try Peer.openssl("sha512", of: message)))
  }

  @Test("hashes running side by side do not disturb each other")
  func interleaved() {
    var first = SHA256()
    var second = SHA256()
    first.update(Array("a".utf8).span)
    second.update(Array("ab".utf8).span)
    first.update(Array("bc".utf8).span)
    second.update(Array("c".utf8).span)
    let (one, other) = (first.finalize(), second.finalize())
    #expect(one == SHA256.hash(of: Array("abc".utf8)))
    #expect(one == other)
  }

  @Test("hashing on many threads at once gives the same digests")
  func concurrent() async {
    let message = [UInt8](repeating: 7, count: 100_000)
    let expected = SHA256.hash(of: message)
    let equal = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<64 { group.addTask { SHA256.hash(of: message) == expected } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(equal == 64)
  }
}
