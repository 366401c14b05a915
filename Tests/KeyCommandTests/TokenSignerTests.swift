import Foundation
import Testing

@Suite("A PKCS #11 token that signs") struct TokenSignerTests {
  @Test("two keys on one token sign, with the PIN from the environment, and from a file; python-tuf's library agrees") func signs() throws {
    let scene = try TokenScene()
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
    let scene = try TokenScene()
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

  @Test("a key of another kind on the token is called that") func otherKind() throws {
    let scene = try TokenScene()
    try Programs.run(
      "pkcs11-tool",
      [
        "--module", TokenScene.softHSM, "--token-label", "release keys", "--login", "--pin", scene.pin, "--keypairgen", "--key-type",
        "EC:prime256v1", "--label", "other-kind", "--id", "03",
      ], environment: scene.place.environment)
    try scene.configure(object: "other-kind")
    let outcome = try scene.publish(["MANIFEST_SIGN_PIN": scene.pin])
    #expect(outcome.status == 17 && outcome.errors.contains("is no Ed25519 key: its type is 0x3, ECDSA"), "\(outcome.errors)")
  }

  @Test("a PIN that was put where its place should be named is refused, and not repeated") func misplacedPIN() throws {
    let place = try Workplace()
    let key = try place.makeRepositoryWithForeignTimestampKey()
    let token: [String: Any] = ["name": "t", "public_key": key, "pkcs11": "pkcs11:object=a?module-path=/m"]
    for more in [
      ["pin_variable": "SECRET 5678"], ["pin_variable": "5678SECRET"], ["pin_variable": ""], ["pin_file": "SECRET5678"],
      ["pkcs11": "pkcs11:object=a?module-path=/m&pin-source=SECRET5678"],
    ] {
      try place.configure([token.merging(more) { _, new in new }])
      let outcome = try place.sign(["publish", place.models, "--json"])
      #expect(outcome.status == 16 && !(outcome.output + outcome.errors).contains("SECRET"), "\(more): \(outcome.output)\(outcome.errors)")
    }
  }
}
