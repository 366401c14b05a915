import Foundation
import Testing

@Suite("The key verbs") struct KeyVerbTests {
  private func mode(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test(
    "a seed in base64 may begin with any character",
    arguments: ["0yz1bLH+jZGru8loPlcM2nLGRNjkXbGs5jkkZLdWo2U=", "MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA="])
  func seedThatBeginsLikeDER(text: String) throws {
    let place = try Workplace()
    try place.mustSign(["init", "--no-passphrase"])
    try place.write("seed.txt", text)
    #expect(try place.sign(["key", "import", place.path + "/seed.txt", "k", "--no-passphrase"]).status == 0)
  }

  @Test("generate writes both halves, prints a fingerprint that another program computes too, and never overwrites") func generate() throws
  {
    let place = try Workplace()
    let made = try place.mustSign(["key", "generate", "spare", "--json"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    let report = try made.json()
    #expect(try mode(place.repository + "/secrets") == 0o700)
    #expect(try mode(place.repository + "/secrets/spare.key") == 0o600)
    #expect(try String(decoding: place.content("repository/secrets/.gitignore"), as: UTF8.self) == "*\n")
    let script = """
      import hashlib, struct, sys
      from cryptography.hazmat.primitives.serialization import load_pem_public_key
      from securesystemslib.formats import encode_canonical
      public = load_pem_public_key(open(sys.argv[1], 'rb').read()).public_bytes_raw().hex()
      value = {'keytype': 'ed25519', 'scheme': 'ed25519', 'keyval': {'public': public}}
      digest = hashlib.sha256(encode_canonical(value).encode()).digest()
      print(digest.hex(), ' '.join('%05d' % group for group in struct.unpack('>8H', digest[:16])), sep='\\n')
      """
    let computed = try Programs.run(Programs.python, ["-c", script, place.repository + "/keys/spare.pem"]).split(separator: "\n").map(
      String.init)
    #expect(computed == [report["key_id"] as? String, report["fingerprint"] as? String])

    let before = try place.snapshot("repository")
    let again = try place.sign(["key", "generate", "spare", "--no-passphrase"])
    #expect(again.status == 1 && again.errors.contains("never overwritten"))
    try FileManager.default.removeItem(atPath: place.repository + "/secrets/spare.key")
    #expect(try place.sign(["key", "generate", "spare", "--no-passphrase"]).status == 1, "a public half alone is not overwritten either")
    #expect(try place.snapshot("repository").count == before.count - 1)
  }

  @Test(
    "a name that is no file's name everywhere is refused",
    arguments: ["", "../x", "a/b", ".hidden", "-x", "a b", "ä", "a\n", String(repeating: "a", count: 101)])
  func names(name: String) throws {
    let place = try Workplace()
    let outcome = try place.sign(["key", "generate", "--no-passphrase", "--", name])
    #expect(outcome.status == 2)
    #expect(!place.exists("repository/secrets"))
  }

  @Test("without a passphrase to be had, generate names the ways, ends with 17, and writes nothing") func noPassphrase() throws {
    let place = try Workplace()
    let outcome = try place.sign(["key", "generate", "spare"])
    #expect(outcome.status == 17)
    for way in ["MANIFEST_SIGN_PASSPHRASE", "--passphrase-file", "--passphrase-fd"] { #expect(outcome.errors.contains(way)) }
    #expect(!place.exists("repository/secrets/spare.key") && !place.exists("repository/keys/spare.pem"))
  }

  @Test("list tells name, holder, key id, roles, fingerprint and where the secret half is") func list() throws {
    let place = try Workplace()
    try place.mustSign(["init", "--no-passphrase", "--holder", "root-1=Alice", "--root-keys", "2"])
    try place.mustSign(["key", "generate", "spare"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    try FileManager.default.removeItem(atPath: place.repository + "/secrets/root-2.key")
    let keys = try #require(try place.mustSign(["key", "list", "--json"]).json()["keys"] as? [[String: Any]])
    #expect(keys.map { $0["name"] as? String } == ["root-1", "root-2", "snapshot-1", "spare", "targets-1", "timestamp-1"])
    let named = Dictionary(uniqueKeysWithValues: keys.map { ($0["name"] as? String ?? "", $0) })
    #expect(named["root-1"]?["holder"] as? String == "Alice" && named["root-2"]?["holder"] is NSNull)
    #expect(named["root-1"]?["roles"] as? [String] == ["root"] && named["spare"]?["roles"] as? [String] == [])
    func secret(_ name: String) -> [String: Any]? { named[name]?["secret"] as? [String: Any] }
    #expect(secret("root-1")?["encrypted"] as? Bool == false && secret("spare")?["encrypted"] as? Bool == true)
    #expect(secret("root-2")?["kind"] as? String == "elsewhere")
    let text = try place.mustSign(["key", "list"]).output
    for word in ["root-1, held by Alice", "NOT ENCRYPTED", "not here", "roles        root"] { #expect(text.contains(word)) }
    let root = try #require(
      JSONSerialization.jsonObject(with: place.content("repository/manifests/metadata/1.root.json")) as? [String: Any])
    let roles = try #require((root["signed"] as? [String: Any])?["roles"] as? [String: [String: Any]])
    #expect(Set(roles["root"]?["keyids"] as? [String] ?? []) == Set(["root-1", "root-2"].compactMap { named[$0]?["key_id"] as? String }))
  }

  @Test("passphrase: the new one opens and the old one does not; a wrong old one changes nothing") func passphrase() throws {
    let place = try Workplace()
    try place.mustSign(["key", "generate", "root-1"], ["MANIFEST_SIGN_PASSPHRASE": "old"])
    let before = try place.content("repository/secrets/root-1.key")
    let wrong = try place.sign(
      ["key", "passphrase", "root-1"], ["MANIFEST_SIGN_PASSPHRASE": "wrong", "MANIFEST_SIGN_NEW_PASSPHRASE": "new"])
    #expect(wrong.status == 17 && wrong.errors.contains("the passphrase is wrong"))
    #expect(try place.sign(["key", "passphrase", "root-1"], ["MANIFEST_SIGN_PASSPHRASE": "old"]).status == 17, "no new one to be had")
    #expect(try place.content("repository/secrets/root-1.key") == before)

    let file = try place.write("new", "new\n")
    try place.mustSign(["key", "passphrase", "root-1", "--new-passphrase-file", file], ["MANIFEST_SIGN_PASSPHRASE": "old"])
    #expect(try mode(place.repository + "/secrets/root-1.key") == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.repository + "/secrets").sorted() == [".gitignore", "root-1.key"])
    let path = place.repository + "/secrets/root-1.key"
    #expect(try place.sign(["key", "check", path], ["MANIFEST_SIGN_PASSPHRASE": "old"]).status == 17)
    #expect(try place.sign(["key", "check", path], ["MANIFEST_SIGN_PASSPHRASE": "new"]).status == 0, "it opens; no root lists it yet")
    let cleared = try place.mustSign(["key", "passphrase", "root-1", "--no-passphrase"], ["MANIFEST_SIGN_PASSPHRASE": "new"])
    #expect(cleared.errors.contains("without a passphrase"))
    #expect(try place.sign(["key", "check", path]).status == 0)
  }

  @Test("passphrase: on a full disk the old content stays, and nothing else does") func fullDisk() throws {
    let place = try Workplace()
    try place.mustSign(["key", "generate", "root-1", "--no-passphrase"])
    let before = try place.snapshot("repository/secrets")
    // No file may grow: the write of the new content fails.
    let outcome = try Programs.start(
      "sh",
      [
        "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", Programs.manifestSign, "key", "passphrase", "root-1", "--repository",
        place.repository,
      ],
      environment: place.environment.merging(["MANIFEST_SIGN_NEW_PASSPHRASE": "n"]) { _, new in new })
    #expect(outcome.status != 0)
    #expect(try place.snapshot("repository/secrets") == before)
  }

  @Test("check opens a backup, compares it, and signs nothing") func check() throws {
    let place = try Workplace()
    try place.mustSign(["init"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    let tree = try place.snapshot("repository")
    try place.makeFolder("stick")
    for name in ["root-1", "targets-1"] {
      try place.write("stick/\(name).key", place.content("repository/secrets/\(name).key"))
    }
    func check(_ name: String, _ more: [String] = [], _ passphrase: String = "p") throws -> Outcome {
      try place.sign(["key", "check", place.path + "/stick/" + name] + more, ["MANIFEST_SIGN_PASSPHRASE": passphrase])
    }
    let good = try check("root-1.key", ["--json"])
    #expect(good.status == 0)
    #expect(try good.json()["matches"] as? Bool == true && good.json()["roles"] as? [String] == ["root"])
    #expect(try check("root-1.key", [], "wrong").status == 17)
    let other = try check("targets-1.key", ["--name", "root-1"])
    #expect(other.status == 19 && other.errors.contains("another key"))
    #expect(try check("root-1.key", ["--name", "nobody"]).status == 17)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.path + "/stick/root-1.key")
    // A stick with a FAT file system has one mode for all: told, and no reason to keep anyone from looking.
    for path in ["stick/root-1.key", "stick"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.path + "/" + path)
    }
    let loose = try check("root-1.key")
    #expect(loose.status == 0 && loose.errors.contains("chmod 600") && loose.errors.contains("umask=077"), "\(loose.errors)")
    try FileManager.default.createSymbolicLink(atPath: place.path + "/stick/link", withDestinationPath: "root-1.key")
    #expect(try check("link").status == 0)
    #expect(try place.snapshot("repository") == tree)
  }

  @Test("import and export through the command, both ways with openssl and minisign") func importAndExport() throws {
    let place = try Workplace()
    let publicKey = try place.makeOpenSSLKey("plain.pem")
    try Programs.run(
      "openssl", ["pkcs8", "-topk8", "-in", place.path + "/plain.pem", "-passout", "pass:theirs", "-out", place.path + "/secret.pem"])
    let secrets = ["MANIFEST_SIGN_PASSPHRASE": "theirs", "MANIFEST_SIGN_NEW_PASSPHRASE": "ours"]
    let imported = try place.mustSign(["key", "import", place.path + "/secret.pem", "release", "--json"], secrets)
    #expect(try imported.json()["form"] as? String == "encrypted PKCS #8")
    let exported = try place.mustSign(["key", "export", "release"]).output
    #expect(exported == (try Programs.run("openssl", ["pkey", "-in", place.path + "/plain.pem", "-pubout"])))
    #expect(try place.mustSign(["key", "export", "release", "--format", "tuf"]).output.contains(publicKey))
    let file = place.path + "/release.pub"
    try place.mustSign(["key", "export", "release", "--format", "minisign", "--output", file])
    #expect(try place.sign(["key", "export", "release", "--output", file]).status == 14, "an export overwrites nothing")
    // What manifest-sign wrote at rest is what openssl gave: its signature verifies under openssl's public half.
    let reader = packageRoot.path + "/Tests/Peers/read_secret_key.py"
    #expect(FileManager.default.fileExists(atPath: reader))
    #expect(try place.sign(["key", "check", place.repository + "/secrets/release.key"], ["MANIFEST_SIGN_PASSPHRASE": "ours"]).status == 0)

    // The same key under a second name, and another key where the public half is known.
    let second = try place.sign(["key", "import", place.path + "/plain.pem", "again", "--no-passphrase"])
    #expect(second.status == 17 && second.errors.contains("release"))
    try FileManager.default.removeItem(atPath: place.repository + "/secrets/release.key")
    _ = try place.makeOpenSSLKey("other.pem")
    let other = try place.sign(["key", "import", place.path + "/other.pem", "release", "--no-passphrase"])
    #expect(other.status == 17 && other.errors.contains("another key") && !place.exists("repository/secrets/release.key"))
    try place.mustSign(["key", "import", place.path + "/plain.pem", "release", "--no-passphrase"])
  }

  @Test("a key whose public half is missing is listed, and export writes it anew from the secret half") func missingPublicHalf() throws {
    let place = try Workplace()
    try place.mustSign(["init"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    let before = try place.content("repository/keys/targets-1.pem")
    try FileManager.default.removeItem(atPath: place.repository + "/keys/targets-1.pem")
    #expect(try place.mustSign(["key", "list"]).output.contains("manifest-sign key export targets-1"))
    let keys = try #require(try place.mustSign(["key", "list", "--json"]).json()["keys"] as? [[String: Any]])
    #expect(keys.filter { $0["public_half"] as? Bool == false }.map { $0["name"] as? String } == ["targets-1"])
    #expect(try place.sign(["key", "export", "targets-1"], ["MANIFEST_SIGN_PASSPHRASE": "wrong"]).status == 17)
    #expect(!place.exists("repository/keys/targets-1.pem"))
    let exported = try place.mustSign(["key", "export", "targets-1"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    #expect(exported.output == String(decoding: before, as: UTF8.self) && exported.errors.contains("written anew"))
    #expect(try place.content("repository/keys/targets-1.pem") == before)
    #expect(try place.mustSign(["key", "export", "targets-1"]).errors.isEmpty, "no passphrase is needed once it is there")
    #expect(try place.sign(["key", "export", "nobody"]).status == 17)
  }

  @Test("a key that was in clear until now, or still is in the file that was imported, is told of") func oldCopies() throws {
    let place = try Workplace()
    _ = try place.makeOpenSSLKey("plain.pem")
    let clear = try place.mustSign(["key", "import", place.path + "/plain.pem", "k", "--no-passphrase"])
    #expect(clear.errors.contains("still holds the key unencrypted") && clear.errors.contains("shred -u") && !clear.errors.contains("mode"))
    let encrypted = try place.mustSign(["key", "passphrase", "k"], ["MANIFEST_SIGN_NEW_PASSPHRASE": "n"])
    #expect(encrypted.errors.contains("was not encrypted until now") && encrypted.errors.contains("Destroy those copies"))
    let again = try place.mustSign(["key", "passphrase", "k"], ["MANIFEST_SIGN_PASSPHRASE": "n", "MANIFEST_SIGN_NEW_PASSPHRASE": "m"])
    #expect(again.errors.isEmpty, "\(again.errors)")

    let other = try Workplace()
    _ = try other.makeOpenSSLKey("plain.pem")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other.path + "/plain.pem")
    let loose = try other.mustSign(["key", "import", other.path + "/plain.pem", "k"], ["MANIFEST_SIGN_NEW_PASSPHRASE": "n"])
    #expect(loose.errors.contains("mode is 0644") && loose.errors.contains("make a new key instead"))
    try Programs.run(
      "openssl", ["pkcs8", "-topk8", "-in", place.path + "/plain.pem", "-passout", "pass:p", "-out", place.path + "/encrypted.pem"])
    for name in ["secrets/k.key", "keys/k.pem"] { try FileManager.default.removeItem(atPath: place.repository + "/" + name) }
    let quiet = try place.mustSign(
      ["key", "import", place.path + "/encrypted.pem", "k"], ["MANIFEST_SIGN_PASSPHRASE": "p", "MANIFEST_SIGN_NEW_PASSPHRASE": "n"])
    #expect(quiet.errors.isEmpty, "\(quiet.errors)")
  }

  @Test("a variable that outweighs an option, and a passphrase file that others can use, are told of") func passphraseSources() throws {
    let place = try Workplace()
    try place.mustSign(["key", "generate", "k"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    let file = try place.write("passphrase", "p\n")
    let key = place.repository + "/secrets/k.key"
    #expect(try place.sign(["key", "check", key, "--passphrase-file", file]).errors.contains("warning") == false)
    let outweighed = try place.sign(["key", "check", key, "--passphrase-file", file], ["MANIFEST_SIGN_PASSPHRASE": "wrong"])
    #expect(outweighed.status == 17 && outweighed.errors.contains("MANIFEST_SIGN_PASSPHRASE is set and comes first: \(file) is not read"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    #expect(try place.sign(["key", "check", key, "--passphrase-file", file]).errors.contains("run: chmod 600"))
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
    let refused = try place.sign(["key", "check", key, "--passphrase-file", file])
    #expect(refused.status == 17 && refused.errors.contains("chmod 600"))
    let missing = try place.sign(["key", "passphrase", "k"], ["MANIFEST_SIGN_PASSPHRASE": "p"])
    #expect(
      missing.status == 17 && missing.errors.contains("--new-passphrase-file") && missing.errors.contains("MANIFEST_SIGN_NEW_PASSPHRASE"))
  }

  @Test("nothing secret is printed: not in results, --json, warnings or errors") func nothingSecretIsPrinted() throws {
    let place = try Workplace()
    let seed = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    let forms = [seed.base64EncodedString(), seed.hexadecimal, "a-secret-passphrase", "another-secret-passphrase"]
    try place.write("seed.txt", seed.base64EncodedString())
    var damaged = Array(seed.base64EncodedString().utf8)
    damaged[20] = UInt8(ascii: "!")
    try place.write("damaged.txt", Data(damaged))
    try place.write("long.txt", seed.base64EncodedString() + seed.base64EncodedString())
    let environment = ["MANIFEST_SIGN_PASSPHRASE": forms[2], "MANIFEST_SIGN_NEW_PASSPHRASE": forms[3]]
    var said = ""
    func note(_ arguments: [String], _ more: [String: String]) throws {
      for json in [[], ["--json"]] {
        let outcome = try place.sign(arguments + json, more)
        said += outcome.output + outcome.errors
      }
    }
    try note(["key", "import", place.path + "/seed.txt", "release"], environment)
    for name in ["damaged.txt", "long.txt"] { try note(["key", "import", place.path + "/" + name, "bad"], environment) }
    try note(["key", "list"], environment)
    try note(["key", "export", "release"], environment)
    try note(["key", "check", place.repository + "/secrets/release.key"], environment)
    try note(["key", "check", place.path + "/seed.txt", "--name", "release"], environment)
    try note(["key", "passphrase", "release", "--no-passphrase"], ["MANIFEST_SIGN_PASSPHRASE": forms[3]])
    let clear = String(decoding: try place.content("repository/secrets/release.key"), as: UTF8.self)
    #expect(clear.contains(seed.hexadecimal), "the seed is what was imported")
    try place.write("repository/secrets/release.key", clear.replacingOccurrences(of: "seed: ", with: "seeed: "))
    try note(["key", "check", place.repository + "/secrets/release.key"], environment)
    try note(["key", "list"], environment)
    try note(["key", "export", place.repository + "/secrets/release.key"], environment)
    try place.write("repository/keys/leak.pem", clear)
    try note(["key", "list"], environment)
    try note(["status"], environment)
    #expect(said.count > 1000)
    for form in forms {
      #expect(!said.contains(form))
      // Nor a part of it.
      for start in stride(from: 0, to: form.count - 12, by: 4) where form.count > 30 {
        #expect(!said.contains(form.dropFirst(start).prefix(12)))
      }
    }
  }
}
