import FileIO
import Foundation
import Glibc
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

@Suite("Secret key files: what is read from disk") struct SecretKeyFileReading {
  private func refusal(_ path: String) -> SigningError? {
    errorOf { () throws(SigningError) in try SecretKeyFile.read(path: path) }
  }

  @Test("a private file in a private folder", arguments: [0o600, 0o400]) func accepted(mode: Int) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(KnownKey.clearText(), "root-1.key", mode: mode)
    let file = try SecretKeyFile.read(path: path)
    let (name, encrypted, publicKey) = (file.name, file.isEncrypted, hexadecimal(file.publicKey.bytes))
    #expect(name == "root-1" && !encrypted && publicKey == KnownKey.publicKey)
  }

  @Test("a looser mode is refused with the command that mends it", arguments: [0o640, 0o604, 0o644, 0o620, 0o601, 0o700, 0o4600, 0o777])
  func looseFile(mode: Int) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(KnownKey.clearText(), "it's a key", mode: mode)
    #expect(refusal(path) == .key(.looseFileMode(found: UInt32(mode)), path: path))
    let hint = try #require(KeyError.looseFileMode(found: UInt32(mode)).hint(path: path))
    #expect(try runChild("sh", ["-c", hint]).status == 0)
    #expect(refusal(path) == nil)
  }

  @Test("a looser folder is refused with the command that mends it", arguments: [0o701, 0o710, 0o750, 0o755, 0o777]) func looseFolder(
    mode: Int
  ) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(KnownKey.clearText(), "k")
    try setMode(folder.path, mode)
    #expect(refusal(path) == .key(.looseFolderMode(found: UInt32(mode)), path: folder.path))
    #expect(try runChild("sh", ["-c", try #require(KeyError.looseFolderMode(found: UInt32(mode)).hint(path: folder.path))]).status == 0)
    #expect(refusal(path) == nil)
  }

  @Test("a symbolic link is refused, for the file and for its folder") func links() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(KnownKey.clearText(), "k")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: path)
    #expect(refusal(folder.path + "/link") == .key(.symbolicLink, path: folder.path + "/link"))
    let other = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(atPath: other.path + "/folder", withDestinationPath: folder.path)
    for slashes in ["/", "//", "///"] {
      #expect(refusal(other.path + "/folder" + slashes + "k") == .key(.notFolder, path: other.path + "/folder"))
    }
  }

  @Test("a folder, a FIFO and a file as folder are refused, and do not hang") func otherKinds() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/d", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o600])
    #expect(refusal(folder.path + "/d") == .key(.notRegularFile, path: folder.path + "/d"))
    #expect(unsafe mkfifo(folder.path + "/fifo", 0o600) == 0)
    #expect(refusal(folder.path + "/fifo") == .key(.notRegularFile, path: folder.path + "/fifo"))
    let path = try folder.write([], "file")
    #expect(refusal(path + "/k") == .key(.notFolder, path: path))
    for suffix in ["/", "/.", "/.."] { #expect(refusal(folder.path + suffix) == .key(.notRegularFile, path: folder.path + suffix)) }
  }

  @Test("a missing file is the operating system's error") func missing() throws {
    let folder = try TemporaryFolder()
    guard case .system(let errno, _, folder.path + "/k") = refusal(folder.path + "/k") else {
      Issue.record("not refused")
      return
    }
    #expect(errno.code == ENOENT)
  }

  @Test("a file longer than any key file is refused; one of the longest length is read", arguments: [1024, 1025, 100_000]) func long(
    count: Int
  ) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([UInt8](repeating: 0x0A, count: count), "k")
    let expected: KeyError = count == 1024 ? .malformed(.notSecretKeyFile, line: 1) : .fileTooLong(limit: 1024)
    #expect(refusal(path) == .key(expected, path: path))
  }

  @Test("the folder of another user is refused") func foreignFolder() async {
    await #expect(processExitsWith: .success) {
      becomeNobody()
      guard
        case .key(.foreignOwner(let expected, 0), path: "/etc") = errorOf({ () throws(SigningError) in
          try SecretKeyFile.read(path: "/etc/passwd")
        }),
        expected == geteuid()
      else { exit(1) }
    }
  }

  @Test("the file of another user is refused, in one's own folder too") func foreignFile() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(KnownKey.clearText(), "k")
    // Only root can give a folder away, and the file stays root's. Anyone else sees that /etc, where a file is root's, is refused.
    let isRoot = geteuid() == 0
    if isRoot { #expect(unsafe chown(folder.path, 65534, 65534) == 0) }
    let (probe, owner) = isRoot ? (path, path) : ("/etc/passwd", "/etc")
    await #expect(processExitsWith: .success) { [probe = probe as String, owner = owner as String] in
      becomeNobody()
      guard case .key(.foreignOwner(_, 0), path: owner) = errorOf({ () throws(SigningError) in try SecretKeyFile.read(path: probe) }) else {
        exit(1)
      }
    }
  }
}

/// Gives up being root, in a child process only.
func becomeNobody() {
  guard geteuid() == 0 else { return }
  guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0, geteuid() == 65534 else { exit(99) }
}

@Suite("Secret key files: what is written to disk") struct SecretKeyFileWriting {
  @Test("a new folder is 0700 and a new file 0600, whatever the umask is", arguments: [0, 0o022, 0o077, 0o277]) func modes(mask: Int)
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/secrets/root-1.key"
    await #expect(processExitsWith: .success) { [path = path as String, mask = mask as Int] in
      umask(mode_t(mask))
      try SecretKeyFile.write(.generate(), name: "root-1", passphrase: passphrase("p"), costs: .least, path: path)
    }
    #expect(try mode(path) == 0o600)
    // A umask may make the folder stricter.
    #expect(try mode(folder.path + "/secrets") & 0o077 == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/secrets") == ["root-1.key"])
    let file = try SecretKeyFile.read(path: path)
    let opened = try file.open(with: passphrase("p")).publicKey
    let stated = file.publicKey
    #expect(opened == stated)
  }

  @Test("nothing is ever overwritten, and nothing is left behind", arguments: [true, false]) func noOverwriting(link: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/k"
    if link {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/nowhere")
    } else {
      _ = try folder.write([1, 2, 3], "k")
    }
    let secret = try passphrase("p")
    let key = try KnownKey.key()
    #expect(
      errorOf { () throws(SigningError) in try SecretKeyFile.write(key, name: "n", passphrase: secret, costs: .least, path: path) }
        == .key(.alreadyExists, path: path))
    #expect(
      errorOf { () throws(SigningError) in try SecretKeyFile.writeUnencrypted(key, name: "n", path: path) }
        == .key(.alreadyExists, path: path))
    if !link { #expect(try contents(path) == [1, 2, 3]) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["k"])
  }

  @Test("a folder that others may use gets no key") func looseFolder() throws {
    let folder = try TemporaryFolder(mode: 0o755)
    let key = try KnownKey.key()
    let error = errorOf { () throws(SigningError) in try SecretKeyFile.writeUnencrypted(key, name: "n", path: folder.path + "/k") }
    #expect(error == .key(.looseFolderMode(found: 0o755), path: folder.path))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a key in clear is written and read") func clear() throws {
    let folder = try TemporaryFolder()
    try SecretKeyFile.writeUnencrypted(KnownKey.key(), name: "n", path: folder.path + "/s/k")
    #expect(try mode(folder.path + "/s/k") == 0o600)
    let key = try SecretKeyFile.read(path: folder.path + "/s/k").openUnencrypted()
    let (publicKey, origin) = (hexadecimal(key.publicKey.bytes), key.origin)
    #expect(publicKey == KnownKey.publicKey && origin == folder.path + "/s/k")
  }

  @Test("another program reads the files from their specification", arguments: [true, false]) func peer(encrypted: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/k"
    var arguments = [try peerScript("read_secret_key.py"), path]
    if encrypted {
      try SecretKeyFile.write(KnownKey.key(), name: "Zoë", passphrase: passphrase("pässphrase"), costs: .standard, path: path)
      arguments.append(try folder.write(Array("pässphrase\n".utf8), "passphrase"))
    } else {
      try SecretKeyFile.writeUnencrypted(KnownKey.key(), name: "Zoë", path: path)
    }
    let python = try peerPython()
    let outcome = try runChild(python, arguments)
    let expected = "Zoë\n\(KnownKey.publicKey)\n\(hexadecimal(KnownKey.seed))\n"
    #expect(
      outcome.status == 0 && String(decoding: outcome.output, as: UTF8.self) == expected, "\(python) with pynacl: \(outcome.errorText)")
  }
}
