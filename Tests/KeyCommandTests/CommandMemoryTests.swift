import Foundation
import Glibc
import Testing

/// manifest-sign held up at a known moment, so that its memory can be looked at. As root, whom the system lets read any process's memory.
@Suite("Secrets in the memory of manifest-sign") struct CommandMemoryTests {
  /// A key that the test knows, its passphrase, and what of them must not be found: halves of the seed, of its digits and base64, the passphrase.
  private struct Secret {
    let seed = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    let passphrase = "passphrase-" + UUID().uuidString
    var foreignPassphrase = "foreign-" + UUID().uuidString

    var patterns: [String] {
      let digits = Data(seed.hexadecimal.utf8)
      let base64 = Data(seed.base64EncodedString().utf8)
      return [
        seed.prefix(16), seed.suffix(16), digits.prefix(24), digits.suffix(24), base64.prefix(20), base64.dropFirst(20).prefix(20),
        Data(passphrase.utf8.prefix(24)), Data(foreignPassphrase.utf8.prefix(24)),
      ].map { Data($0).hexadecimal }
    }
  }

  /// What was found where; each in the order of the patterns.
  private struct Found: Decodable {
    let memory: [Int]
    let environ: [Int]
    let core: [Int]
    let coreSize: Int
    let signal: Int
    let left: [String]
  }

  /// Runs manifest-sign until it waits, and looks at it.
  /// - Parameter moment: `output`, or the path of a file that appears.
  private func look(
    _ secret: Secret, _ place: Workplace, _ arguments: [String], _ environment: [String: String], until moment: String = "output"
  ) throws -> Found {
    try place.makeFolder("cores")
    let what: [String: Any] = [
      "command": [Programs.manifestSign] + arguments + (arguments == ["help"] ? [] : ["--repository", place.repository]),
      "environment": place.environment.merging(environment) { _, new in new }, "folder": place.path + "/cores", "until": moment,
      "patterns": secret.patterns,
    ]
    let text = String(decoding: try JSONSerialization.data(withJSONObject: what), as: UTF8.self)
    let printed = try Programs.run(Programs.python, [packageRoot.path + "/Tests/Peers/hold_up.py", text])
    return try JSONDecoder().decode(Found.self, from: Data(printed.utf8))
  }

  private func expectNoCore(_ found: Found) {
    // What gcore makes leaves out all that is locked, the passphrase too; the kernel makes none at all.
    #expect(found.coreSize > 10_000 && found.core.allSatisfy { $0 == 0 }, "\(found.core)")
    #expect(found.signal == 6 && found.left.isEmpty)
    #expect(found.environ.allSatisfy { $0 == 0 })
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
    let found = try look(secret, place, arguments, environment)
    // Passphrases are kept for the next key until the command ends; keys are not.
    #expect(found.memory.prefix(6).allSatisfy { $0 == 0 }, "seed, digits, base64: \(found.memory)")
    expectNoCore(found)
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
    let found = try look(
      secret, place, ["publish", place.models],
      // The second one is for nothing that this verb does, and must not be lying around all the same.
      ["MANIFEST_SIGN_PASSPHRASE": secret.passphrase, "MANIFEST_SIGN_NEW_PASSPHRASE": secret.foreignPassphrase],
      until: place.path + "/asked")
    #expect(found.memory[0] >= 1 && found.memory[1] >= 1, "the search finds what is there: \(found.memory)")
    #expect(found.memory[2...5].allSatisfy { $0 == 0 })
    #expect(found.memory[6] == 1 && found.memory[7] == 1, "one copy each, in locked memory: \(found.memory)")
    expectNoCore(found)
  }

  @Test(
    "verbs that need no secret, and help, leave none in the environment either, and no core file",
    arguments: [["help"], ["show", "root"], ["drill"], ["verify"], ["key", "list"]])
  func otherVerbs(arguments: [String]) throws {
    let secret = Secret()
    let place = try Workplace()
    try place.makeRepository()
    try place.mustSign(["publish", place.models])
    let key = try place.makeOpenSSLKey("other.pem")
    // Another name for a PIN than those that begin as all of manifest-sign's do.
    try place.configure([["name": "t", "public_key": key, "pkcs11": "pkcs11:object=a?module-path=/m", "pin_variable": "OTHER_PIN"]])
    let found = try look(secret, place, arguments, ["MANIFEST_SIGN_PASSPHRASE": secret.passphrase, "OTHER_PIN": secret.foreignPassphrase])
    expectNoCore(found)
    #expect(found.memory[6...7].allSatisfy { $0 <= 1 }, "in locked memory at most: \(found.memory)")
  }

  @Test("the PIN of a token is in the locked memory alone while its module works, and in no core file") func pin() throws {
    let scene = try TokenScene(pin: Secret().foreignPassphrase)
    try scene.misbehave()
    let secret = Secret(foreignPassphrase: scene.pin)
    let place = scene.place
    let marker = place.path + "/record"
    let found = try look(
      secret, place, ["publish", place.models],
      ["MANIFEST_SIGN_PIN": scene.pin, "TOKEN_MODE": "hang in C_Sign", "TOKEN_SIGNS": marker], until: marker)
    #expect(found.memory[7] == 1, "one copy, in locked memory: \(found.memory)")
    expectNoCore(found)
  }

  @Test("another process of the same user can't read the memory") func otherProcesses() throws {
    let secret = Secret()
    let place = try place(secret)
    let signer = try place.write(
      "signer", "#!/bin/sh\ncat /proc/$PPID/mem > /dev/null 2>\(place.path)/refused\nid -u >> \(place.path)/refused\nexit 1\n", mode: 0o755)
    #expect(FileManager.default.isExecutableFile(atPath: signer))
    // The whole scene belongs to nobody, so that root's rights play no part.
    let key = try place.makeOpenSSLKey("timestamp.pem")
    for name in ["root-1", "targets-1", "snapshot-1"] { try place.mustSign(["key", "generate", name, "--no-passphrase"]) }
    try Programs.run(
      "openssl", ["pkey", "-in", place.path + "/timestamp.pem", "-pubout", "-out", place.repository + "/keys/timestamp-1.pem"])
    try place.configure([["name": "curious", "public_key": key, "command": [signer]]])
    try place.mustSign(["init", "--existing-keys"])
    try place.makeModels()
    var command = [Programs.manifestSign, "publish", place.models, "--repository", place.repository]
    if geteuid() == 0 {
      try Programs.run("chown", ["-R", "65534:65534", place.path])
      command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
    }
    let outcome = try Programs.start(command[0], Array(command.dropFirst()), environment: place.environment)
    #expect(outcome.status == 17, "\(outcome.errors)")
    let refused = String(decoding: try place.content("refused"), as: UTF8.self)
    #expect(refused.contains("Permission denied"), "\(refused)")
  }
}
