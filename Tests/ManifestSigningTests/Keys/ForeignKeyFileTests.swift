import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("Keys of other programs") struct ForeignKeyFileTests {
  private func fault(_ bytes: [UInt8]) -> KeyError? {
    guard case .key(let error, _) = errorOf({ () throws(SigningError) in try ForeignKeys.open(bytes) }) else { return nil }
    return error
  }

  private func decodeHexadecimal(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
  }

  private func publicHalf(_ bytes: [UInt8]) -> String? {
    guard let key = try? ForeignKeys.open(bytes) else { return nil }
    return hexadecimal(key.publicKey.bytes)
  }

  @Test("each form gives the key whose public half its maker states", arguments: ForeignKeys.names) func forms(name: String) throws {
    let sample = try ForeignKeys.sample(name)
    let key = try ForeignKeys.open(sample.path)
    #expect(hexadecimal(key.publicKey.bytes) == sample.publicKey)
  }

  @Test(
    "other programs accept the signature of an imported key under the public half that is exported",
    arguments: [
      "openssl-encrypted.pem", "cryptography-encrypted.der", "securesystemslib.pem", "sparkle-seed.txt", "pair.raw", "minisign.key",
    ])
  func bothWays(name: String) throws {
    let key = try ForeignKeys.open(ForeignKeys.sample(name).path)
    let message = Array("what is signed".utf8)
    let signature = try key.sign(message).bytes
    let folder = try TemporaryFolder()
    for form in ["pem", "tuf"] {
      let text = PublicKeyExport.text(key.publicKey, as: try #require(.init(rawValue: form)), name: "k")
      let path = try folder.write(Array(text.utf8), form)
      _ = try ForeignKeys.tool(
        ".peers", packageRoot.path + "/.peers/bin/python3",
        [packageRoot.path + "/Tests/Peers/verify_signature.py", form, path, hexadecimal(signature), hexadecimal(message)])
    }
    let (signaturePath, messagePath) = (try folder.write(signature, "s"), try folder.write(message, "m"))
    _ = try ForeignKeys.tool(
      "openssl", "openssl",
      ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", folder.path + "/pem", "-in", messagePath, "-sigfile", signaturePath])
  }

  @Test("minisign verifies its own signature under the public key that is exported with its key number") func minisignPublicKey() throws {
    let sample = try ForeignKeys.sample("minisign.key")
    let folder = try TemporaryFolder()
    let message = try folder.write(Array("a file".utf8), "m")
    _ = try ForeignKeys.tool("minisign", "minisign", ["-S", "-W", "-s", sample.path, "-m", message])
    let opened = try ForeignKeyFile.read(path: sample.path).openUnencrypted()
    let text = PublicKeyExport.text(opened.key.publicKey, as: .minisign, name: "release", minisignKeyNumber: opened.minisignKeyNumber)
    let path = try folder.write(Array(text.utf8), "k.pub")
    _ = try ForeignKeys.tool("minisign", "minisign", ["-V", "-p", path, "-m", message])
    let own = String(decoding: try contents(sample.path.replacingOccurrences(of: ".key", with: ".pub")), as: UTF8.self)
    #expect(text.split(separator: "\n")[1] == own.split(separator: "\n")[1], "byte for byte what minisign wrote")
    #expect(text.hasPrefix(String(own.split(separator: "\n")[0])), "and the number as minisign shows it")
  }

  @Test("a minisign key under a passphrase opens, and not with a wrong one") func encryptedMinisign() throws {
    let folder = try TemporaryFolder()
    let sample = try ForeignKeys.minisign(folder.path, "secret", [], "\(ForeignKeys.passphrase)\n\(ForeignKeys.passphrase)\n")
    let file = try ForeignKeyFile.read(path: sample.path)
    #expect(file.form == .encryptedMinisign)
    let opened = try ForeignKeys.open(sample.path)
    #expect(hexadecimal(opened.publicKey.bytes) == sample.publicKey)
    let wrong = try passphrase("wrong")
    #expect(errorOf { () throws(SigningError) in try file.open(with: wrong).takeKey() } == .key(.wrongPassphrase, path: sample.path))
    // A hostile file can't ask for more than minisign itself does, found before anything is derived.
    let lines = String(decoding: try contents(sample.path), as: UTF8.self).split(separator: "\n").map(String.init)
    for (offset, field, bounds) in [
      (38, "opslimit", UInt64(32768)...33_554_432), (46, "memlimit", UInt64(16_777_216)...1_073_741_824),
    ] {
      for value in [bounds.upperBound + 1, bounds.lowerBound - 1, UInt64.max] {
        var bytes = [UInt8](try #require(Data(base64Encoded: lines[1])))
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
        let text = lines[0] + "\n" + Data(bytes).base64EncodedString() + "\n"
        #expect(fault(Array(text.utf8)) == .costOutOfBounds(field: field, found: value, bounds: bounds))
      }
    }
  }

  @Test(
    "a wrong passphrase says so",
    arguments: ["openssl-encrypted.pem", "openssl-scrypt.pem", "openssl-des3.pem", "cryptography-encrypted.der"])
  func wrongPassphrase(name: String) throws {
    let sample = try ForeignKeys.sample(name)
    let file = try ForeignKeyFile.read(path: sample.path)
    for text in ["", "wrong", "correct horse "] {
      let wrong = try passphrase(text)
      #expect(errorOf { () throws(SigningError) in try file.open(with: wrong).takeKey() } == .key(.wrongPassphrase, path: sample.path))
    }
    guard case .key(.protectionDiffers(encrypted: true), _) = errorOf({ () throws(SigningError) in try file.openUnencrypted().takeKey() })
    else {
      Issue.record("an encrypted key opened without a passphrase")
      return
    }
  }

  /// RFC 8410 §10.3: version 2 with attributes and the public key, and the same key in version 1.
  @Test("both versions of RFC 8410's example are one key, and a wrong public half in it is refused") func versionTwo() throws {
    let body = """
      MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhCoB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrBZ9w7lshQhqow\
      trbLDFw4rXAxZuE=
      """
    let publicKey = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"
    var der = [UInt8](try #require(Data(base64Encoded: body)))
    #expect(publicHalf(der) == publicKey)
    let pem =
      "-----BEGIN PRIVATE KEY-----\n\(body.prefix(64))\n\(body.dropFirst(64).prefix(64))\n\(body.dropFirst(128))\n-----END PRIVATE KEY-----\n"
    #expect(publicHalf(Array(pem.utf8)) == publicKey)
    let first = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"
    #expect(publicHalf(Array(first.utf8)) == publicKey)
    der[der.count - 1] ^= 1
    #expect(fault(der) == .publicKeyMismatch)
  }

  @Test("what can't be imported is named") func named() throws {
    let folder = try ForeignKeys.shared.get().folder
    #expect(fault(try contents(folder + "/openssh.pem")) == .notImportable(.openSSH))
    #expect(fault(try contents(folder + "/x25519.pem")) == .notImportable(.otherAlgorithm))
    #expect(fault(try contents(folder + "/public.pem")) == .notImportable(.notSecret))
    #expect(fault(try contents(folder + "/minisign.pub")) == .notImportable(.notSecret))
    #expect(fault(try KnownKey.encryptedText()) == .notImportable(.ownFormat))
    #expect(fault([]) == .notImportable(.unknownForm))
    #expect(fault(Array("hello\n".utf8)) == .notImportable(.unknownForm))
    let rsa = try ForeignKeys.tool("openssl", "openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]).output
    #expect(fault(rsa) == .notImportable(.otherAlgorithm))
    let curve = try ForeignKeys.tool("openssl", "openssl", ["ecparam", "-genkey", "-noout", "-name", "prime256v1"]).output
    #expect(fault(curve) == .notImportable(.otherAlgorithm))
  }

  /// Sparkle's older form, made as its tools made it: the SHA-512 of the seed, clamped, and the public key.
  @Test("Sparkle's 96 bytes, and 64 bytes of an expanded key, are named and not taken for a seed") func expanded() throws {
    let seed = try contents(ForeignKeys.sample("cryptography.raw").path)
    let script = """
      import hashlib, sys
      from nacl.signing import SigningKey
      seed = bytes.fromhex(sys.argv[1])
      h = bytearray(hashlib.sha512(seed).digest()); h[0] &= 248; h[31] &= 63; h[31] |= 64
      print((bytes(h) + bytes(SigningKey(seed).verify_key)).hex())
      """
    let printed = try ForeignKeys.tool(".peers", packageRoot.path + "/.peers/bin/python3", ["-c", script, hexadecimal(seed)]).output
    let expanded = decodeHexadecimal(String(decoding: printed.dropLast(), as: UTF8.self))
    try #require(expanded.count == 96)
    for form in [expanded, Array(Data(expanded).base64EncodedString().utf8)] { #expect(fault(form) == .notImportable(.expandedKey)) }
    let half = Array(expanded.prefix(64))
    for form in [half, Array(Data(half).base64EncodedString().utf8)] { #expect(fault(form) == .notImportable(.unpairedHalves)) }
    #expect(KeyError.notImportable(.expandedKey).hint(path: "")?.contains("rotate") == true)
  }

  @Test("a hostile file can't ask for more passes than the bounds") func derivationBounds() throws {
    let text = String(decoding: try contents(ForeignKeys.sample("openssl-encrypted.pem").path), as: UTF8.self)
    let body = text.split(separator: "\n").dropFirst().dropLast().joined()
    let der = [UInt8](try #require(Data(base64Encoded: body)))
    // INTEGER 2048, openssl's count, becomes one of four bytes; the lengths around it grow by two.
    let place = try #require((0..<der.count - 4).first { Array(der[$0..<$0 + 4]) == [0x02, 0x02, 0x08, 0x00] })
    for (count, isAllowed) in [
      ([0x00, 0x98, 0x96, 0x80] as [UInt8], true), ([0x00, 0x98, 0x96, 0x81], false), ([0x7F, 0xFF, 0xFF, 0xFF], false),
    ] {
      let value = count.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      var changed = Array(der[..<place]) + [0x02, UInt8(count[0] == 0 && count[1] < 0x80 ? 3 : 4)] + count + der[(place + 4)...]
      // The four sequences that hold it have lengths of one byte, but for the outermost.
      for index in 1..<place where der[index - 1] == 0x30 && Int(der[index]) < 0x80 && index + 1 + Int(der[index]) > place {
        changed[index] += 2
      }
      changed[2] += 2
      guard !isAllowed else { continue }
      #expect(fault(changed) == .costOutOfBounds(field: "iterationCount", found: value, bounds: 1...10_000_000))
    }
  }
}
