import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

/// What became of a key file's text.
private enum Outcome: Equatable {
  case opened(publicKey: String, name: String)
  case refused(SigningError)
}

private func open(_ text: [UInt8], passphrase secret: String = "correct horse") throws -> Outcome {
  do throws(SigningError) {
    let content: SecureBytes
    do throws(KeyError) {
      content = try secure(text)
    } catch { throw .key(error, path: "k") }
    let file = try SecretKeyFile(content: content, path: "k")
    let key: SecretKey
    if file.isEncrypted {
      let opener: Passphrase
      do throws(KeyError) {
        opener = try passphrase(secret)
      } catch { throw .key(error, path: "k") }
      key = try file.open(with: opener)
    } else {
      key = try file.openUnencrypted()
    }
    return .opened(publicKey: hexadecimal(key.publicKey.bytes), name: file.name)
  } catch {
    return .refused(error)
  }
}

private func fault(_ text: [UInt8]) throws -> KeyError? {
  if case .refused(.key(let error, _)) = try open(text) { error } else { nil }
}

private func replacing(_ old: String, _ new: String, in text: [UInt8]) throws -> [UInt8] {
  let source = String(decoding: text, as: UTF8.self)
  try #require(source.contains(old))
  return Array(source.replacingOccurrences(of: old, with: new).utf8)
}

/// Whether a message repeats eight or more hexadecimal digits of the file's last line, where the secret stands.
private func leaks(_ message: String, _ text: [UInt8]) -> Bool {
  guard let last = String(decoding: text, as: UTF8.self).split(separator: "\n").last else { return false }
  let runs = message.split { !$0.isHexDigit }.filter { $0.utf8.count >= 8 }
  return runs.contains { last.contains($0) }
}

@Suite("Secret key text: round trips") struct SecretKeyTextRoundTrips {
  @Test(
    "an encrypted key opens with its passphrase", arguments: ["", "x", "correct horse", "Schlüssel", String(repeating: "p", count: 1024)])
  func encrypted(secret: String) throws {
    #expect(
      try open(KnownKey.encryptedText(passphrase: secret), passphrase: secret) == .opened(publicKey: KnownKey.publicKey, name: "root-1"))
  }

  @Test("a key in clear opens") func clear() throws {
    #expect(try open(KnownKey.clearText()) == .opened(publicKey: KnownKey.publicKey, name: "root-1"))
  }

  @Test("a wrong passphrase has an error of its own", arguments: ["", "correct horsE", "correct horse "]) func wrongPassphrase(
    secret: String
  ) throws {
    #expect(try open(KnownKey.encryptedText(), passphrase: secret) == .refused(.key(.wrongPassphrase, path: "k")))
  }

  @Test("salt and nonce are new in each file") func freshness() throws {
    let (first, second) = (try KnownKey.encryptedText(), try KnownKey.encryptedText())
    let lines = { (text: [UInt8]) in String(decoding: text, as: UTF8.self).split(separator: "\n") }
    for index in [6, 7, 8] { #expect(lines(first)[index] != lines(second)[index]) }
  }

  @Test("the standard costs are libsodium's moderate ones, and work") func standardCosts() throws {
    let text = copy(try SecretKeyFile.encrypt(KnownKey.key(), name: "n", passphrase: passphrase("p"), costs: .standard))
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(lines[4] == "opslimit: 3" && lines[5] == "memlimit: 268435456")
    #expect(try open(text, passphrase: "p") == .opened(publicKey: KnownKey.publicKey, name: "n"))
  }

  @Test("names of visible characters are kept", arguments: ["a", "root 1", "Zoë's key", "鍵", String(repeating: "n", count: 100)])
  func names(name: String) throws {
    #expect(try open(KnownKey.encryptedText(name: name)) == .opened(publicKey: KnownKey.publicKey, name: name))
  }

  @Test(
    "other names are refused in writing",
    arguments: ["", " a", "a ", "a\nb", "a\tb", "a\u{202E}b", "a\u{7F}", "a\u{A0}b", "\u{FEFF}a", String(repeating: "n", count: 101)])
  func badNames(name: String) {
    #expect(errorOf { () throws(KeyError) in try KnownKey.encryptedText(name: name) } == .invalidName)
    #expect(errorOf { () throws(KeyError) in try KnownKey.clearText(name: name) } == .invalidName)
  }

  @Test("a passphrase for a key in clear, and none for an encrypted one, are errors") func protectionDiffers() throws {
    let encrypted = try SecretKeyFile(content: secure(KnownKey.encryptedText()), path: "k")
    #expect(errorOf { () throws(SigningError) in try encrypted.openUnencrypted() } == .key(.protectionDiffers(encrypted: true), path: "k"))
    let clear = try SecretKeyFile(content: secure(KnownKey.clearText()), path: "k")
    let secret = try passphrase("p")
    #expect(errorOf { () throws(SigningError) in try clear.open(with: secret) } == .key(.protectionDiffers(encrypted: false), path: "k"))
  }
}

@Suite("Secret key text: damage never yields another key, and is never echoed") struct SecretKeyTextDamage {
  private static func check(_ damaged: [UInt8], original: [UInt8], mayOpen: Bool, _ comment: @autoclosure () -> Comment) throws {
    switch try open(damaged) {
    case .opened(let publicKey, _):
      if !mayOpen || publicKey != KnownKey.publicKey { Issue.record(comment()) }
    case .refused(let error):
      guard case .key(let reason, let path) = error else {
        Issue.record(comment())
        return
      }
      guard path == "k", !leaks("\(reason) \(error)", original) else {
        Issue.record(comment())
        return
      }
    }
  }

  @Test("each byte of an encrypted file, with each of its bits flipped", arguments: 0..<8) func bitFlips(bit: Int) throws {
    let text = try KnownKey.encryptedText()
    for index in text.indices {
      var damaged = text
      damaged[index] ^= UInt8(1) << UInt8(bit)
      try Self.check(damaged, original: text, mayOpen: false, "bit \(bit) of byte \(index)")
    }
  }

  @Test("each byte of a file in clear, replaced by many others") func clearBytes() throws {
    let text = try KnownKey.clearText()
    let name = "manifest-sign secret key 1\nname: ".utf8.count..<"manifest-sign secret key 1\nname: root-1".utf8.count
    for index in text.indices {
      for byte in [0x00, 0x09, 0x0A, 0x0D, 0x20, 0x30, 0x41, 0x66, 0x7F, 0x80, 0xFF] as [UInt8] where byte != text[index] {
        var damaged = text
        damaged[index] = byte
        // The name of a key in clear is not authenticated.
        try Self.check(damaged, original: text, mayOpen: name.contains(index), "byte \(index) is \(byte)")
      }
    }
  }

  @Test("each truncation", arguments: [true, false]) func truncations(encrypted: Bool) throws {
    let text = encrypted ? try KnownKey.encryptedText() : try KnownKey.clearText()
    for length in 0..<text.count { try Self.check(Array(text[..<length]), original: text, mayOpen: false, "\(length) bytes") }
  }

  @Test("each byte left out, and each doubled", arguments: [true, false]) func lostAndDoubled(encrypted: Bool) throws {
    let text = encrypted ? try KnownKey.encryptedText() : try KnownKey.clearText()
    let name = "manifest-sign secret key 1\nname: ".utf8.count..<"manifest-sign secret key 1\nname: root-1".utf8.count
    for index in text.indices {
      var damaged = text
      damaged.remove(at: index)
      try Self.check(damaged, original: text, mayOpen: !encrypted && name.contains(index), "without byte \(index)")
      damaged = text
      damaged.insert(text[index], at: index)
      try Self.check(damaged, original: text, mayOpen: !encrypted && name.contains(index), "byte \(index) twice")
    }
  }

  @Test("each two lines swapped, each line left out, each doubled", arguments: [true, false]) func lines(encrypted: Bool) throws {
    let text = encrypted ? try KnownKey.encryptedText() : try KnownKey.clearText()
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    let join = { (lines: [String]) in Array((lines.joined(separator: "\n") + "\n").utf8) }
    for first in lines.indices {
      for second in lines.indices where second > first {
        var swapped = lines
        swapped.swapAt(first, second)
        try Self.check(join(swapped), original: text, mayOpen: false, "lines \(first) and \(second)")
      }
      var other = lines
      other.remove(at: first)
      try Self.check(join(other), original: text, mayOpen: false, "without line \(first)")
      other = lines
      other.insert(lines[first], at: first)
      try Self.check(join(other), original: text, mayOpen: false, "line \(first) twice")
    }
  }

  @Test("random bytes and random lines never crash the reader") func noise() throws {
    var generator = SeededGenerator(seed: 20_261_130)
    let original = try KnownKey.encryptedText()
    for _ in 0..<300 {
      let noise = (0..<Int.random(in: 0...1100)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      try Self.check(noise, original: original, mayOpen: false, "noise")
      try Self.check(Array(original.prefix(Int.random(in: 0...300))) + noise, original: original, mayOpen: false, "noise behind a start")
    }
  }

  @Test("two keys' files mixed give no key", arguments: 3..<9) func mixed(line: Int) throws {
    var first = String(decoding: try KnownKey.encryptedText(), as: UTF8.self).split(separator: "\n").map(String.init)
    let other = copy(try SecretKeyFile.encrypt(.generate(), name: "root-2", passphrase: passphrase("correct horse"), costs: .least))
    first.replaceSubrange(line..., with: String(decoding: other, as: UTF8.self).split(separator: "\n").map(String.init)[line...])
    #expect(try fault(Array((first.joined(separator: "\n") + "\n").utf8)) == .wrongPassphrase)
  }

  @Test("a seed in clear that belongs to another public half") func otherHalf() throws {
    let text = try replacing(KnownKey.publicKey, String(repeating: "0", count: 64), in: KnownKey.clearText())
    #expect(try fault(text) == .publicKeyMismatch)
  }

  @Test("a whole file that was made for another public half, authenticator and all") func otherHalfEncrypted() throws {
    // The authenticator covers the public half that the writer put there, so only step 4 of the format can see this.
    let header = Array(
      "manifest-sign secret key 1\nname: n\npublic-key: \(String(repeating: "0", count: 64))\nkdf: argon2id13\nopslimit: 1\nmemlimit: 8192\n"
        .utf8)
    let text = try SecretKeyForgery.encrypted(header: header, seed: KnownKey.seed, passphrase: "correct horse")
    #expect(try fault(text) == .publicKeyMismatch)
  }
}

@Suite("Secret key text: what is refused says why") struct SecretKeyTextRules {
  @Test("CRLF line ends") func carriageReturns() throws {
    #expect(try fault(replacing("\n", "\r\n", in: KnownKey.encryptedText())) == .malformed(.carriageReturn, line: 1))
  }

  @Test("blanks at the end of a line", arguments: [" ", "\t"]) func trailingBlanks(blank: String) throws {
    #expect(
      try fault(replacing("1\nkdf", "1\(blank)\nkdf", in: replacing("c\nkdf", "1\nkdf", in: KnownKey.encryptedText())))
        == .malformed(.trailingBlank, line: 3))
    let last = try KnownKey.clearText().dropLast() + Array(blank.utf8) + [0x0A]
    #expect(try fault(Array(last)) == .malformed(.trailingBlank, line: 5))
  }

  @Test("a byte order mark") func byteOrderMark() throws {
    #expect(try fault([0xEF, 0xBB, 0xBF] + KnownKey.encryptedText()) == .malformed(.byteOrderMark, line: 1))
  }

  @Test("an extra line, empty or not", arguments: ["\n", "comment: x\n"]) func extraLine(line: String) throws {
    #expect(try fault(KnownKey.encryptedText() + Array(line.utf8)) == .malformed(.lineCount(expected: 9, found: 10), line: 10))
    #expect(try fault(KnownKey.clearText() + Array(line.utf8)) == .malformed(.lineCount(expected: 5, found: 6), line: 6))
  }

  @Test("an over-long line") func longLine() throws {
    #expect(
      try fault(KnownKey.encryptedText() + [UInt8](repeating: 0x61, count: 129) + [0x0A]) == .malformed(.lineTooLong(limit: 128), line: 10))
    #expect(
      try fault(replacing("root-1", String(repeating: "n", count: 123), in: KnownKey.clearText()))
        == .malformed(.lineTooLong(limit: 128), line: 2))
  }

  @Test("an over-long name") func longName() throws {
    #expect(try fault(replacing("root-1", String(repeating: "n", count: 101), in: KnownKey.clearText())) == .invalidName)
  }

  @Test("names that could play with a terminal", arguments: ["a\u{1B}[2J", "a\u{202E}b", "a\u{0}"]) func hostileName(name: String) throws {
    #expect(try fault(replacing("root-1", name, in: KnownKey.clearText())) == .invalidName)
  }

  @Test("a missing last line feed") func missingLineFeed() throws {
    #expect(try fault(Array(KnownKey.encryptedText().dropLast())) == .malformed(.missingLastLineFeed, line: 9))
  }

  @Test("another version, another derivation, another file") func unknown() throws {
    #expect(try fault(replacing("key 1\n", "key 2\n", in: KnownKey.encryptedText())) == .malformed(.unsupportedVersion, line: 1))
    #expect(try fault(replacing("argon2id13", "scrypt", in: KnownKey.encryptedText())) == .malformed(.unsupportedKeyDerivation, line: 4))
    #expect(try fault(Array("-----BEGIN PRIVATE KEY-----\n".utf8)) == .malformed(.notSecretKeyFile, line: 1))
    #expect(try fault([]) == .malformed(.empty, line: 1))
  }

  @Test("upper-case digits") func upperCase() throws {
    #expect(try fault(replacing("seed: 4ccd", "seed: 4CCD", in: KnownKey.clearText())) == .malformed(.invalidValue(field: "seed"), line: 5))
    #expect(
      try fault(replacing("3d4017c3", "3D4017C3", in: KnownKey.clearText())) == .malformed(.invalidValue(field: "public-key"), line: 3))
  }

  @Test(
    "costs out of bounds, before anything is derived",
    arguments: [
      ("memlimit: 8192", "memlimit: 68719476736"), ("memlimit: 8192", "memlimit: 1073742848"), ("memlimit: 8192", "memlimit: 8191"),
      ("memlimit: 8192", "memlimit: 8193"), ("memlimit: 8192", "memlimit: 1"), ("opslimit: 1", "opslimit: 11"),
      ("opslimit: 1", "opslimit: 9999999999999999999"),
    ])
  func costs(old: String, new: String) throws {
    guard case .costOutOfBounds = try fault(replacing(old, new, in: KnownKey.encryptedText())) else {
      Issue.record("\(new) was not refused for its cost")
      return
    }
  }

  @Test(
    "numbers in another spelling",
    arguments: [
      "opslimit: 01", "opslimit: +1", "opslimit: -1", "opslimit: 0", "opslimit: 1.0", "opslimit: 0x1", "opslimit: 1e0", "opslimit:  1",
      "opslimit: 99999999999999999999", "opslimit: ١",
    ])
  func numbers(new: String) throws {
    #expect(try fault(replacing("opslimit: 1", new, in: KnownKey.encryptedText())) == .malformed(.invalidValue(field: "opslimit"), line: 5))
  }
}
