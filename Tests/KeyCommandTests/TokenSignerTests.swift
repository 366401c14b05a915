import Foundation
import Testing

@Suite("A PKCS #11 token that signs") struct TokenSignerTests {
  private static let module = "/usr/lib/softhsm/libsofthsm2.so"

  /// A token of SoftHSM2 with two Ed25519 keys that it made itself, and a repository whose snapshot and timestamp keys they are.
  private final class Scene {
    let place: Workplace
    private(set) var keys: [String: String] = [:]

    init() throws {
      place = try Workplace()
      try place.makeFolder("tokens")
      let configuration = try place.write(
        "softhsm2.conf", "directories.tokendir = \(place.path)/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
      place.environment["SOFTHSM2_CONF"] = configuration
      try Programs.run(
        "softhsm2-util", ["--init-token", "--free", "--label", "release keys", "--so-pin", "12345678", "--pin", "5678"],
        environment: place.environment)
      for name in ["root-1", "targets-1"] { try place.mustSign(["key", "generate", name, "--no-passphrase"]) }
      for (name, id) in [("snapshot-1", "01"), ("timestamp-1", "02")] {
        let base = ["--module", TokenSignerTests.module, "--token-label", "release keys"]
        try Programs.run(
          "pkcs11-tool", base + ["--login", "--pin", "5678", "--keypairgen", "--key-type", "EC:edwards25519", "--label", name, "--id", id],
          environment: place.environment)
        let pem = place.repository + "/keys/\(name).pem"
        try Programs.run(
          "pkcs11-tool", base + ["--read-object", "--type", "pubkey", "--label", name, "--output-file", pem], environment: place.environment
        )
        let der = place.path + "/\(name).der"
        try Programs.run("openssl", ["pkey", "-pubin", "-in", pem, "-outform", "DER", "-out", der])
        keys[name] = try Data(contentsOf: URL(fileURLWithPath: der)).suffix(32).hexadecimal
      }
      try configure()
      try place.mustSign(["init", "--existing-keys"])
      try place.makeModels()
    }

    func configure(
      object: String? = nil, token: String = "release%20keys", module: String = TokenSignerTests.module, pinFile: String? = nil
    ) throws {
      try place.configure(
        keys.sorted { $0.key < $1.key }.map { name, key in
          var entry: [String: Any] = [
            "name": "token \(name)", "public_key": key,
            "pkcs11": "pkcs11:token=\(token);object=\(object ?? name);type=private?module-path=\(module)",
            "max_message_bytes": 4096,
          ]
          if let pinFile { entry["pin_file"] = pinFile }
          return entry
        })
    }

    func publish(_ more: [String: String] = [:]) throws -> Outcome { try place.sign(["publish", place.models], more) }
  }

  @Test("two keys on one token sign, with the PIN from the environment, and from a file; python-tuf's library agrees") func signs() throws {
    let scene = try Scene()
    let place = scene.place
    #expect(try scene.publish(["MANIFEST_SIGN_PIN": "5678"]).status == 0)
    try scene.configure(pinFile: try place.write("pin", "5678\n"))
    try place.makeModels("other weights")
    let second = try place.sign(["publish", place.models, "--allow-replace"])
    #expect(second.status == 0, "\(second.errors)")
    #expect(try place.mustSign(["verify", place.models]).status == 0)
    let script = """
      import sys
      from tuf.api.metadata import Metadata, Root
      folder = sys.argv[1]
      root = Metadata[Root].from_file(folder + '/1.root.json')
      for name, role in [('2.snapshot', 'snapshot'), ('timestamp', 'timestamp'), ('2.targets', 'targets')]:
          metadata = Metadata.from_file(f'{folder}/{name}.json')
          root.signed.verify_delegate(role, metadata.signed_bytes, metadata.signatures)
      """
    try Programs.run(Programs.python, ["-c", script, place.repository + "/manifests/metadata"])
  }

  @Test("a wrong PIN, none, another token, another key or module is a clear error with exit code 17, and nothing is half signed")
  func refusals() throws {
    let scene = try Scene()
    let place = scene.place
    let before = try place.snapshot("repository/manifests")
    func expectRefusal(_ words: String, pin: String? = "5678") throws {
      let outcome = try scene.publish(pin.map { ["MANIFEST_SIGN_PIN": $0] } ?? [:])
      #expect(outcome.status == 17 && outcome.errors.contains(words), "\(words): \(outcome.errors)")
      #expect(try place.snapshot("repository/manifests") == before)
    }
    try expectRefusal("the PIN is wrong; it was tried once only", pin: "0000")
    try expectRefusal("set MANIFEST_SIGN_PIN, or name a file that holds it as pin_file", pin: nil)
    let pinFile = try place.write("pin", "5678\n", mode: 0o620)
    try scene.configure(pinFile: pinFile)
    try expectRefusal("chmod 600 \(pinFile)", pin: nil)
    try scene.configure(pinFile: pinFile + "-missing")
    try expectRefusal("can't be read from \(pinFile)-missing: No such file", pin: nil)
    try scene.configure(token: "other")
    try expectRefusal("0 tokens match")
    try scene.configure(object: "other")
    try expectRefusal("0 private keys match")
    // Both entries name one key: that of the timestamp, where the snapshot's signature is wanted.
    try scene.configure(object: "timestamp-1")
    try expectRefusal("not a signature of this key")
    try scene.configure(module: "/usr/lib/x86_64-linux-gnu/none.so")
    #expect(try scene.publish().status == 14)
    let noModule = try place.write("module.so", "no module", mode: 0o644)
    try scene.configure(module: noModule)
    try expectRefusal("can't be used")
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: noModule)
    try expectRefusal("others may write to it")
    let library = try Programs.run("sh", ["-c", "ldconfig -p | grep -m1 libsodium.so | sed 's/.*=> //'"]).trimmingCharacters(
      in: .whitespacesAndNewlines)
    try scene.configure(module: library)
    try expectRefusal("no function C_GetFunctionList")
    try scene.configure()
    #expect(try scene.publish(["MANIFEST_SIGN_PIN": "5678"]).status == 0)
  }
}
