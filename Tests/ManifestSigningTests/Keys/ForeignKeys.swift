import Foundation
import ManifestSigning
import TestSupport
import Testing

/// Secret keys in the forms of other programs, made by those programs, once for all tests.
final class ForeignKeys: Sendable {
  /// One file, and the public half that its maker states.
  struct Sample: Sendable, CustomStringConvertible {
    let name: String
    let path: String
    let publicKey: String
    var description: String { name }
  }

  static let passphrase = "correct horse"
  static let shared = Result { try ForeignKeys() }

  let folder: String
  let samples: [String: Sample]

  /// The names of all that can be imported, for parameterised tests. Those of minisign under a passphrase cost seconds each, and are tested apart.
  static let names = [
    "openssl.pem", "openssl.der", "openssl-encrypted.pem", "openssl-scrypt.pem", "openssl-des3.pem", "openssl-crlf.pem", "cryptography.pem",
    "cryptography.der", "cryptography-encrypted.pem", "cryptography-encrypted.der", "cryptography.raw", "securesystemslib.pem",
    "sparkle-seed.txt", "sparkle-seed-line.txt", "pair.raw", "pair.txt", "minisign.key",
  ]

  private init() throws {
    folder = NSTemporaryDirectory() + "foreign-keys-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var samples: [String: Sample] = [:]
    let made = try Self.tool(
      ".peers", packageRoot.path + "/.peers/bin/python3", [packageRoot.path + "/Tests/Peers/make_secret_keys.py", folder])
    let stated = try #require(try JSONSerialization.jsonObject(with: Data(made.output)) as? [String: String])
    for (name, key) in stated { samples[name] = Sample(name: name, path: "\(folder)/\(name)", publicKey: key) }

    func openssl(_ arguments: [String]) throws -> [UInt8] { try Self.tool("openssl", "openssl", arguments).output }
    let plain = "\(folder)/openssl.pem"
    _ = try openssl(["genpkey", "-algorithm", "ed25519", "-out", plain])
    let publicKey = hexadecimal(try openssl(["pkey", "-in", plain, "-pubout", "-outform", "DER"]).suffix(32))
    let secret = "pass:\(Self.passphrase)"
    _ = try openssl(["pkey", "-in", plain, "-outform", "DER", "-out", "\(folder)/openssl.der"])
    _ = try openssl(["pkcs8", "-topk8", "-in", plain, "-passout", secret, "-out", "\(folder)/openssl-encrypted.pem"])
    _ = try openssl(["pkcs8", "-topk8", "-scrypt", "-in", plain, "-passout", secret, "-out", "\(folder)/openssl-scrypt.pem"])
    _ = try openssl(["pkcs8", "-topk8", "-v2", "des3", "-in", plain, "-passout", secret, "-out", "\(folder)/openssl-des3.pem"])
    let crlf = String(decoding: try contents(plain), as: UTF8.self).replacingOccurrences(of: "\n", with: "\r\n")
    try Data(crlf.utf8).write(to: URL(fileURLWithPath: "\(folder)/openssl-crlf.pem"))
    for name in ["openssl.pem", "openssl.der", "openssl-encrypted.pem", "openssl-scrypt.pem", "openssl-des3.pem", "openssl-crlf.pem"] {
      samples[name] = Sample(name: name, path: "\(folder)/\(name)", publicKey: publicKey)
    }
    samples["minisign.key"] = try Self.minisign(folder, "minisign", ["-W"], "")
    self.samples = samples
  }

  /// A key pair of minisign: NAME.key and NAME.pub.
  static func minisign(_ folder: String, _ name: String, _ options: [String], _ input: String) throws -> Sample {
    let (path, publicPath) = ("\(folder)/\(name).key", "\(folder)/\(name).pub")
    _ = try tool("minisign", "minisign", ["-G"] + options + ["-p", publicPath, "-s", path], input: Array(input.utf8))
    let line = String(decoding: try contents(publicPath), as: UTF8.self).split(separator: "\n")[1]
    let bytes = try #require(Data(base64Encoded: String(line)))
    return Sample(name: "\(name).key", path: path, publicKey: hexadecimal(bytes.suffix(32)))
  }

  static func tool(_ package: String, _ program: String, _ arguments: [String], input: [UInt8] = []) throws -> ChildResult {
    let outcome = try runChild(program, arguments, input: input)
    try #require(outcome.status == 0, "\(program) \(arguments) failed; this test needs \(package): \(outcome.errorText)")
    return outcome
  }

  static func sample(_ name: String) throws -> Sample { try #require(try shared.get().samples[name], "no sample \(name)") }

  /// Opens a file with the passphrase that all the samples have.
  static func open(_ path: String) throws(SigningError) -> SecretKey {
    let file = try ForeignKeyFile.read(path: path)
    return try open(file)
  }

  static func open(_ bytes: [UInt8]) throws(SigningError) -> SecretKey {
    let content: SecureBytes
    do throws(KeyError) { content = try secure(bytes) } catch { throw .key(error, path: "") }
    return try open(try ForeignKeyFile(content: content, path: "sample"))
  }

  private static func open(_ file: borrowing ForeignKeyFile) throws(SigningError) -> SecretKey {
    guard file.isEncrypted else { return try file.openUnencrypted().takeKey() }
    let secret: Passphrase
    do throws(KeyError) { secret = try ManifestSigningTests.passphrase(Self.passphrase) } catch { throw .key(error, path: "") }
    return try file.open(with: secret).takeKey()
  }
}
