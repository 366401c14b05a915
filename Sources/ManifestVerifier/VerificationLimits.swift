/// Every bound that keeps untrusted metadata from exhausting the device, with the attack that it stops.
public struct VerificationLimits: Equatable, Sendable {
  /// Bytes of one root file. Stops endless data (TUF 1.0.34 §5.3.3).
  public var rootByteCount = 512_000
  /// Bytes of the timestamp. Stops endless data (TUF 1.0.34 §5.4.1).
  public var timestampByteCount = 16_384
  /// Bytes of the snapshot where the timestamp states no length.
  public var snapshotByteCount = 2_000_000
  /// Bytes of the targets where the snapshot states no length.
  public var targetsByteCount = 5_000_000
  /// Bytes of any metadata file, whatever length was signed for it. Stops a stolen key from filling the memory.
  public var metadataByteCount = 1_000_000_000
  /// Root versions followed in one refresh. Stops an endless chain (TUF 1.0.34 §5.3.3).
  public var rootVersionCount = 256
  /// Delegated roles visited in one search. Stops an endless tree of delegations (TUF 1.0.34 §5.6.7.1).
  public var delegationCount = 32

  public init() {}
}
