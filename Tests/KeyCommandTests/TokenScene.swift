import Foundation
import Testing

/// A token of SoftHSM2 with two Ed25519 keys that it made itself, and a repository whose snapshot and timestamp keys they are.
final class TokenScene {
  static let softHSM = "/usr/lib/softhsm/libsofthsm2.so"
  let place: Workplace
  let pin: String
  /// What is configured unless told otherwise.
  var module = TokenScene.softHSM
  private(set) var keys: [String: String] = [:]

  init(pin: String = "5678") throws {
    self.pin = pin
    place = try Workplace()
    try place.makeFolder("tokens")
    let configuration = try place.write(
      "softhsm2.conf", "directories.tokendir = \(place.path)/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
    place.environment["SOFTHSM2_CONF"] = configuration
    try Programs.run(
      "softhsm2-util", ["--init-token", "--free", "--label", "release keys", "--so-pin", "12345678", "--pin", pin],
      environment: place.environment)
    for name in ["root-1", "targets-1"] { try place.mustSign(["key", "generate", name, "--no-passphrase"]) }
    for (name, id) in [("snapshot-1", "01"), ("timestamp-1", "02")] {
      let base = ["--module", Self.softHSM, "--token-label", "release keys"]
      try Programs.run(
        "pkcs11-tool", base + ["--login", "--pin", pin, "--keypairgen", "--key-type", "EC:edwards25519", "--label", name, "--id", id],
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
    object: String? = nil, token: String = "release%20keys", module: String? = nil, pinFile: String? = nil, seconds: Int? = nil
  ) throws {
    try place.configure(
      keys.sorted { $0.key < $1.key }.map { name, key in
        var entry: [String: Any] = [
          "name": "token \(name)", "public_key": key,
          "pkcs11": "pkcs11:token=\(token);object=\(object ?? name);type=private?module-path=\(module ?? self.module)",
          "max_message_bytes": 4096,
        ]
        if let pinFile { entry["pin_file"] = pinFile }
        if let seconds { entry["timeout_seconds"] = seconds }
        return entry
      })
  }

  func publish(_ more: [String: String] = [:]) throws -> Outcome { try place.sign(["publish", place.models], more) }

  /// Puts a module before SoftHSM's that misbehaves as `TOKEN_MODE` says; see `Tests/Peers/misbehaving_module.c`.
  func misbehave(seconds: Int = 60) throws {
    let path = place.path + "/misbehaving.so"
    try Programs.run(
      "clang",
      [
        "-shared", "-fPIC", "-DSOFTHSM=\"\(Self.softHSM)\"", "-I", packageRoot.path + "/Sources/CPKCS11", "-o", path,
        packageRoot.path + "/Tests/Peers/misbehaving_module.c",
      ])
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    module = path
    try configure(seconds: seconds)
  }
}
