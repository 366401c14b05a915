import FileIO
import Foundation
import Glibc
import ManifestSigning
import TestSupport
import Testing

/// Answers in a row, as a person would type them, and what was asked.
private final class Typist {
  private var texts: [String]
  private(set) var asked: [String] = []

  init(_ texts: [String]) { self.texts = texts }

  func prompt(_ text: String, _ buffer: UnsafeMutableRawBufferPointer) -> PassphraseSource.Answer {
    asked.append(text)
    guard !texts.isEmpty else { return .interrupted }
    let answer = Array(texts.removeFirst().utf8)
    guard answer.count <= buffer.count else { return .tooLong }
    // The room was compared just above.
    unsafe buffer.copyBytes(from: answer)
    return .typed(byteCount: answer.count)
  }
}

@Suite("Passphrases") struct PassphraseSourceTests {
  private static let unset = "MANIFEST_SIGN_TEST_VARIABLE_THAT_IS_NOT_SET"

  private func source(_ option: PassphraseSource.Option?, _ typist: Typist? = nil) throws -> PassphraseSource {
    guard let typist else { return try unsafe PassphraseSource(variable: Self.unset, option: option, prompt: nil) }
    // The typist writes within the buffer.
    return try unsafe PassphraseSource(variable: Self.unset, option: option, prompt: { unsafe typist.prompt($0, $1) })
  }

  private func file(_ secret: String, name: String = "root-1") throws -> SecretKeyFile {
    try SecretKeyFile(content: secure(KnownKey.encryptedText(name: name, passphrase: secret)), path: name)
  }

  private func outcome(_ source: PassphraseSource, _ file: borrowing SecretKeyFile) -> SigningError? {
    do throws(SigningError) {
      _ = try source.open(file)
      return nil
    } catch { return error }
  }

  @Test(
    "one line end at the end of a file is not part of the passphrase",
    arguments: [
      ("p", "p"), ("p\n", "p"), ("p\r\n", "p"), ("p\n\n", "p\n"), ("p\r", "p\r"), ("\n", ""), ("", ""), ("\r\n", ""), (" p ", " p "),
      ("p\nq\n", "p\nq"),
    ])
  func fileContent(content: String, secret: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array(content.utf8), "passphrase", mode: 0o644)
    #expect(outcome(try source(.file(path)), try file(secret)) == nil)
    let descriptor = unsafe Glibc.open(path, O_RDONLY)
    #expect(outcome(try source(.descriptor(descriptor)), try file(secret)) == nil)
  }

  @Test("a descriptor is closed after use") func descriptorIsClosed() throws {
    var ends: [Int32] = [-1, -1]
    // Room for the two ends.
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[0]) }
    // One byte of a value that lives for the call.
    #expect(unsafe write(ends[0], "p", 1) == 1 && shutdown(ends[0], Int32(SHUT_WR)) == 0)
    #expect(outcome(try source(.descriptor(ends[1])), try file("p")) == nil)
    // Its number may stand for another test's file by now; that this end hears of it does not depend on numbers.
    var byte: UInt8 = 0
    #expect(unsafe recv(ends[0], &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  @Test("1024 bytes are a passphrase, 1025 are not", arguments: ["", "\n", "\r\n"]) func length(end: String) throws {
    let folder = try TemporaryFolder()
    let longest = String(repeating: "p", count: 1024)
    let path = try folder.write(Array((longest + end).utf8), "longest")
    #expect(outcome(try source(.file(path)), try file(longest)) == nil)
    for count in [1025, 1027, 5000] {
      let tooLong = try folder.write(Array((String(repeating: "p", count: count) + end).utf8), "too-long")
      guard case .key(.passphraseTooLong, tooLong) = outcome(try source(.file(tooLong)), try file(longest)) else {
        Issue.record("\(count) bytes")
        continue
      }
    }
  }

  @Test("a file or descriptor that can't be read is the operating system's error") func unreadable() throws {
    guard case .system(let missing, _, "/nowhere/p") = outcome(try source(.file("/nowhere/p")), try file("p")) else {
      Issue.record("a missing file")
      return
    }
    // A number that no limit of a process reaches: tests that run beside this one have files open.
    let number = Int32.max
    guard case .system(let closed, _, "file descriptor \(number)") = outcome(try source(.descriptor(number)), try file("p")) else {
      Issue.record("a closed descriptor")
      return
    }
    #expect(missing == Errno(ENOENT) && closed == Errno(EBADF))
  }

  @Test("without a terminal the error names the options") func noTerminal() throws {
    let error = outcome(try source(nil), try file("p"))
    #expect(error == .key(.passphraseMissing(variable: Self.unset), path: ""))
    let text = KeyError.passphraseMissing(variable: Self.unset).description
    for word in [Self.unset, "--passphrase-file", "--passphrase-fd"] { #expect(text.contains(word)) }
    let silent = try unsafe PassphraseSource(variable: Self.unset, option: nil, prompt: { _, _ in .noTerminal })
    #expect(outcome(silent, try file("p")) == error)
  }

  @Test("a passphrase from an option is tried once") func wrongFromOption() throws {
    let folder = try TemporaryFolder()
    let typist = Typist(["right"])
    let error = outcome(try source(.file(folder.write([0x78], "p")), typist), try file("right"))
    #expect(error == .key(.wrongPassphrase, path: "root-1") && typist.asked.isEmpty)
  }

  @Test("a typed one may be wrong twice") func attempts() throws {
    let typist = Typist(["wrong", "Wrong", "right"])
    #expect(outcome(try source(nil, typist), try file("right")) == nil)
    #expect(typist.asked.count == 3 && typist.asked.allSatisfy { $0.contains("root-1") })
    let stubborn = Typist(["1", "2", "3", "right"])
    #expect(outcome(try source(nil, stubborn), try file("right")) == .key(.wrongPassphrase, path: "root-1"))
    #expect(stubborn.asked.count == 3)
  }

  @Test("the same one serves several keys; a key with another one asks again") func severalKeys() throws {
    let typist = Typist(["first", "second"])
    let source = try source(nil, typist)
    #expect(outcome(source, try file("first", name: "a")) == nil)
    #expect(outcome(source, try file("first", name: "b")) == nil)
    #expect(outcome(source, try file("second", name: "c")) == nil)
    #expect(typist.asked.count == 2)
  }

  @Test("a key in clear asks for nothing") func clear() throws {
    let typist = Typist([])
    #expect(outcome(try source(nil, typist), try SecretKeyFile(content: secure(KnownKey.clearText()), path: "k")) == nil)
    #expect(typist.asked.isEmpty)
  }

  @Test("a new one is typed twice, alike and not empty, once for all new keys") func creation() throws {
    func create(_ answers: [String], times: Int = 1) throws -> (SigningError?, Int) {
      let typist = Typist(answers)
      let source = try source(nil, typist)
      for _ in 0..<times {
        do throws(SigningError) {
          try source.withNewPassphrase(for: "the new keys") { (_) throws(SigningError) in }
        } catch { return (error, typist.asked.count) }
      }
      return (nil, typist.asked.count)
    }
    #expect(try create(["p", "p"], times: 4) == (nil, 2))
    #expect(try create(["p", "q"]) == (.key(.passphrasesDiffer, path: ""), 2))
    #expect(try create(["p", "p "]) == (.key(.passphrasesDiffer, path: ""), 2))
    #expect(try create([""]) == (.key(.passphraseEmpty, path: ""), 1))
    #expect(try create(["p"]) == (.key(.interrupted, path: ""), 2))
    #expect(try create([String(repeating: "p", count: 1025)]) == (.key(.passphraseTooLong(limit: 1024), path: ""), 1))
  }

  @Test("the environment comes first, set but empty too, and is wiped and unset", arguments: ["from the environment", ""])
  func environment(secret: String) async throws {
    let folder = try TemporaryFolder()
    let key = try folder.write(KnownKey.encryptedText(passphrase: secret), "k")
    let other = try folder.write(Array("another".utf8), "other")
    await #expect(processExitsWith: .success) { [key = key as String, other = other as String, secret = secret as String] in
      unsafe setenv(PassphraseSource.standardVariable, secret, 1)
      guard let place = unsafe getenv(PassphraseSource.standardVariable) else { exit(2) }
      let source = try unsafe PassphraseSource(option: .file(other), prompt: nil)
      guard unsafe getenv(PassphraseSource.standardVariable) == nil else { exit(3) }
      // unsetenv does not free the old string.
      for offset in 0..<secret.utf8.count { guard unsafe place[offset] == 0 else { exit(4) } }
      _ = try source.open(SecretKeyFile.read(path: key))
    }
  }

  @Test("a variable that is too long is refused, and unset all the same") func longVariable() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv(PassphraseSource.standardVariable, String(repeating: "p", count: 1025), 1)
      let error = errorOf { () throws(SigningError) in try unsafe PassphraseSource(option: nil, prompt: nil) }
      guard error == .key(.passphraseTooLong(limit: 1024), path: PassphraseSource.standardVariable) else { exit(2) }
      guard unsafe getenv(PassphraseSource.standardVariable) == nil else { exit(3) }
    }
  }
}
