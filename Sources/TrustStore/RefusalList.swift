internal import Digests
internal import ManifestVerifier
internal import TUFMetadata

/// Why the newest refresh could not trust delegated roles, so that it can be told of a role of which nothing is kept. Nothing is trusted
/// because of it, and one that can't be read says nothing.
///
/// A small text file, one role a line: the SHA-256 of its name, the kind of fault, the reason.
/// ```
/// signed-manifest-refusals 1
/// 9f86d081… untrusted z metadata is not trusted: expected valid signatures of 1 of the 1 keys that targets lists, found 0
/// ```
struct RefusalList {
  static let byteLimit = 16 << 20
  private static let header = "signed-manifest-refusals 1"
  private static let reasonByteLimit = 500

  private var refusals: [SHA256Digest: (kind: VerificationError.RefusalKind, reason: String)] = [:]

  init() {}

  init(_ refusals: [DelegationWalk.Refusal]) {
    for refusal in refusals {
      let role = SHA256.hash(of: refusal.role.bytes)
      // A role that two others delegate to may be refused for each.
      guard self.refusals[role] == nil else { continue }
      self.refusals[role] = (refusal.error.refusalKind, Self.line(refusal.error.description))
    }
  }

  init(reading bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    let lines = text.split(separator: "\n")
    guard let first = lines.first, first == Self.header else { return }
    for line in lines.dropFirst() {
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count == 3, let role = try? SHA256Digest(hexadecimal: Array(words[0].utf8).span),
        let kind = VerificationError.RefusalKind(rawValue: String(words[1]))
      else { continue }
      refusals[role] = (kind, String(words[2]))
    }
  }

  var isEmpty: Bool { refusals.isEmpty }

  var bytes: [UInt8] {
    let lines = refusals.map { role, refusal in "\(role) \(refusal.kind.rawValue) \(refusal.reason)" }.sorted()
    return Array((([Self.header] + lines).joined(separator: "\n") + "\n").utf8)
  }

  /// Why a role was refused; nil where it was not.
  func error(of role: ByteString) -> VerificationError? {
    guard let refusal = refusals[SHA256.hash(of: role.bytes)] else { return nil }
    return .refusedAtRefresh(role: role, kind: refusal.kind, reason: refusal.reason)
  }

  /// Names in the text are somebody else's: no line of theirs begins, and it has an end.
  private static func line(_ text: String) -> String {
    let plain = text.utf8.prefix(reasonByteLimit).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
    return String(decoding: plain, as: UTF8.self)
  }
}
