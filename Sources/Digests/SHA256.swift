/// SHA-256 of a stream of bytes, by the platform's hardware-accelerated implementation.
///
/// It traps only where the process is out of memory or its cryptographic library has no SHA-256: `HashState` says why.
public struct SHA256: ~Copyable, Sendable {
  private var state = HashState<SHA256Algorithm>()

  /// The hash of nothing yet.
  public init() {}

  /// Adds bytes; how a stream is cut into calls does not matter.
  public mutating func update(_ bytes: RawSpan) { state.update(bytes) }

  /// Adds bytes; how a stream is cut into calls does not matter.
  public mutating func update(_ bytes: Span<UInt8>) {
    unsafe state.update(bytes.bytes)  // UInt8 has no padding, so that every byte is initialised.
  }

  /// The digest of all bytes added.
  public consuming func finalize() -> SHA256Digest { SHA256Digest(words: DigestWords(finishing: &state)) }

  /// The digest of bytes that are all at hand.
  public static func hash(of bytes: Span<UInt8>) -> SHA256Digest {
    var hash = Self()
    hash.update(bytes)
    return hash.finalize()
  }

  /// The digest of bytes that are all at hand.
  public static func hash(of bytes: [UInt8]) -> SHA256Digest { hash(of: bytes.span) }
}
