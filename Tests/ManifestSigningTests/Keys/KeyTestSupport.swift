import CSodium
import Digests
import FileIO
import Foundation
import ManifestSigning
import TUFMetadata
import TestSupport
import Testing

extension TemporaryFolder {
  /// Writes a file that only its owner may use, and gives its path.
  func write(_ bytes: [UInt8], _ name: String, mode: Int = 0o600) throws -> String { try write(bytes, to: name, mode: mode) }
}

func setMode(_ path: String, _ mode: Int) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

func mode(_ path: String) throws -> Int {
  try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}

func contents(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

/// Secret bytes for a test, from bytes that are no secret.
func secure(_ bytes: some Collection<UInt8>) throws(KeyError) -> SecureBytes {
  var result = try SecureBytes(capacity: max(bytes.count, 1))
  result.append(bytes)
  return result
}

func copy(_ bytes: borrowing SecureBytes) -> [UInt8] {
  bytes.withBytes { span in span.indices.map { span[$0] } }
}

func passphrase(_ text: String) throws(KeyError) -> Passphrase { try Passphrase(secure(text.utf8)) }

/// RFC 8032 §7.1, test 2.
enum KnownKey {
  static let seed: [UInt8] = [
    0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab,
    0xa6,
    0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
  ]
  static let publicKey = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
  static let signature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"

  static func key() throws(KeyError) -> SecretKey { try SecretKey(seed: secure(seed)) }

  /// The text of a key file, at the least cost.
  static func encryptedText(name: String = "root-1", passphrase text: String = "correct horse") throws(KeyError) -> [UInt8] {
    copy(try SecretKeyFile.encrypt(key(), name: name, passphrase: passphrase(text), costs: .least))
  }

  static func clearText(name: String = "root-1") throws(KeyError) -> [UInt8] { copy(try SecretKeyFile.clearText(key(), name: name)) }
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

/// What a call throws, or nil.
func errorOf<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) -> E? {
  do throws(E) {
    _ = try body()
    return nil
  } catch { return error }
}
