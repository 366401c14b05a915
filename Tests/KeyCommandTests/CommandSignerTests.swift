import Foundation
import Testing

@Suite("A command that signs") struct CommandSignerTests {
  /// A repository whose timestamp key is openssl's, and what has to stay as it is where signing fails.
  private final class Scene {
    let place: Workplace
    let key: String
    let before: [String: Data]

    init() throws {
      place = try Workplace()
      key = try place.makeRepositoryWithForeignTimestampKey()
      before = try place.snapshot("repository/manifests")
    }

    /// The script that signs with openssl's key; `output` is a shell command that gets the raw signature.
    func signing(_ output: String = "cat", before: String = "") -> String {
      """
      #!/bin/sh
      set -e
      \(before)
      cat > \(place.path)/message
      openssl pkeyutl -sign -rawin -inkey \(place.path)/timestamp.pem -in \(place.path)/message | \(output)
      """
    }

    func configure(_ script: String, _ more: [String: Any] = [:], mode: Int = 0o700) throws {
      let path = try place.write("signer", script, mode: mode)
      var entry: [String: Any] = ["name": "the signer", "public_key": key, "command": [path, "an argument", "$HOME; true"]]
      for (name, value) in more { entry[name] = value }
      try place.configure([entry])
    }

    func publish(_ more: [String: String] = [:]) throws -> Outcome { try place.sign(["publish", place.models], more) }

    func expectNothingChanged() throws {
      let now = try place.snapshot("repository/manifests")
      #expect(now.filter { $0.key.hasSuffix(".json") } == before.filter { $0.key.hasSuffix(".json") }, "nothing is half signed")
    }
  }

  @Test(
    "a signature is taken raw, in hexadecimal and in base64, however its lines end and break",
    arguments: [
      "cat", "xxd -p -c 200", "base64 -w 0", "base64 -w 0 | tr -d =", "base64", "base64 -w 20 | sed 's/$/\\r/'", "xxd -p", "od -An -v -tx1",
    ])
  func forms(output: String) throws {
    let scene = try Scene()
    try scene.configure(scene.signing(output))
    let outcome = try scene.publish()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try scene.place.mustSign(["verify", scene.place.models]).output.contains("Everything that is published verifies"))
    let status = try scene.place.mustSign(["status", "--json"]).json()
    #expect((status["targets"] as? Int ?? 0) > 0)
  }

  @Test(
    "one that fails, prints noise or signs something else is a clear error, ends with 17, and leaves nothing half signed",
    arguments: [
      ("echo 'no\\033[31m luck' >&2; exit 3", "status 3"), ("kill -9 $$", "signal 9"), ("echo noise", "6 bytes that are no signature"),
      ("true", "0 bytes that are no signature"), ("head -c 64 /dev/zero", "not a signature of this key"), ("cat", "no signature"),
      ("yes", "no signature"), ("exec <&-; sleep 0.2; echo x", "no signature"), ("cat >/dev/null; head -c 65 /dev/zero", "65 bytes"),
      ("(sleep 60) & exit 0", "0 bytes that are no signature"),
    ])
  func misbehaviour(script: String, message: String) throws {
    let scene = try Scene()
    try scene.configure("#!/bin/sh\n" + script + "\n", ["timeout_seconds": 5])
    let outcome = try scene.publish()
    #expect(outcome.status == 17)
    // `yes` never stops, and is ended by the time limit.
    #expect(outcome.errors.contains(script == "yes" ? "within 5 seconds" : message), "\(outcome.errors)")
    #expect(!outcome.errors.contains("\u{1B}"), "what it said can't act on the terminal")
    try scene.expectNothingChanged()
  }

  @Test("what it wrote counts once it has ended, though a daemon that it started keeps its output open") func daemon() throws {
    let scene = try Scene()
    try scene.configure(scene.signing(before: "setsid sleep 60 &"))
    let outcome = try scene.publish()
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test("Control-Z does not stop it") func suspension() throws {
    let scene = try Scene()
    // What the key does at a terminal, to the whole group.
    try scene.configure(scene.signing(before: "kill -TSTP 0"))
    let outcome = try scene.publish()
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test("one that signs with another key is found out") func otherKey() throws {
    let scene = try Scene()
    let script = scene.signing()
    _ = try scene.place.makeOpenSSLKey("timestamp.pem.new")
    try FileManager.default.removeItem(atPath: scene.place.path + "/timestamp.pem")
    try FileManager.default.moveItem(atPath: scene.place.path + "/timestamp.pem.new", toPath: scene.place.path + "/timestamp.pem")
    try scene.configure(script)
    let outcome = try scene.publish()
    #expect(outcome.status == 17 && outcome.errors.contains("another key"))
    try scene.expectNothingChanged()
  }

  @Test(
    "one that hangs is ended when its time is up, also where it closed its output",
    arguments: ["sleep 60", "exec >&- 2>&-; sleep 60"])
  func hangs(script: String) throws {
    let scene = try Scene()
    try scene.configure("#!/bin/sh\n" + script + "\n", ["timeout_seconds": 1])
    let start = Date()
    let outcome = try scene.publish()
    #expect(Date().timeIntervalSince(start) < 20)
    #expect(outcome.status == 17 && outcome.errors.contains("within 1 seconds"), "\(outcome.errors)")
    try scene.expectNothingChanged()
  }

  @Test(
    "what it started is ended with it",
    arguments: ["sleep 300 & echo $! > PLACE/child; wait", "trap '' TERM; sleep 300 & echo $! > PLACE/child; wait; sleep 60"])
  func descendants(script: String) throws {
    let scene = try Scene()
    try scene.configure("#!/bin/sh\n" + script.replacingOccurrences(of: "PLACE", with: scene.place.path) + "\n", ["timeout_seconds": 1])
    #expect(try scene.publish().status == 17)
    let process = try #require(
      Int32(String(decoding: try scene.place.content("child"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
    // A zombie that nobody has waited for yet counts as ended.
    let state = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? "0 (sleep) Z"
    #expect(state.contains(") Z"), "\(state)")
  }

  @Test("an interruption while it works ends it and the command with 130, and nothing is half signed", arguments: ["INT", "TERM"])
  func interruption(signal: String) throws {
    let scene = try Scene()
    let place = scene.place
    try scene.configure("#!/bin/sh\necho $$ > \(place.path)/asked\nsleep 300\n", ["timeout_seconds": 300])
    let script = """
      "$0" "$@" & process=$!
      for i in $(seq 3000); do [ -s \(place.path)/asked ] && break; sleep 0.02; done
      kill -\(signal) $process; wait $process; exit $?
      """
    let outcome = try Programs.start(
      "env",
      [
        "--default-signal=INT,TERM", "bash", "-c", script, "env", "--default-signal=INT,TERM", Programs.manifestSign, "publish",
        place.models, "--repository", place.repository,
      ],
      environment: place.environment)
    #expect(outcome.status == 130, "\(outcome.status) \(outcome.errors)")
    #expect(outcome.errors.contains("interrupted"))
    try scene.expectNothingChanged()
    let signer = String(decoding: try place.content("asked"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    let state = (try? String(contentsOfFile: "/proc/\(signer)/stat", encoding: .utf8)) ?? "0 (sh) Z"
    #expect(state.contains(") Z"), "\(state)")
  }

  @Test("at a terminal it may ask for a PIN, and Control-C ends it and the command with 130") func terminal() throws {
    let scene = try Scene()
    let place = scene.place
    func atTerminal(_ typed: String) throws -> [String: Any] {
      let what: [String: Any] = [
        "command": [Programs.manifestSign, "publish", place.models, "--repository", place.repository], "environment": place.environment,
        "until": place.path + "/asked", "typed": typed,
      ]
      let text = String(decoding: try JSONSerialization.data(withJSONObject: what), as: UTF8.self)
      let printed = try Programs.run(Programs.python, [packageRoot.path + "/Tests/Peers/at_terminal.py", text])
      return try #require(try JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any])
    }
    try scene.configure(scene.signing(before: "echo x > \(place.path)/asked; read -r pin < /dev/tty; [ \"$pin\" = 1234 ]"))
    let interrupted = try atTerminal("\u{3}")
    #expect(interrupted["status"] as? Int == 130, "\(interrupted)")
    try scene.expectNothingChanged()
    try FileManager.default.removeItem(atPath: place.path + "/asked")
    let answered = try atTerminal("1234\n")
    #expect(answered["status"] as? Int == 0, "\(answered)")
  }

  @Test("it inherits no passphrase, no PIN, and no descriptor; its arguments pass through no shell") func environment() throws {
    let scene = try Scene()
    let place = scene.place
    try scene.configure(
      scene.signing(
        before: "env > \(place.path)/env; ls -l /proc/self/fd > \(place.path)/fd; printf '%s|' \"$@\" > \(place.path)/arguments"))
    let passphrase = try place.write("passphrase", "on a descriptor")
    let outcome = try Programs.start(
      "sh",
      [
        "-c", "exec 9<\"$PASSPHRASE_FILE\"; exec \"$0\" \"$@\"", Programs.manifestSign, "publish", place.models, "--passphrase-fd", "9",
        "--repository", place.repository,
      ],
      environment: place.environment.merging(
        ["PASSPHRASE_FILE": passphrase, "MANIFEST_SIGN_PIN": "1234", "MANIFEST_SIGN_NEW_PASSPHRASE": "n", "KEPT": "yes"]) { _, new in new })
    #expect(outcome.status == 0, "\(outcome.errors)")
    let variables = String(decoding: try place.content("env"), as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(variables.contains("KEPT=yes"))
    #expect(!variables.contains { $0.hasPrefix("MANIFEST_SIGN_") })
    #expect(!String(decoding: try place.content("fd"), as: UTF8.self).contains("passphrase"))
    #expect(String(decoding: try place.content("arguments"), as: UTF8.self) == "an argument|$HOME; true|")
    // The exact bytes: the canonical form of what is published.
    let script = """
      import json, sys
      from securesystemslib.formats import encode_canonical
      print(encode_canonical(json.load(open(sys.argv[1]))['signed']), end='')
      """
    let canonical = try Programs.run(Programs.python, ["-c", script, place.repository + "/manifests/metadata/timestamp.json"])
    #expect(Data(canonical.utf8) == (try place.content("message")))
  }

  @Test("a role that is longer than what a signer takes is refused before anything is signed") func longestMessage() throws {
    let scene = try Scene()
    let place = scene.place
    // The targets key is external too, and its program tells when it was called.
    try FileManager.default.moveItem(atPath: place.repository + "/secrets/targets-1.key", toPath: place.path + "/targets-1.key")
    let targets = try #require(
      (try place.mustSign(["key", "list", "--json"]).json()["keys"] as? [[String: Any]])?.first { $0["name"] as? String == "targets-1" }?[
        "key_id"])
    let called = try place.write("targets-signer", "#!/bin/sh\ntouch \(place.path)/called\n", mode: 0o700)
    let timestamp = try place.write("signer", scene.signing(), mode: 0o700)
    try place.configure([
      ["name": "targets", "key_id": targets, "command": [called]],
      ["name": "small", "public_key": scene.key, "command": [timestamp], "max_message_bytes": 100],
    ])
    let outcome = try scene.publish()
    #expect(
      outcome.status == 17 && outcome.errors.contains("small") && outcome.errors.contains("it takes 100 at most"), "\(outcome.errors)")
    #expect(!place.exists("called") && !place.exists("message"))
    try scene.expectNothingChanged()
  }

  @Test("whoever may change a link on the way to the program, or a folder that holds it, is not trusted") func links() throws {
    let scene = try Scene()
    let place = scene.place
    try place.write("programs/deep/signer", scene.signing(), mode: 0o700)
    try FileManager.default.createSymbolicLink(atPath: place.path + "/link", withDestinationPath: "programs/current/signer")
    try FileManager.default.createSymbolicLink(atPath: place.path + "/programs/current", withDestinationPath: place.path + "/programs/deep")
    try place.configure([["name": "the signer", "public_key": scene.key, "command": [place.path + "/link"]]])
    #expect(try scene.publish().status == 0)
    try place.makeModels("other weights")
    for folder in ["programs", "programs/deep"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: place.path + "/" + folder)
      let outcome = try place.sign(["publish", place.models, "--allow-replace"])
      #expect(outcome.status == 17 && outcome.errors.contains("\(folder): others may write to it"), "\(outcome.errors)")
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.path + "/" + folder)
    }
    try FileManager.default.removeItem(atPath: place.path + "/programs/current")
    try FileManager.default.createSymbolicLink(atPath: place.path + "/programs/current", withDestinationPath: "../programs/current")
    #expect(try place.sign(["publish", place.models, "--allow-replace"]).status == 14, "links in a circle")
  }

  @Test("a configuration or program that others may change is refused, and so is a wrong configuration") func safety() throws {
    let scene = try Scene()
    let place = scene.place
    let configuration = place.path + "/configuration/signed-manifest/signers.json"
    func expectRefusal(_ words: String, _ status: Int32 = 17) throws {
      let outcome = try scene.publish()
      #expect(outcome.status == status && outcome.errors.contains(words), "\(outcome.errors)")
      try scene.expectNothingChanged()
    }
    try scene.configure(scene.signing(), mode: 0o722)
    try expectRefusal("others may write to it")
    try scene.configure(scene.signing())
    try FileManager.default.setAttributes([.posixPermissions: 0o620], ofItemAtPath: configuration)
    try expectRefusal("others may write to it")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: configuration)
    try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: place.path + "/configuration/signed-manifest")
    try expectRefusal("others may write to it")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.path + "/configuration/signed-manifest")
    for (more, words) in [
      (["max_mesage_bytes": 5], "max_mesage_bytes"), (["key_id": scene.key], "both"), (["command": ["signer"]], "absolute path"),
      (["command": []], "absolute path"), (["pkcs11": "pkcs11:object=a"], "both"), (["timeout_seconds": 0], "1 to 3600"),
      (["pin_file": "/x"], "pin_file"),
    ] as [([String: Any], String)] {
      try scene.configure(scene.signing(), more)
      try expectRefusal(words, 16)
    }
    let token: [String: Any] = ["name": "t", "public_key": scene.key]
    for (uri, words) in [
      ("pkcs11:object=a?module-path=/m&pin-value=1234", "PIN must not stand in it"), ("pkcs11:token=a?module-path=/m", "names no key"),
      ("pkcs11:object=a", "module-path"), ("pkcs11:object=a?module-path=m", "absolute path"),
      ("pkcs11:object=%zz?module-path=/m", "hexadecimal"),
      ("pkcs11:object=a;colour=red?module-path=/m", "colour"), ("http:object=a", "pkcs11:"),
    ] {
      try place.configure([token.merging(["pkcs11": uri]) { _, new in new }])
      try expectRefusal(words, 16)
      #expect(try !scene.publish().errors.contains("1234"))
    }
    try scene.configure(scene.signing())
    #expect(try scene.publish().status == 0)
  }
}
