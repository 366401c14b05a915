import Digests
import Foundation
import ManifestVerifier
import TUFMetadata
import TestSupport
import Testing

/// The bytes that digits stand for.
private func bytes(_ hexadecimal: String) throws -> [UInt8] {
  let digits = Array(hexadecimal.utf8)
  return try Hexadecimal.decode(digits.span, byteCount: digits.count / 2)
}

private func isValid(key: String, message: String, signature: String) throws -> Bool {
  let publicKey = try Ed25519PublicKey(bytes: bytes(key))
  let message = try bytes(message)
  // What has another length than 64 bytes can't be held by the type, and so never reaches libsodium.
  guard let signature = try? Ed25519Signature(bytes: bytes(signature)) else { return false }
  return publicKey.isValid(signature, over: message.span)
}

private func vectors<Value: Decodable>(_: Value.Type, _ name: String) throws -> Value {
  try JSONDecoder().decode(Value.self, from: Data(contentsOf: packageRoot.appending(path: "Tests/Vectors/ed25519/\(name)")))
}

@Suite struct `Ed25519 signatures are what RFC 8032 says, and stricter where verifiers differ` {
  private struct Wycheproof: Decodable {
    struct Group: Decodable {
      struct Key: Decodable { let pk: String }
      struct Test: Decodable {
        let tcId: Int
        let comment: String
        let msg: String
        let sig: String
        let result: String
      }
      let publicKey: Key
      let tests: [Test]
    }
    let numberOfTests: Int
    let testGroups: [Group]
  }

  @Test func `all valid signatures of Wycheproof are accepted and all invalid ones refused`() throws {
    let vectors = try vectors(Wycheproof.self, "wycheproof-ed25519_test.json")
    var counts: [String: Int] = [:]
    for group in vectors.testGroups {
      for test in group.tests {
        counts[test.result, default: 0] += 1
        let accepted = try isValid(key: group.publicKey.pk, message: test.msg, signature: test.sig)
        #expect(accepted == (test.result == "valid"), "\(test.tcId): \(test.comment)")
      }
    }
    #expect(counts == ["valid": 88, "invalid": 63])
    #expect(vectors.numberOfTests == 151)
  }

  private struct SpecCheck: Decodable {
    let message: String
    let key: String
    let signature: String

    enum CodingKeys: String, CodingKey {
      case message, signature
      case key = "pub_key"
    }
  }

  /// ed25519-speccheck's twelve cases: A is the public key, R and S the signature's halves, L the order of the group.
  private static let verdicts: [(accepted: Bool, reason: String)] = [
    (false, "A and R are of small order: anything would verify"),
    (false, "A is of small order: a signature for any message"),
    (false, "R is of small order"),
    (true, "A and R have components of small and large order, and both equations hold: nothing in it is ambiguous"),
    (false, "only the equation with the cofactor holds; libsodium checks the one without, as RFC 8032 allows"),
    (false, "as the case before, with a hash that was not reduced first"),
    (false, "S is not below L: a second spelling of one signature"),
    (false, "S is far above L"),
    (false, "R is not in canonical form and of small order"),
    (false, "R is not in canonical form and of small order, reduced before it is hashed"),
    (false, "A is not in canonical form and of small order"),
    (false, "A is not in canonical form and of small order, reduced before it is hashed"),
  ]

  @Test func `of the twelve ambiguous signatures of speccheck those are accepted that the table says`() throws {
    let cases = try vectors([SpecCheck].self, "speccheck-cases.json")
    try #require(cases.count == Self.verdicts.count)
    for (number, (test, verdict)) in zip(cases, Self.verdicts).enumerated() {
      let accepted = try isValid(key: test.key, message: test.message, signature: test.signature)
      #expect(accepted == verdict.accepted, "\(number): \(verdict.reason)")
    }
  }
}
