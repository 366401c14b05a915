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
  /// Seconds that the clock may say less than at the newest refresh that succeeded: a clock that ran ahead is corrected, and local time is
  /// taken for UTC, by some hours. Stops a clock that is set back from making expired metadata look valid.
  public var clockSetbackSeconds: Int64 = 86_400
  /// Delegated roles visited in one search. Stops an endless tree of delegations (TUF 1.0.34 §5.6.7.1).
  public var delegationCount = 32
  /// Delegations followed where all roles are walked: enough for the 16,384 bins of a large repository. Stops an endless tree of delegations.
  public var walkedDelegationCount = 20_000

  public init() {}
}
