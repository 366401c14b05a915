public import ManifestVerifier
public import TUFMetadata

/// Files that become visible together, signed and verified as devices will.
public struct Publication: Sendable {
  public struct File: Sendable {
    public let role: MetadataRole
    public let version: Version
    public let bytes: [UInt8]

    /// The name in the folder that is served (TUF 1.0.34 §6.2).
    public var name: String { role == .timestamp ? role.fileName : "\(version).\(role.fileName)" }
  }

  /// In the order of writing: each after those that it names, a new root first.
  public let files: [File]
  /// The newest root, this publication's own where it has one.
  public let root: Trusted<Root>
  /// What a device will make of all that is published then; nil where nothing but roots is.
  public let manifest: TrustedManifest?
  /// Lifetimes and holders that hold from now on; nil where nothing changes.
  public let policy: Policy?

  /// Whether a root and the roles below it change together: neither may be seen without the other.
  public var changesRootAndRoles: Bool { files.contains { $0.role == .root } && files.count > 1 }
}

/// How far a ceremony has come.
public enum CeremonyStep: Sendable {
  /// Nothing waits.
  case nothing
  /// Signatures are missing still; all that is known waits in `pending`.
  case waiting
  /// All thresholds are met.
  case ready(Publication)
}
