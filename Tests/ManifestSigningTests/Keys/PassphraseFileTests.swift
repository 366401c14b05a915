import FileIO
import Foundation
import Glibc
import ManifestSigning
import Synchronization
import TestSupport
import Testing

/// What the person was told.
private final class Notices: Sendable {
  private let list = Mutex<[PassphraseNotice]>([])
  var all: [PassphraseNotice] { list.withLock { $0 } }
  func add(_ notice: PassphraseNotice) { list.withLock { $0.append(notice) } }
}

@Suite("Files and variables that hold passphrases") struct PassphraseFileTests {
  private static let unset = "MANIFEST_SIGN_TEST_VARIABLE_THAT_IS_NOT_SET"

  /// Opens a key with the passphrase in a file.
  private func open(_ option: PassphraseSource.Option) throws -> (SigningError?, [PassphraseNotice]) {
    let notices = Notices()
    let source = try unsafe PassphraseSource(variable: Self.unset, option: option, prompt: nil, notice: notices.add)
    let file = try SecretKeyFile(content: secure(KnownKey.encryptedText(passphrase: "p")), path: "k")
    return (errorOf { () throws(SigningError) in try source.open(file) }, notices.all)
  }

  @Test("a file that others may write to is refused with the command that mends it", arguments: [0o620, 0o602, 0o666, 0o777]) func writable(
    mode: Int
  )
    throws
  {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array("p\n".utf8), "it's a passphrase", mode: mode)
    for option in [PassphraseSource.Option.file(path), .configuredFile(path)] {
      #expect(try open(option).0 == .key(.looseFileMode(found: UInt32(mode)), path: path))
    }
    let hint = try #require(KeyError.looseFileMode(found: UInt32(mode)).hint(path: path))
    #expect(try runChild("sh", ["-c", hint]).status == 0)
    #expect(try open(.file(path)) == (nil, []))
  }

  @Test("one that others may read is warned of, with the command that mends it", arguments: [0o640, 0o604, 0o644, 0o755]) func readable(
    mode: Int
  ) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array("p\n".utf8), "it's a passphrase", mode: mode)
    let (error, notices) = try open(.file(path))
    guard case .readable(path, let found, let command?) = notices.first else {
      Issue.record("\(notices)")
      return
    }
    #expect(error == nil && notices.count == 1 && found == UInt32(mode) && notices[0].description.contains("chmod 600"))
    #expect(try runChild("sh", ["-c", command]).status == 0)
    #expect(try open(.file(path)) == (nil, []))
  }

  @Test("secrets as Kubernetes mounts them, behind two symbolic links, are read") func kubernetes() throws {
    let folder = try TemporaryFolder(mode: 0o755)
    try folder.write(Array("p".utf8), to: "..2026_01_01/passphrase", mode: 0o400)
    try FileManager.default.createSymbolicLink(atPath: folder("..data"), withDestinationPath: "..2026_01_01")
    try FileManager.default.createSymbolicLink(atPath: folder("passphrase"), withDestinationPath: "..data/passphrase")
    #expect(try open(.file(folder("passphrase"))) == (nil, []))
    // Its mode unless told otherwise, which the person has to know of.
    try setMode(folder("..2026_01_01/passphrase"), 0o644)
    #expect(try open(.file(folder("passphrase"))).1.count == 1)
  }

  @Test("pipes and the descriptors of process substitution have no mode that counts") func pipes() throws {
    let folder = try TemporaryFolder()
    let fifo = folder("fifo")
    #expect(unsafe mkfifo(fifo, 0o666) == 0)
    try setMode(fifo, 0o666)
    let writer = try Child("sh", ["-c", "echo p > \"$0\"", fifo])
    #expect(try open(.file(fifo)) == (nil, []))
    #expect(try writer.wait().status == 0)
    var ends: [CInt] = [-1, -1]
    #expect(unsafe pipe(&ends) == 0)
    defer { close(ends[0]) }
    // Two bytes are lent for the call.
    #expect(unsafe write(ends[1], "p\n", 2) == 2)
    close(ends[1])
    #expect(try open(.file("/dev/fd/\(ends[0])")) == (nil, []))
  }

  @Test("a file of root's that a group may read is what a program that is not root gets; one of another user is warned of") func owners()
    async throws
  {
    let folder = try TemporaryFolder(mode: 0o755)
    let path = try folder.write(Array("p".utf8), "p", mode: 0o440)
    guard geteuid() == 0 else {
      // Nobody else than root can give files away: what is one's own and readable by a group is warned of.
      #expect(try open(.file(path)).1.count == 1)
      return
    }
    #expect(unsafe chown(path, 0, 65534) == 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      becomeNobody()
      guard try PassphraseFileTests().open(.file(path)) == (nil, []) else { exit(2) }
    }
    #expect(unsafe chown(path, 12345, 65534) == 0)
    #expect(try open(.file(path)) == (nil, [.foreign(path: path, owner: 12345)]))
  }

  @Test("a variable that outweighs an option says so; a file that a configuration names for good is outweighed without a word")
  func outweighed() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array("other".utf8), "p")
    await #expect(processExitsWith: .success) { [path = path as String] in
      for (option, expected) in [
        (PassphraseSource.Option.file(path), [PassphraseNotice.unused(path, variable: "MANIFEST_SIGN_PASSPHRASE")]),
        (.descriptor(0), [.unused("file descriptor 0", variable: "MANIFEST_SIGN_PASSPHRASE")]), (.configuredFile(path), []),
      ] {
        unsafe setenv(PassphraseSource.standardVariable, "p", 1)
        let notices = Notices()
        _ = try unsafe PassphraseSource(option: option, prompt: nil, notice: notices.add)
        guard notices.all == expected else { exit(2) }
      }
    }
  }

  @Test("all of manifest-sign's variables leave the environment at once, and are there when they are asked for") func allVariables() async {
    await #expect(processExitsWith: .success) {
      let names = [PassphraseSource.standardVariable, PassphraseSource.newVariable, "MANIFEST_SIGN_PIN", "MANIFEST_SIGN_ANYTHING"]
      for name in names { unsafe setenv(name, "secret", 1) }
      unsafe setenv(names[3], String(repeating: "p", count: 1025), 1)
      let places = unsafe names.compactMap { unsafe getenv($0) }
      let source = try unsafe PassphraseSource(option: nil, prompt: nil)
      for (index, name) in names.enumerated() {
        guard unsafe getenv(name) == nil else { exit(2) }
        // unsetenv does not free the old string.
        for offset in 0..<6 { guard unsafe places[index][offset] == 0 else { exit(3) } }
      }
      let key = try KnownKey.key()
      let text = copy(try SecretKeyFile.encrypt(key, name: "n", passphrase: passphrase("secret"), costs: .least))
      for name in names.dropFirst().dropLast() {
        let other = try source.another(variable: name, option: nil, for: name)
        _ = try other.open(SecretKeyFile(content: secure(text), path: "k"))
      }
      // One that is too long is an error where it is asked for.
      let error = errorOf { () throws(SigningError) in try source.another(variable: names[3], option: nil, for: "x") }
      guard error == .key(.passphraseTooLong(limit: 1024), path: names[3]) else { exit(4) }
    }
  }

  @Test("a passphrase that is too long is told the limit of passphrases, not of the buffer") func limit() throws {
    let folder = try TemporaryFolder()
    for count in [1025, 1026, 1027, 5000] {
      let path = try folder.write([UInt8](repeating: 0x70, count: count), "p\(count)")
      #expect(try open(.file(path)).0 == .key(.passphraseTooLong(limit: 1024), path: path))
    }
  }

  @Test("what is missing is named as it can be given") func hints() {
    let new = KeyError.passphraseMissing(variable: PassphraseSource.newVariable).description
    #expect(new.contains("--new-passphrase-file") && new.contains("--new-passphrase-fd") && !new.contains(" --passphrase-file"))
    let pin = SignerFault.noPIN(variable: "HSM_PIN").description
    #expect(pin.contains("HSM_PIN") && pin.contains("pin_file") && !pin.contains("--passphrase"))
  }
}
