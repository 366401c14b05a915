/// The fs-verity digest of a file: SHA-256 of the descriptor that names the root of its Merkle tree and its length.
///
/// Linux, Documentation/filesystems/fsverity.rst, with SHA-256, blocks of 4096 bytes and no salt. The text is what `fsverity digest`
/// prints: `sha256:` and 64 lower-case hexadecimal digits.
public struct FSVerityDigest: Hashable, Sendable {
  /// The digest itself.
  public let sha256: SHA256Digest

  private static let prefix: InlineArray<7, UInt8> = [0x73, 0x68, 0x61, 0x32, 0x35, 0x36, 0x3a]  // "sha256:"

  /// An fs-verity digest that was computed elsewhere.
  public init(sha256: SHA256Digest) { self.sha256 = sha256 }

  /// An fs-verity digest read from its text.
  /// - Parameter text: exactly `sha256:` and 64 characters `0`–`9`, `a`–`f`, as bytes.
  /// - Throws: `DigestError.verityAlgorithm`, `DigestError.hexadecimalLength` or `DigestError.hexadecimalDigit`.
  public init(text: Span<UInt8>) throws(DigestError) {
    let prefix = Self.prefix
    guard text.count >= prefix.count else { throw .verityAlgorithm }
    for index in prefix.indices where text[index] != prefix[index] { throw .verityAlgorithm }
    sha256 = SHA256Digest(words: try DigestWords(hexadecimal: text, from: prefix.count))
  }

  /// What the digest is the hash of: `struct fsverity_descriptor`, 256 bytes, little-endian, without a signature and a salt.
  /// - Parameters:
  ///   - root: 32 bytes; nothing for an empty file.
  ///   - length: of the file, in bytes.
  static func descriptor(root: [UInt8], length: UInt64) -> [UInt8] {
    var descriptor: [UInt8] = [
      1,  // version
      1,  // FS_VERITY_HASH_ALG_SHA256
      12,  // log2 of the block size
      0,  // salt_size
      0, 0, 0, 0,  // sig_size
    ]
    for shift in stride(from: 0, to: 64, by: 8) { descriptor.append(UInt8(truncatingIfNeeded: length >> UInt64(shift))) }
    descriptor += root
    // The rest of root_hash (64 bytes, all zeros for an empty file), salt (32) and what is reserved (144).
    descriptor.append(contentsOf: repeatElement(0, count: 256 - descriptor.count))
    return descriptor
  }

  /// The text, as bytes.
  public var text: [UInt8] {
    var result: [UInt8] = []
    appendText(to: &result)
    return result
  }

  /// Appends the text.
  package func appendText(to output: inout [UInt8]) {
    for index in Self.prefix.indices { output.append(Self.prefix[index]) }
    sha256.appendHexadecimal(to: &output)
  }
}

extension FSVerityDigest: Comparable {
  /// Order of the bytes, which is also the order of the text.
  public static func < (left: Self, right: Self) -> Bool { left.sha256 < right.sha256 }
}

extension FSVerityDigest: CustomStringConvertible {
  public var description: String { String(decoding: text, as: UTF8.self) }
}
