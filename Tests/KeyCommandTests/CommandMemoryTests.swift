import Foundation
import Glibc
import Testing

/// manifest-sign held up at a known moment, so that its memory can be looked at. As root, whom the system lets read any process's memory.
@Suite("Secrets in the memory of manifest-sign") struct CommandMemoryTests {
  /// A key that the test knows, its passphrase, and what of them must not be found: halves of the seed, of its digits and base64, the passphrase.
  private struct Secret {
    let seed = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    let passphrase = "passphrase-" + UUID().uuidString
    let foreignPassphrase = "foreign-" + UUID().uuidString

    var patterns: [String] {
      let digits = Data(seed.hexadecimal.utf8)
      let base64 = Data(seed.base64EncodedString().utf8)
      return [
        seed.prefix(16), seed.suffix(16), digits.prefix(24), digits.suffix(24), base64.prefix(20), base64.dropFirst(20).prefix(20),
        Data(passphrase.utf8.prefix(24)), Data(foreignPassphrase.utf8.prefix(24)),
      ].map { Data($0).hexadecimal }
    }
  }

  private func counts(_ source: String, _ secret: Secret) throws -> [Int] {
    let text = try Programs.run(Programs.python, [packageRoot.path + "/Tests/Peers/search_memory.py", source] + secret.patterns)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Int])
  }

  /// manifest-sign with a full pipe for its output: it does its work, wants to tell of it, and waits there.
  private final class HeldUp {
    let process = Process()
    private let pipe = Pipe()

    init(_ place: Workplace, _ arguments: [String], _ more: [String: String], folder: String) throws {
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      // The shell allows core files as long as they like; what the command makes of that is what is tested.
      process.arguments =
        ["-c", "ulimit -c unlimited; exec \"$0\" \"$@\"", Programs.manifestSign] + arguments + ["--repository", place.repository]
      process.environment = ProcessInfo.processInfo.environment.merging(place.environment) { _, new in new }.merging(more) { _, new in new }
      process.currentDirectoryURL = URL(fileURLWithPath: folder)
      let end = pipe.fileHandleForWriting.fileDescriptor
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      let filler = [UInt8](repeating: 0x20, count: 4096)
      // The array has as many bytes as its count says.
      while unsafe write(end, filler, filler.count) > 0 {}
      while unsafe write(end, filler, 1) > 0 {}
      _ = fcntl(end, F_SETFL, 0)
      process.standardOutput = pipe
      process.standardError = FileHandle.nullDevice
      process.standardInput = FileHandle.nullDevice
      try process.run()
    }

    var pid: Int32 { process.processIdentifier }

    /// Waits until the process waits for room in its pipe.
    func waitUntilItSpeaks() throws {
      for _ in 0..<600 {
        try #require(process.isRunning, "manifest-sign ended instead of waiting for its output")
        let call = (try? String(contentsOfFile: "/proc/\(pid)/syscall", encoding: .utf8)) ?? ""
        let fields = call.split(separator: " ")
        // write(1, …) or poll(…) for it, and not the waiting for the derivation of a key, which is no call.
        if fields.first == "1", fields.count > 1, fields[1] == "0x1" { return }
        usleep(50_000)
      }
      Issue.record("manifest-sign never got to its output")
    }

    func end() {
      if process.isRunning { process.terminate() }
      kill(pid, SIGKILL)
      process.waitUntilExit()
    }
  }

  private func place(_ secret: Secret) throws -> Workplace {
    let place = try Workplace()
    try place.write("seed", secret.seed.base64EncodedString())
    // Under openssl's encryption too, so that libcrypto's work is looked at as well.
    let script = """
      import base64, sys
      from cryptography.hazmat.primitives import serialization as s
      from cryptography.hazmat.primitives.asymmetric import ed25519
      key = ed25519.Ed25519PrivateKey.from_private_bytes(base64.b64decode(open(sys.argv[1]).read()))
      sys.stdout.write(key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.BestAvailableEncryption(sys.argv[2].encode())).decode())
      """
    try place.write("secret.pem", try Programs.run(Programs.python, ["-c", script, place.path + "/seed", secret.foreignPassphrase]))
    return place
  }

  @Test(
    "no byte of a key or passphrase is left after use, nor in a core file", arguments: ["import", "check", "passphrase", "import a seed"])
  func afterUse(verb: String) throws {
    let secret = Secret()
    let place = try place(secret)
    let (ours, theirs) = (["MANIFEST_SIGN_PASSPHRASE": secret.passphrase], ["MANIFEST_SIGN_PASSPHRASE": secret.foreignPassphrase])
    let both = theirs.merging(["MANIFEST_SIGN_NEW_PASSPHRASE": secret.passphrase]) { _, new in new }
    if verb == "check" || verb == "passphrase" { try place.mustSign(["key", "import", place.path + "/secret.pem", "k"], both) }
    let arguments: [String]
    let environment: [String: String]
    switch verb {
    case "import": (arguments, environment) = (["key", "import", place.path + "/secret.pem", "k"], both)
    case "import a seed": (arguments, environment) = (["key", "import", place.path + "/seed", "k"], both)
    case "check": (arguments, environment) = (["key", "check", place.repository + "/secrets/k.key"], ours)
    default:
      (arguments, environment) = (
        ["key", "passphrase", "k"], ours.merging(["MANIFEST_SIGN_NEW_PASSPHRASE": secret.foreignPassphrase]) { _, new in new }
      )
    }
    try place.makeFolder("cores")
    let held = try HeldUp(place, arguments, environment, folder: place.path + "/cores")
    defer { held.end() }
    try held.waitUntilItSpeaks()
    guard geteuid() == 0 else {
      // The user's own other processes can't even look.
      #expect(try Programs.start("cat", ["/proc/\(held.pid)/mem"]).status != 0)
      return
    }
    let found = try counts("\(held.pid)", secret)
    // Passphrases are kept for the next key until the command ends; keys are not.
    #expect(found.prefix(6).allSatisfy { $0 == 0 }, "seed, digits, base64: \(found)")
    let environmentBlock = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(held.pid)/environ"))
    #expect(
      environmentBlock.range(of: Data(secret.passphrase.utf8)) == nil
        && environmentBlock.range(of: Data(secret.foreignPassphrase.utf8)) == nil)
    // A core file made by a debugger leaves out what is locked: not even the passphrase is in it.
    try Programs.run("gcore", ["-o", place.path + "/cores/made", "\(held.pid)"])
    let core = place.path + "/cores/made.\(held.pid)"
    #expect(try FileManager.default.attributesOfItem(atPath: core)[.size] as? Int ?? 0 > 10_000)
    #expect(try counts(core, secret).allSatisfy { $0 == 0 })
    try FileManager.default.removeItem(atPath: core)
    // And where the process dies of its own, the kernel writes none.
    kill(held.pid, SIGABRT)
    held.process.waitUntilExit()
    #expect(held.process.terminationReason == .uncaughtSignal)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/cores").isEmpty)
  }

  @Test("while a key is in use, it is found in the locked memory by this search, and in no core file") func duringUse() throws {
    let secret = Secret()
    let place = try place(secret)
    try place.mustSign(["key", "import", place.path + "/seed", "targets-1"], ["MANIFEST_SIGN_NEW_PASSPHRASE": secret.passphrase])
    for name in ["root-1", "snapshot-1"] { try place.mustSign(["key", "generate", name], ["MANIFEST_SIGN_PASSPHRASE": secret.passphrase]) }
    let key = try place.makeOpenSSLKey("timestamp.pem")
    try Programs.run(
      "openssl", ["pkey", "-in", place.path + "/timestamp.pem", "-pubout", "-out", place.repository + "/keys/timestamp-1.pem"])
    // The timestamp is signed last: the signer says that it was asked, and waits.
    let signer = try place.write("signer", "#!/bin/sh\ntouch \(place.path)/asked\nexec sleep 60\n", mode: 0o700)
    try place.configure([["name": "slow", "public_key": key, "command": [signer]]])
    try place.mustSign(["init", "--existing-keys"], ["MANIFEST_SIGN_PASSPHRASE": secret.passphrase])
    try place.makeModels()
    try place.makeFolder("cores")
    let held = try HeldUp(
      place, ["publish", place.models], ["MANIFEST_SIGN_PASSPHRASE": secret.passphrase], folder: place.path + "/cores")
    defer { held.end() }
    for _ in 0..<600 where !place.exists("asked") { usleep(50_000) }
    try #require(place.exists("asked"))
    #expect(try Programs.start("gdb", ["--version"]).status == 0, "gdb is missing: this test needs gcore")
    guard geteuid() == 0 else {
      #expect(try Programs.start("cat", ["/proc/\(held.pid)/mem"]).status != 0)
      return
    }
    let found = try counts("\(held.pid)", secret)
    #expect(found[0] >= 1 && found[1] >= 1, "the search finds what is there")
    #expect(found[2...5].allSatisfy { $0 == 0 })
    try Programs.run("gcore", ["-o", place.path + "/cores/made", "\(held.pid)"])
    #expect(try counts(place.path + "/cores/made.\(held.pid)", secret).allSatisfy { $0 == 0 })
  }
}
