import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("Public key files") struct PublicKeyFileTests {
  private func publicKey() throws -> Ed25519PublicKey { try KnownKey.key().publicKey }

  private func fault(_ text: [UInt8]) -> KeyError? { errorOf { () throws(KeyError) in try PublicKeyFile.parse(text) } }

  @Test("openssl reads what is written") func opensslReads() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/keys/root-1.pem"
    try PublicKeyFile.write(publicKey(), path: path)
    #expect(try mode(path) == 0o644)
    let key = try publicKey()
    #expect(try PublicKeyFile.read(path: path) == key)
    let outcome = try runChild("openssl", ["pkey", "-pubin", "-in", path, "-outform", "DER"])
    #expect(
      outcome.status == 0 && outcome.output.count == 44 && Array(outcome.output.suffix(32)) == key.bytes, "\(outcome.errorText)")
    #expect(try runChild("openssl", ["pkey", "-pubin", "-in", path]).output == contents(path))
  }

  @Test("what openssl writes is read, and its signature-maker's key is that one", arguments: 0..<4) func opensslWrites(round: Int) throws {
    let secret = try runChild("openssl", ["genpkey", "-algorithm", "ed25519", "-outform", "DER"]).output
    let pem = try runChild("openssl", ["pkey", "-inform", "DER", "-pubout"], input: secret).output
    let fromSeed = try SecretKey(seed: secure(secret.suffix(32))).publicKey
    #expect(try PublicKeyFile.parse(pem) == fromSeed)
    #expect(PublicKeyFile.pem(fromSeed) == pem)
  }

  @Test("a file is never overwritten") func noOverwriting() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([1], "k.pem")
    let key = try publicKey()
    #expect(errorOf { () throws(SigningError) in try PublicKeyFile.write(key, path: path) } == .key(.alreadyExists, path: path))
    #expect(try contents(path) == [1])
  }

  @Test("keys of other algorithms are named as that", arguments: ["rsa", "x25519", "ed448"]) func otherAlgorithms(name: String) throws {
    let secret = try runChild("openssl", ["genpkey", "-algorithm", name, "-outform", "DER"]).output
    let pem = try runChild("openssl", ["pkey", "-inform", "DER", "-pubout"], input: secret).output
    #expect(fault(pem) == .notPublicKey(.otherAlgorithm))
  }

  @Test("a secret key in place of a public one is named as that, and not repeated") func secretKeys() throws {
    let folder = try TemporaryFolder()
    let pem = try runChild("openssl", ["genpkey", "-algorithm", "ed25519"]).output
    for text in [pem, try KnownKey.clearText(), try KnownKey.encryptedText()] {
      #expect(fault(text) == .notPublicKey(.privateKey))
      let path = try folder.write(text, UUID().uuidString)
      #expect(errorOf { () throws(SigningError) in try PublicKeyFile.read(path: path) } == .key(.notPublicKey(.privateKey), path: path))
    }
  }

  @Test("each byte changed, left out or doubled gives an error or another key, never the same") func damage() throws {
    let key = try publicKey()
    let text = PublicKeyFile.pem(key)
    for index in text.indices {
      for byte in UInt8.min...UInt8.max where byte != text[index] {
        var damaged = text
        damaged[index] = byte
        if let other = try? PublicKeyFile.parse(damaged), other == key || PublicKeyFile.pem(other) != damaged {
          Issue.record("byte \(index)")
        }
      }
      var damaged = text
      damaged.remove(at: index)
      #expect(fault(damaged) != nil)
      damaged = text
      damaged.insert(text[index], at: index)
      #expect(fault(damaged) != nil)
      #expect(fault(Array(text[..<index])) != nil)
    }
  }

  @Test(
    "one key has one spelling",
    arguments: ["\u{FEFF}%", "%\n", "\n%", " %", "% ", "comment\n%", "%%"]) func oneSpelling(form: String) throws
  {
    let text = String(decoding: PublicKeyFile.pem(try publicKey()), as: UTF8.self)
    #expect(fault(Array(form.replacingOccurrences(of: "%", with: text).utf8)) == .notPublicKey(.malformed))
    #expect(fault(Array(text.replacingOccurrences(of: "\n", with: "\r\n").utf8)) == .notPublicKey(.carriageReturn))
  }

  @Test("a huge file, a folder and a missing file are refused") func files() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([UInt8](repeating: 0x0A, count: 100_000), "k")
    #expect(errorOf { () throws(SigningError) in try PublicKeyFile.read(path: path) } == .key(.fileTooLong(limit: 16384), path: path))
    #expect(errorOf { () throws(SigningError) in try PublicKeyFile.read(path: folder.path) } == .key(.notRegularFile, path: folder.path))
    #expect(errorOf { () throws(SigningError) in try PublicKeyFile.read(path: folder.path + "/none") } != nil)
  }
}
