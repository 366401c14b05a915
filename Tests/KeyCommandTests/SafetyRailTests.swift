import Foundation
import Testing

@Suite("Secrets stay where they belong") struct SafetyRailTests {
  /// Secret keys in every form that a file shows by itself.
  private func secrets(_ place: Workplace) throws -> [(String, Data)] {
    let key = place.path + "/made.pem"
    try Programs.run("openssl", ["genpkey", "-algorithm", "ed25519", "-out", key])
    try Programs.run("openssl", ["pkey", "-in", key, "-outform", "DER", "-out", place.path + "/made.der"])
    try Programs.run("openssl", ["pkcs8", "-topk8", "-in", key, "-passout", "pass:p", "-out", place.path + "/made-encrypted.pem"])
    try Programs.run(
      "openssl", ["pkcs8", "-topk8", "-in", key, "-passout", "pass:p", "-outform", "DER", "-out", place.path + "/made-encrypted.der"])
    try Programs.run("minisign", ["-G", "-W", "-p", place.path + "/made.pub", "-s", place.path + "/made.key"])
    return try ["made.pem", "made.der", "made-encrypted.pem", "made-encrypted.der", "made.key", "repository/secrets/root-1.key"].map {
      ($0, try place.content($0))
    }
  }

  @Test("a secret below manifests or keys stops publish, verify and status, and none of it is printed") func publishedFolders() throws {
    let place = try Workplace()
    try place.makeRepository()
    try place.mustSign(["publish", place.models])
    let before = try place.snapshot("repository/manifests")
    try place.makeModels("changed")
    let samples = try secrets(place)
    for (name, content) in samples {
      for file in ["manifests/targets/org/readme.txt", "manifests/metadata/notes.json", "manifests/x", "keys/old/notes.txt"] {
        let path = try place.write("repository/" + file, content, mode: 0o644)
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Each verb on one place; all verbs on the first.
        let verbs = file.hasPrefix("manifests/x") ? [["publish", place.models, "--allow-replace"], ["verify"], ["status"]] : [["status"]]
        for verb in verbs {
          let outcome = try place.sign(verb)
          #expect(outcome.status == 17 && outcome.errors.contains(file), "\(name) as \(file): \(outcome.errors)")
          let text = String(decoding: content, as: UTF8.self)
          for line in text.split(separator: "\n") where line.count > 30 && !line.hasPrefix("-----") && !line.hasPrefix("untrusted") {
            #expect(!(outcome.output + outcome.errors).contains(line))
          }
        }
      }
    }
    #expect(try place.snapshot("repository/manifests") == before)
    try place.mustSign(["status"])
  }

  @Test("publish --stage takes no secret along from the folder of the models") func stage() throws {
    let place = try Workplace()
    try place.makeRepository()
    for (name, content) in try secrets(place) {
      let path = try place.write("models/org/name/1/notes.txt", content, mode: 0o644)
      let outcome = try place.sign(["publish", place.models, "--stage"])
      #expect(outcome.status == 16 && outcome.errors.contains("notes.txt"), "\(name): \(outcome.errors)")
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: place.repository + "/manifests/targets").isEmpty)
    #expect(try place.mustSign(["publish", place.models, "--stage"]).status == 0)
  }

  @Test("a secret in disguise, and the bare seed of a key that a root lists, are found in what is published and in what is staged")
  func disguises() throws {
    let place = try Workplace()
    try place.makeRepository()
    let clear = String(decoding: try place.content("repository/secrets/targets-1.key"), as: UTF8.self)
    let digits = try #require(clear.split(separator: "\n").last?.dropFirst(6))
    // The public half is known from the root alone.
    try FileManager.default.removeItem(atPath: place.repository + "/keys/targets-1.pem")
    let seed = place.path + "/seed"
    try Programs.run("sh", ["-c", "printf %s \"$0\" | xxd -r -p > \"$1\"", String(digits), seed])
    _ = try place.makeOpenSSLKey("k.pem")
    try Programs.run("sh", ["-c", "cd \"$0\"; tar cf k.tar k.pem; base64 k.pem > k.b64; iconv -t UTF-16 k.pem > k.utf16", place.path])
    let samples = [
      "BOM": Data([0xEF, 0xBB, 0xBF]) + Data(clear.utf8), "line before": Data("x\n".utf8) + (try place.content("k.pem")),
      "tar": try place.content("k.tar"),
      "base64": try place.content("k.b64"), "UTF-16": try place.content("k.utf16"), "seed": try place.content("seed"),
      "seed in digits": Data((digits + "\n").utf8), "seed in base64": Data(try place.content("seed").base64EncodedString().utf8),
    ]
    for (name, content) in samples {
      for (file, arguments, status) in [
        ("repository/manifests/targets/notes.txt", ["status"], Int32(17)),
        ("models/org/name/1/notes.txt", ["publish", place.models, "--stage"], 16),
      ] {
        let path = try place.write(file, content, mode: 0o644)
        let outcome = try place.sign(arguments)
        #expect(outcome.status == status && outcome.errors.contains("notes.txt"), "\(name) in \(file): \(outcome.errors)")
        try FileManager.default.removeItem(atPath: path)
      }
    }
    try place.write("models/org/name/1/notes.txt", Data((0..<32).map { _ in UInt8.random(in: 0...255) }), mode: 0o644)
    #expect(try place.sign(["publish", place.models, "--stage"]).status == 0, "32 bytes of another kind")
  }

  @Test("a folder of secrets that is refused is left as it was, and so is all else") func refusedFolder() throws {
    let place = try Workplace()
    try place.makeFolder("loose", mode: 0o755)
    for arguments in [["init"], ["key", "generate", "k"]] {
      let outcome = try place.sign(arguments + ["--no-passphrase", "--secrets", place.path + "/loose"])
      #expect(outcome.status == 17 && outcome.errors.contains("chmod 700"), "\(outcome.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/loose").isEmpty)
      #expect(!place.exists("repository"))
      let published = try place.sign(arguments + ["--no-passphrase", "--secrets", place.repository + "/keys/s"])
      #expect(
        published.status == 17 && published.errors.contains("name a folder outside of manifests, keys and pending"), "\(published.errors)")
      #expect(!place.exists("repository"))
    }
  }

  @Test("the worked example's keys are refused by import and by init, which leave nothing behind") func exampleKeys() throws {
    let place = try Workplace()
    let example = packageRoot.path + "/Tests/Example/worthless-keys"
    try place.makeFolder("secrets")
    for name in try FileManager.default.contentsOfDirectory(atPath: example) {
      let text = try String(contentsOfFile: example + "/" + name, encoding: .utf8)
      try place.write("secrets/" + name, text)
      let digits = try #require(text.split(separator: "\n").first { $0.hasPrefix("seed: ") }?.dropFirst(6))
      try Programs.run("sh", ["-c", "printf %s \"$0\" | xxd -r -p > \"$1\"", String(digits), place.path + "/seed"])
      let outcome = try place.sign(["key", "import", place.path + "/seed", "k", "--no-passphrase"])
      #expect(outcome.status == 17 && outcome.errors.contains("one of the worked example's"), "\(name): \(outcome.errors)")
      #expect(!outcome.errors.contains("root names") && !place.exists("repository"))
    }
    let made = try place.sign(["init", "--existing-keys", "--secrets", place.path + "/secrets"])
    #expect(made.status == 17 && made.errors.contains("one of the worked example's") && !place.exists("repository"), "\(made.errors)")
  }

  @Test("secret keys can't be made below what is published", arguments: ["manifests/secrets", "keys/secrets", "keys"]) func secretsFolder(
    folder: String
  ) throws {
    let place = try Workplace()
    let outcome = try place.sign(["key", "generate", "k", "--no-passphrase", "--secrets", place.repository + "/" + folder])
    #expect(outcome.status == 17 && outcome.errors.contains("can't lie in"))
    #expect(!place.exists("repository/\(folder)/k.key"))
    #expect(try place.sign(["init", "--no-passphrase", "--secrets", place.repository + "/" + folder]).status == 17)
  }

  @Test(
    "nor by another spelling of the folder", arguments: ["keys/../keys/s", "manifests/../keys/s", "manifests/metadata/deep/er", "link/s"])
  func secretsFolderSpelling(folder: String) throws {
    let place = try Workplace()
    try place.mustSign(["init", "--no-passphrase"])
    try FileManager.default.createSymbolicLink(atPath: place.repository + "/link", withDestinationPath: "keys")
    let outcome = try place.sign(["key", "generate", "k", "--no-passphrase", "--secrets", place.repository + "/" + folder])
    #expect(outcome.status == 17 && outcome.errors.contains("can't lie in"))
  }

  @Test("a link below the published folders that leads to a secret is as good as the secret") func linkedSecret() throws {
    let place = try Workplace()
    try place.mustSign(["init", "--no-passphrase"])
    let link = place.repository + "/manifests/targets/notes"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.repository + "/secrets/root-1.key")
    let outcome = try place.sign(["status"])
    #expect(outcome.status == 17 && outcome.errors.contains("manifests/targets/notes"))
  }

  @Test("a key that the roots left behind is shown as retired, and can't be brought back") func retired() throws {
    let place = try Workplace()
    // Root and targets keys that openssl made, so that python-tuf can sign the next root.
    _ = try place.makeOpenSSLKey("root.pem")
    _ = try place.makeOpenSSLKey("targets.pem")
    for role in ["root", "targets"] { try place.mustSign(["key", "import", place.path + "/\(role).pem", "\(role)-1", "--no-passphrase"]) }
    for role in ["snapshot", "timestamp"] { try place.mustSign(["key", "generate", "\(role)-1", "--no-passphrase"]) }
    try place.mustSign(["init", "--existing-keys"])
    let generated = try place.mustSign(["key", "generate", "targets-2", "--no-passphrase", "--json"]).json()
    func keys() throws -> [String: [String: Any]] {
      let list = try #require(try place.mustSign(["key", "list", "--json"]).json()["keys"] as? [[String: Any]])
      return Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", $0) })
    }
    let old = try #require(try keys()["targets-1"]?["key_id"] as? String)
    try Programs.run(
      Programs.python,
      [
        packageRoot.path + "/Tests/Peers/next_root.py", place.repository + "/manifests/metadata", place.path + "/root.pem", "targets", old,
        place.repository + "/keys/targets-2.pem",
      ])
    let after = try keys()
    #expect(after["targets-1"]?["retired_after"] as? Int == 1 && after["targets-1"]?["roles"] as? [String] == [])
    #expect(
      after["targets-2"]?["roles"] as? [String] == ["targets"] && after["targets-2"]?["key_id"] as? String == generated["key_id"] as? String
    )
    try place.makeModels()
    try place.mustSign(["publish", place.models])

    // Its files were destroyed, as they should be, and somebody finds a copy.
    for file in ["secrets/targets-1.key", "keys/targets-1.pem"] {
      try FileManager.default.removeItem(atPath: place.repository + "/" + file)
    }
    let outcome = try place.sign(["key", "import", place.path + "/targets.pem", "targets-3", "--no-passphrase"])
    #expect(outcome.status == 17 && outcome.errors.contains("retired") && !place.exists("repository/secrets/targets-3.key"))
    let check = try place.sign(["key", "check", place.path + "/targets.pem", "--name", "targets-2"])
    #expect(check.status == 19)
  }
}
