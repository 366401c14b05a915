internal import Digests
package import FileIO
package import TUFMetadata

/// Looks for secret keys in files that others will read. Documentation/keys.md states what is found, and what is not.
package struct SecretSearch: Sendable {
  /// A file up to this length is looked at whole, in bytes; no key file comes near it.
  package static let wholeFileLimit = 256 << 10
  /// Of a longer one, so much from its beginning: models have gigabytes.
  static let headByteCount = 64 << 10
  /// Up to this length, words that could be seeds are tried: metadata is full of words as long, and each costs a computation on the curve.
  static let seedFileLimit = 4096
  /// What is shorter holds no secret key, though it may be the bare seed of one: whatever wraps its 32 bytes adds a marker of 11 at least.
  private static let leastByteCount = 43
  /// How often base64, hexadecimal digits or strings of JSON may be wrapped in each other.
  private static let depthLimit = 2

  private let known: KnownKeys
  private var buffer = [UInt8](repeating: 0, count: wholeFileLimit)

  /// - Parameter keys: the public halves by which a bare seed is known: it looks like any other bytes.
  package init(knowing keys: some Sequence<Ed25519PublicKey>) { self.init(known: KnownKeys(keys, collectsOthers: false)) }

  /// - Parameter keys: as above; of all other bytes that might be a bare seed, the public half is collected, for somebody who knows more keys.
  init(knowing keys: some Sequence<Ed25519PublicKey>, collectingOthers: Bool) {
    self.init(known: KnownKeys(keys, collectsOthers: collectingOthers))
  }

  /// The same for another thread: what each comes upon is collected apart.
  var apart: SecretSearch { SecretSearch(known: known.apart) }

  private init(known: KnownKeys) { self.known = known }

  /// The public halves of what might have been bare seeds since this was asked last.
  func takeCollected() -> [Ed25519PublicKey] { known.takeCollected() }

  /// Whether the bare seed of a key would be found.
  func knows(_ key: Ed25519PublicKey) -> Bool { known.contains(key) }

  /// Stands for the keys whose bare seeds are found.
  var keys: SHA256Digest { known.fingerprint }

  /// Whether an open file is, holds or encodes a secret key; the members of a tar archive are looked at one by one.
  package mutating func finds(in file: borrowing FileDescriptor, byteCount: Int64) throws(Errno) -> Bool {
    if try finds(in: file, at: 0, byteCount: byteCount) { return true }
    guard TarMembers.isArchive(buffer.span) else { return false }
    for member in try TarMembers.list(file) where member.byteCount <= Int64(Self.wholeFileLimit) {
      if try finds(in: file, at: member.offset, byteCount: member.byteCount) { return true }
    }
    return false
  }

  private mutating func finds(in file: borrowing FileDescriptor, at offset: Int64, byteCount: Int64) throws(Errno) -> Bool {
    let wanted = byteCount <= Int64(Self.wholeFileLimit) ? Int(max(byteCount, 0)) : Self.headByteCount
    let count = min(try file.fill(&buffer, at: offset, enough: Int64(wanted)), wanted)
    return finds(in: buffer.span.extracting(0..<count))
  }

  /// Whether bytes are, hold or encode a secret key.
  package func finds(in bytes: Span<UInt8>) -> Bool { finds(in: bytes, depth: 0, triesSeeds: true) }

  /// - Parameter triesSeeds: whether bytes that could be a seed are tried.
  private func finds(in bytes: Span<UInt8>, depth: Int, triesSeeds: Bool) -> Bool {
    if SecretMarkers.stand(in: bytes, isSecretHalf: { known.isSecretHalf($0.span) }) { return true }
    if triesSeeds && known.isSecretHalf(bytes) { return true }
    if depth < Self.depthLimit, let plain = EncodedText.withoutEscapes(bytes) {
      if finds(in: plain.span, depth: depth + 1, triesSeeds: triesSeeds) { return true }
    }
    let isShort = bytes.count <= Self.seedFileLimit
    // Every other form is text with a long stretch of base64 characters, of which hexadecimal digits are some: weights have none.
    var holdsText = false
    let isEncoded = EncodedText.contains(in: bytes, .base64, passing: [.blank, .zero], atLeast: EncodedText.leastEncoded) { stretch in
      holdsText = true
      // No marker has base64 that is hexadecimal digits alone, so that digests, of which metadata is full, need not be decoded.
      guard depth < Self.depthLimit, !stretch.isHexadecimal else { return false }
      let characters = stretch.characters(in: bytes)
      // Where it begins within a group is not known: text may stand before it.
      return (0..<4).contains { finds(in: EncodedText.decodeBase64(characters[$0...]).span, depth: depth + 1, triesSeeds: isShort) }
    }
    guard holdsText, !isEncoded else { return isEncoded }
    if isShort && holdsSeed(bytes) { return true }
    guard depth < Self.depthLimit else { return false }
    let least = 2 * (isShort ? KnownKeys.seedByteCount : Self.leastByteCount)
    return EncodedText.contains(in: bytes, .hexadecimal, passing: [.blank, .zero], atLeast: least) { stretch in
      let characters = stretch.characters(in: bytes)
      return (0..<2).contains { finds(in: EncodedText.decodeHexadecimal(characters[$0...]).span, depth: depth + 1, triesSeeds: isShort) }
    }
  }

  /// Whether some word of a short text stands for the secret half of a known key.
  private func holdsSeed(_ bytes: Span<UInt8>) -> Bool {
    // In UTF-16 the words have zero bytes in between.
    EncodedText.contains(in: bytes, .base64, passing: .zero, atLeast: 43) { stretch in
      // 32, 64 and 96 bytes, without their padding.
      let word = stretch.characters(in: bytes)
      if word.count == 43 || word.count == 86 || word.count == 128 {
        if known.isSecretHalf(EncodedText.decodeBase64(word[...]).span) { return true }
      }
      guard word.count == 64 || word.count == 128 || word.count == 192, stretch.isHexadecimal else { return false }
      return known.isSecretHalf(EncodedText.decodeHexadecimal(word[...]).span)
    }
  }
}
