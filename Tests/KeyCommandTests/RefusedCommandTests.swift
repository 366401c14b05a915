import Foundation
import Testing

@Suite("A refused command changes nothing") struct RefusedCommandTests {
  @Test("a secret below manifests, keys or pending stops every verb that works on the repository") func everyVerb() throws {
    let place = try Workplace()
    try place.makeRepository()
    try place.mustSign(["publish", place.models])
    let backup = try place.write("backup.key", try place.content("repository/secrets/root-1.key"))
    let verbs = [
      ["status"], ["verify"], ["publish", place.models], ["propose", "--renew"], ["sign"], ["rotate", "timestamp", "--no-passphrase"],
      ["refresh"],
      ["key", "list"], ["key", "generate", "k", "--no-passphrase"], ["key", "import", place.path + "/k.pem", "k", "--no-passphrase"],
      ["key", "export", "root-1"], ["key", "passphrase", "root-1", "--no-passphrase"], ["key", "check", backup],
    ]
    _ = try place.makeOpenSSLKey("k.pem")
    for folder in ["manifests/metadata", "keys", "pending"] {
      let secret = try place.write("repository/\(folder)/notes.json", try place.content("k.pem"))
      let before = try place.snapshot("repository")
      for verb in folder == "pending" ? verbs : Array(verbs.suffix(10)) {
        let outcome = try place.sign(verb)
        #expect(outcome.status == 17 && outcome.errors.contains("\(folder)/notes.json"), "\(verb): \(outcome.status) \(outcome.errors)")
      }
      // The lock file names the last process that held it.
      #expect(try place.snapshot("repository").filter { !$0.key.hasSuffix(".lock") } == before.filter { !$0.key.hasSuffix(".lock") })
      try FileManager.default.removeItem(atPath: secret)
    }
    try place.mustSign(["status"])
  }

  @Test("policy.json that is a secret key is found") func policy() throws {
    let place = try Workplace()
    try place.makeRepository()
    try place.write("repository/keys/policy.json", try place.content("repository/secrets/root-1.key"))
    #expect(try place.sign(["key", "list"]).status == 17)
  }

  @Test(
    "without a passphrase, or with an empty one, no key is made and nothing is left behind",
    arguments: [
      ["key", "generate", "k"], ["key", "generate", "k", "--passphrase-file", "/dev/null"], ["init"],
      ["init", "--passphrase-file", "/dev/null"],
      ["key", "generate", "k", "--passphrase-fd", "0"], ["key", "import", "PLACE/k.pem", "k", "--new-passphrase-fd", "0"],
    ])
  func nothingLeft(arguments: [String]) throws {
    let place = try Workplace()
    _ = try place.makeOpenSSLKey("k.pem")
    let outcome = try place.sign(arguments.map { $0.replacingOccurrences(of: "PLACE", with: place.path) })
    #expect(outcome.status == 17, "\(outcome.errors)")
    #expect(arguments.count < 4 && arguments[0] == "key" || outcome.errors.contains("passphrase is"), "\(outcome.errors)")
    #expect(!place.exists("repository"))
  }

  @Test("an empty passphrase for a new key is only taken from the variable that a CI sets") func emptyVariable() throws {
    let place = try Workplace()
    #expect(try place.sign(["key", "generate", "k"], ["MANIFEST_SIGN_PASSPHRASE": ""]).status == 0)
    let key = try place.content("repository/secrets/k.key")
    let changed = try place.sign(["key", "passphrase", "k"], ["MANIFEST_SIGN_PASSPHRASE": "", "MANIFEST_SIGN_NEW_PASSPHRASE": ""])
    #expect(changed.status == 17 && changed.errors.contains("the passphrase is empty"), "\(changed.errors)")
    #expect(try place.content("repository/secrets/k.key") == key)
  }

  @Test(
    "both passphrases from one descriptor are a slip in the command line",
    arguments: [
      ["--passphrase-fd", "0", "--new-passphrase-fd", "0"], ["--passphrase-file", "/dev/stdin", "--new-passphrase-fd", "0"],
      ["--passphrase-fd", "0", "--new-passphrase-file", "/dev/fd/0"],
    ])
  func oneDescriptor(options: [String]) throws {
    let place = try Workplace()
    try place.mustSign(["key", "generate", "k"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    let outcome = try place.sign(["key", "passphrase", "k"] + options)
    #expect(outcome.status == 2 && outcome.errors.contains("file descriptor 0"), "\(outcome.errors)")
  }

  @Test("where nothing can be written, or no memory locked, neither folders nor half a key stay") func fullDisk() throws {
    let place = try Workplace()
    for arguments in [["init", "--no-passphrase"], ["key", "generate", "k", "--no-passphrase"]] {
      // A file-size limit stands for a full disk: the first byte of a key can't be written.
      let full = try Programs.start(
        "bash",
        ["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\" 2>&1 | cat; exit ${PIPESTATUS[0]}", Programs.manifestSign] + arguments
          + ["--repository", place.repository], environment: place.environment)
      #expect(full.status != 0 && !place.exists("repository"), "\(arguments): \(full.output)")
    }
    let key = try place.makeOpenSSLKey("k.pem")
    #expect(!key.isEmpty)
  }

  @Test("a rotation whose signer fails leaves no new key behind, however often it is tried") func rotation() throws {
    let place = try Workplace()
    _ = try place.makeRepositoryWithForeignTimestampKey()
    let timestamp = try #require(try keyID("timestamp-1", place))
    let signer = try place.write(
      "signer",
      "#!/bin/sh\ncat > \(place.path)/message\nopenssl pkeyutl -sign -rawin -inkey \(place.path)/timestamp.pem -in \(place.path)/message\n",
      mode: 0o700)
    try place.configure([["name": "good", "key_id": timestamp, "command": [signer]]])
    try place.mustSign(["publish", place.models])
    // The root key signs through a program that fails.
    let root = try #require(try keyID("root-1", place))
    try FileManager.default.moveItem(atPath: place.repository + "/secrets/root-1.key", toPath: place.path + "/root-1.key")
    try place.configure([
      ["name": "good", "key_id": timestamp, "command": [signer]], ["name": "bad", "key_id": root, "command": ["/bin/false"]],
    ])
    let before = try place.snapshot("repository")
    for _ in 0..<2 {
      let outcome = try place.sign(["rotate", "timestamp", "--no-passphrase"])
      #expect(outcome.status == 17 && outcome.errors.contains("nothing names it"), "\(outcome.errors)")
      #expect(try Set(place.snapshot("repository").keys) == Set(before.keys))
    }
  }

  private func keyID(_ name: String, _ place: Workplace) throws -> String? {
    let list = try place.mustSign(["key", "list", "--json"]).json()["keys"] as? [[String: Any]]
    return list?.first { $0["name"] as? String == name }?["key_id"] as? String
  }

  @Test("key check repeats nothing of a damaged file, and a key in clear is not said to be changed") func check() throws {
    let place = try Workplace()
    try place.mustSign(["key", "generate", "k", "--no-passphrase"])
    let text = String(decoding: try place.content("repository/secrets/k.key"), as: UTF8.self)
    let digits = String(try #require(text.split(separator: "\n").last?.dropFirst(6)))
    for name in ["\(digits)", "a b \(digits)"] {
      let copy = try place.write("copy.key", text.replacingOccurrences(of: "name: k\n", with: "name: \(name)\n"))
      let outcome = try place.sign(["key", "check", copy])
      #expect(outcome.status == 17 && !(outcome.output + outcome.errors).contains(digits), "\(outcome.status) \(outcome.errors)")
      #expect(try place.sign(["key", "check", copy, "--name", "k"]).status == 0)
    }
    let unchanged = try place.mustSign(["key", "passphrase", "k", "--no-passphrase"])
    #expect(unchanged.output.contains("has no passphrase, as before") && !unchanged.output.contains("changed"))
  }
}
